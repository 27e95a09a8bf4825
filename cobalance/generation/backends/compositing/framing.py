"""Image sizes: choose output and model sizes, and resize or crop sources to them."""

import math

import numpy as np

from cobalance.base import Image
from cobalance.generation.backends.backend import ImageOptions
from cobalance.generation.image_request import GenerationError, SourceImage
from cobalance.vision import ImageArray, MaskArray, find_box

Size = tuple[int, int]
"""Height and width in pixels."""

ALIGNED_PX = 8
"""Derived sides are multiples of this, as configured ones are."""
STRETCH = 4
"""Largest ratio between a side and the model's native side, for very long sources."""


def choose_output_size(options: ImageOptions, source: SourceImage) -> Size:
    """Choose the output size: as configured, else the source's.

    With one side set, the other follows from the source's shape.
    """
    height, width = source.mask.shape
    tall, wide = options.height_px, options.width_px
    if tall is None and wide is None:
        return height, width

    # The side that is not set follows from the other one.
    if tall is None:
        tall = _align((wide or 0) * height / width, ALIGNED_PX)
    if wide is None:
        wide = _align(tall * width / height, ALIGNED_PX)
    return tall, wide


def choose_model_size(size: Size, native_px: int, multiple_px: int, is_set: bool) -> Size:
    """Choose the size at which the model generates an image of a given output size.

    Diffusion models compose badly, and repeat things, far from the number of pixels that they were
    trained on. Where people have set no size, the model paints that number in the image's shape,
    and the picture is resampled.

    Parameters
    ----------
    size : tuple of int
        The image's.
    native_px : int
        Side of the squares that the model was trained on.
    multiple_px : int
        What its sides are multiples of.
    is_set : bool
        Whether people have set the size: then it is kept, but for being a multiple.

    Examples
    --------
    >>> choose_model_size((300, 400), 512, 8, is_set=False)
    (440, 592)
    >>> choose_model_size((296, 400), 512, 16, is_set=True)
    (304, 400)
    """
    height, width = size
    if is_set:
        return _align(height, multiple_px), _align(width, multiple_px)

    # The area that the model was trained on, at the image's aspect.
    scale = native_px / math.sqrt(height * width)
    low, high = native_px / STRETCH, native_px * STRETCH
    tall, wide = (min(max(side * scale, low), high) for side in size)
    return _align(tall, multiple_px), _align(wide, multiple_px)


def scale_size(size: Size, scale: float, within: Size) -> Size:
    """Scale a size to whole pixels, from 1 to the sides of another size."""
    height, width = (max(1, round(side * scale)) for side in size)
    return min(within[0], height), min(within[1], width)


def _align(side: float, multiple_px: int) -> int:
    return max(1, math.floor(side / multiple_px + 0.5)) * multiple_px


def resize_image(image: ImageArray, size: Size) -> ImageArray:
    """Resize an image with a Lanczos filter; unchanged if it already has the size."""
    if image.shape[:2] == size:
        return image
    resized = Image.fromarray(image).resize((size[1], size[0]), Image.Resampling.LANCZOS)
    return np.asarray(resized, dtype=np.uint8)


def resize_mask(mask: MaskArray, size: Size) -> MaskArray:
    """Resize a mask: a pixel is True if the object covers at least half of it.

    An object too thin for that keeps the pixels that it covers most.
    """
    if mask.shape == size:
        return mask
    image = Image.fromarray(mask.astype(np.uint8) * 255)
    share = np.asarray(image.resize((size[1], size[0]), Image.Resampling.BOX))
    # Of an object that covers no half of any pixel, those that it covers most remain.
    return share >= min(128, max(1, int(share.max())))


def cover_mask(mask: MaskArray, size: Size) -> MaskArray:
    """Resize a mask: a pixel is True if the object covers any of it, so that none is left out.

    Examples
    --------
    >>> mask = np.zeros((4, 4), bool)
    >>> mask[0, 1] = True
    >>> cover_mask(mask, (2, 2)).tolist()
    [[True, False], [False, False]]
    """
    return _any_of(_any_of(mask, size[0]).T, size[1]).T


def _any_of(mask: MaskArray, count: int) -> MaskArray:
    """Whether each of some rows, of equal height, shows any of the mask's."""
    before = np.pad(mask.cumsum(axis=0), ((1, 0), (0, 0)))
    edges = np.arange(count + 1) * len(mask)
    first, end = edges[:-1] // count, np.ceil(edges[1:] / count).astype(np.int64)
    return before[end] > before[first]


def kept_pixels(shown: MaskArray, source: SourceImage | None) -> MaskArray | None:
    """The mask of pixels that equal the source's; None where the image has another size."""
    return shown if source is not None and shown.shape == source.mask.shape else None


def fit_source(source: SourceImage, size: Size) -> tuple[ImageArray, MaskArray, float]:
    """Fit the whole source, centred and with its aspect ratio kept, into an image of a given size.

    Returns
    -------
    image : uint8 array, shape (height, width, 3)
        Bars beside the source repeat its outermost pixels.
    mask : bool array, shape (height, width)
        The object's pixels.
    scale : float
        How many pixels one of the source's has become; 1 for the source's own size, where both
        arrays are the source's.

    Raises
    ------
    GenerationError
        No pixel of the object, or nothing else, is left at that size.
    """
    if source.mask.shape == size:
        return source.image, source.mask, 1.0
    height, width = source.mask.shape
    scale = min(size[0] / height, size[1] / width)
    inner = scale_size((height, width), scale, size)

    # Bars at the sides continue the colours of the edge.
    top, left = (size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2
    bars = (top, size[0] - inner[0] - top), (left, size[1] - inner[1] - left)
    image = np.pad(resize_image(source.image, inner), (*bars, (0, 0)), mode="edge")
    mask = np.pad(resize_mask(source.mask, inner), bars)
    if mask.all() or not mask.any():
        raise GenerationError(
            f"The object of image {source.image_id!r} cannot be told from the rest at "
            f"{size[1]} × {size[0]} pixels. Make larger images, or leave the source out."
        )
    return image, mask, scale


def crop_source(source: SourceImage, size: Size) -> ImageArray:
    """Crop the source around its object to a size's aspect ratio, and resize it to that size."""
    height, width = source.mask.shape
    if (height, width) == size:
        return source.image
    scale = max(size[0] / height, size[1] / width)
    tall, wide = min(height, round(size[0] / scale)), min(width, round(size[1] / scale))

    # Around the object's centre, as far as the image reaches.
    box = find_box(source.mask)
    top = min(max(0, (box.top + box.bottom - tall) // 2), height - tall)
    left = min(max(0, (box.left + box.right - wide) // 2), width - wide)
    return resize_image(source.image[top : top + tall, left : left + wide], size)
