"""Image sizes: of the model, of the result, and a source fitted to either."""

import math
from typing import Any

import numpy as np

from generation.backends.backend import ImageOptions
from generation.image_request import GenerationError, SourceImage
from ingest.images.arrays import ImageArray, MaskArray

Size = tuple[int, int]
"""Height and width in pixels."""

ALIGNED_PX = 8
"""What sides that follow from the other one are a multiple of, as given ones are."""
STRETCH = 4
"""How much longer or shorter than the model's own a side may be, for a very long source."""
UNKNOWN_PX = 1024
"""Side of the squares of a model that does not say it, as Z-Image: usual among transformers."""


def choose_output_size(options: ImageOptions, source: SourceImage) -> Size:
    """Size of the image to be made: as set, else the source's.

    With one side set, the other follows from the source's shape.

    Examples
    --------
    >>> import numpy as np
    >>> image, mask = np.zeros((30, 60, 3), np.uint8), np.zeros((30, 60), bool)
    >>> mask[3, 3] = True
    >>> choose_output_size(ImageOptions(width_px=128), SourceImage("a", "a.png", image, mask))
    (64, 128)
    """
    height, width = source.mask.shape
    match options.height_px, options.width_px:
        case None, None:
            return height, width
        case int(tall), None:
            return tall, _align(tall * width / height, ALIGNED_PX)
        case None, int(wide):
            return _align(wide * height / width, ALIGNED_PX), wide
        case int(tall), int(wide):
            return tall, wide
    raise AssertionError("a side is a number or None")


def choose_model_size(size: Size, native_px: int, multiple_px: int, is_set: bool) -> Size:
    """Size that the model paints at, for an image of some size.

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
    scale = native_px / math.sqrt(height * width)
    low, high = native_px / STRETCH, native_px * STRETCH
    tall, wide = (min(max(side * scale, low), high) for side in size)
    return _align(tall, multiple_px), _align(wide, multiple_px)


def find_native_px(pipeline: Any, denoiser: Any, default_px: object) -> int:
    """Side of the squares that a pipeline paints where no size is asked for.

    Parameters
    ----------
    pipeline : diffusers.DiffusionPipeline
        The pipeline.
    denoiser : torch.nn.Module or None
        Its U-Net or transformer.
    default_px : object
        The default of its call for ``height``; no number where the pipeline looks for it itself.

    Returns
    -------
    int
        `UNKNOWN_PX` where the pipeline does not say it in any known way.
    """
    if isinstance(default_px, int):
        return default_px
    if hasattr(pipeline, "get_default_resolution"):  # PRX, in pixels
        return int(pipeline.get_default_resolution())
    latent = getattr(pipeline, "default_sample_size", None)
    if latent is None:
        latent = getattr(getattr(denoiser, "config", None), "sample_size", None)
    if latent is None:
        return UNKNOWN_PX
    factor = int(getattr(pipeline, "vae_scale_factor", 8))
    return factor * int(latent if isinstance(latent, int) else min(latent))


def _align(side: float, multiple_px: int) -> int:
    return max(1, math.floor(side / multiple_px + 0.5)) * multiple_px


def resize_image(image: ImageArray, size: Size) -> ImageArray:
    """The image at another size, by Lanczos' filter; the same one where it has that size."""
    if image.shape[:2] == size:
        return image
    from PIL import Image

    resized = Image.fromarray(image).resize((size[1], size[0]), Image.Resampling.LANCZOS)
    return np.asarray(resized, dtype=np.uint8)


def resize_mask(mask: MaskArray, size: Size) -> MaskArray:
    """The mask at another size: where at least half of a pixel is the object's.

    An object too thin for that keeps the pixels that it covers most.
    """
    if mask.shape == size:
        return mask
    from PIL import Image

    image = Image.fromarray(mask.astype(np.uint8) * 255)
    share = np.asarray(image.resize((size[1], size[0]), Image.Resampling.BOX))
    return share >= min(128, max(1, int(share.max())))


def fit_source(source: SourceImage, size: Size) -> tuple[ImageArray, MaskArray, float]:
    """The whole source in an image of some size, in its own shape, in the middle.

    Parameters
    ----------
    source : SourceImage
        The image and its object.
    size : tuple of int
        Height and width.

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
    inner = min(size[0], max(1, round(height * scale))), min(size[1], max(1, round(width * scale)))
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
    """As much of the source as fills an image of some size, in its own shape, about its object."""
    height, width = source.mask.shape
    if (height, width) == size:
        return source.image
    scale = max(size[0] / height, size[1] / width)
    tall, wide = min(height, round(size[0] / scale)), min(width, round(size[1] / scale))
    rows, columns = (np.flatnonzero(source.mask.any(axis=axis)) for axis in (1, 0))
    top = min(max(0, (int(rows[0] + rows[-1]) + 1 - tall) // 2), height - tall)
    left = min(max(0, (int(columns[0] + columns[-1]) + 1 - wide) // 2), width - wide)
    return resize_image(source.image[top : top + tall, left : left + wide], size)
