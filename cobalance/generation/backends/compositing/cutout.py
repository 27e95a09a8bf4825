"""Cut objects out of images and paste them onto others."""

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field
from scipy import ndimage

from cobalance.base import Image, Options
from cobalance.generation.backends.compositing import framing
from cobalance.generation.backends.compositing.draws import Draws
from cobalance.generation.backends.compositing.exemplars import Exemplar
from cobalance.generation.image_request import SourceImage
from cobalance.vision import ImageArray, MaskArray, find_box

SCALES = (0.7, 1.3)
"""Range of a placed object's scale relative to its source; reduced where it would not fit."""

# So many places are tried for a cutout, to find one where little of it is hidden.
_PLACES = 24
# So much of a cutout may be hidden at its own place.
_HIDDEN = 0.25


def paste_object(
    background: ImageArray, image: ImageArray, mask: MaskArray, feather_px: float
) -> ImageArray:
    """Paste the object onto the background with a feathered edge.

    Beside the object, the colour of its nearest pixel fades into the background. What stood beside
    it in its own image is what a plan wants to change, so nothing of that is shown.

    Parameters
    ----------
    background, image : uint8 array, shape (height, width, 3)
        What to paste onto, and the image with the object.
    mask : bool array, shape (height, width)
        The object's pixels. They are the image's in the result, bit by bit.
    feather_px : float
        How far the edge fades: at a distance of d pixels from the object its share is
        ``1 - d / (feather_px + 1)``.

    Returns
    -------
    uint8 array, shape (height, width, 3)
    """
    pasted = background.copy()
    # Only the box around the object, and the width of its edge, change.
    window = find_box(mask, math.ceil(feather_px) + 1).slices
    inside = mask[window]
    colours, distance_px = spread_colours(image[window], inside)

    share = np.clip(1 - distance_px / (feather_px + 1), 0, 1)[..., np.newaxis]
    mixed = colours * share + background[window] * (1 - share)
    pasted[window] = np.where(inside[..., np.newaxis], image[window], np.rint(mixed))
    return pasted


def spread_colours(
    image: ImageArray, mask: MaskArray
) -> tuple[ImageArray, npt.NDArray[np.float64]]:
    """Fill each pixel with the colour of the nearest object pixel; return it and the distances."""
    distance_px, nearest = ndimage.distance_transform_edt(~mask, return_indices=True)
    return image[nearest[0], nearest[1]], distance_px


def place_object(
    image: ImageArray, mask: MaskArray, size: framing.Size, draws: Draws
) -> tuple[ImageArray, MaskArray, float]:
    """Place the object on an empty image at a random position and scale.

    The scale is drawn from `SCALES`, or what of it lets the whole object in; then the place, from
    all where it is in the image as a whole. The object is resampled by Lanczos' filter, with its
    own colours beyond its edge.

    Parameters
    ----------
    image, mask : arrays, shapes (height, width, 3) and (height, width)
        Where the object is; of any size.
    size : tuple of int
        Height and width of the result.
    draws : Draws
        Gives the scale, the row and the column, in this order.

    Returns
    -------
    image : uint8 array, shape (height, width, 3)
        Black but for the object's box.
    mask : bool array, shape (height, width)
        The object's pixels.
    scale : float
        Its size beside that in `image`.
    """
    box = find_box(mask)
    inside = mask[box.slices]
    colours, _ = spread_colours(image[box.slices], inside)

    largest = min(SCALES[1], size[0] / box.shape[0], size[1] / box.shape[1])
    smallest = min(SCALES[0], largest)
    scale = smallest + (largest - smallest) * draws.uniform()
    target = framing.scale_size(box.shape, scale, size)
    place = random_place(target, size, draws)
    placed = put_on_blank(
        framing.resize_image(colours, target), framing.resize_mask(inside, target), size, place
    )
    return *placed, scale


def put_on_blank(
    image: ImageArray, mask: MaskArray, size: framing.Size, place: tuple[int, int]
) -> tuple[ImageArray, MaskArray]:
    """Put a cutout on a black image, with its top left pixel at `place`."""
    canvas, placed = np.zeros((*size, 3), np.uint8), np.zeros(size, np.bool_)
    window = window_at(place, mask.shape)
    canvas[window], placed[window] = image, mask
    return canvas, placed


def window_at(place: tuple[int, int], shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Slices of the rows and columns of a window with its top left pixel at `place`."""
    return slice(place[0], place[0] + shape[0]), slice(place[1], place[1] + shape[1])


def random_place(inner: tuple[int, ...], outer: tuple[int, ...], draws: Draws) -> tuple[int, int]:
    """Draw the top left pixel of a window that lies in the image as a whole."""
    return draws.below(outer[0] - inner[0] + 1), draws.below(outer[1] - inner[1] + 1)


class Cutout(NamedTuple):
    """An object's pixels and mask, and the position of its top left pixel if it has one."""

    image: ImageArray
    shown: MaskArray
    place: tuple[int, int] | None = None


def cut_out(exemplar: Exemplar, size: framing.Size) -> Cutout:
    """Cut out an exemplar's object, with its scale and place if the exemplar filled the image."""
    shape = exemplar.shown.shape
    scale = min(size[0] / shape[0], size[1] / shape[1])
    box = find_box(exemplar.shown)
    mask = exemplar.shown[box.slices]
    target = framing.scale_size(box.shape, scale, size)
    colours, _ = spread_colours(exemplar.image[box.slices], mask)

    # Rounding must not put it beyond the edge.
    place = (
        min(round(box.top * scale), size[0] - target[0]),
        min(round(box.left * scale), size[1] - target[1]),
    )
    return Cutout(framing.resize_image(colours, target), framing.resize_mask(mask, target), place)


def draw_cutout(canvas: ImageArray, cut: Cutout, taken: MaskArray, draws: Draws) -> None:
    """Draw a cutout on the canvas, at its own place unless that is mostly taken.

    Else it is drawn at one of some random places: the one with the fewest pixels taken. Its own are
    taken afterwards; `canvas` and `taken` change.
    """
    inner = cut.shown.shape
    # Drawn even if they are not needed, so that later draws do not depend on it.
    places = [random_place(inner, taken.shape, draws) for _ in range(_PLACES)]

    def count_hidden(place: tuple[int, int]) -> int:
        return int(np.count_nonzero(taken[window_at(place, inner)] & cut.shown))

    place = cut.place
    if place is None or count_hidden(place) > _HIDDEN * np.count_nonzero(cut.shown):
        place = min(places, key=count_hidden)
    window = window_at(place, inner)
    canvas[window][cut.shown] = cut.image[cut.shown]
    taken[window] |= cut.shown


def to_image(pixels: npt.NDArray[np.float32]) -> ImageArray:
    """Convert pixels from 0..1 to 8 bits."""
    return np.rint(np.clip(pixels, 0, 1) * 255).astype(np.uint8)


def to_pillow(pixels: ImageArray | MaskArray) -> "Image.Image":
    """Convert an array to a Pillow image; True pixels of a mask are white."""
    if pixels.dtype == np.bool_:
        return Image.fromarray(pixels.astype(np.uint8) * 255)
    return Image.fromarray(pixels)


class PlacementOptions(Options):
    """Position, scale and feathering of a pasted object.

    Parameters
    ----------
    placement : {"keep", "resample"}
        The object where it is in its own image, or at a seeded place and size.
    feather_px : float
        How far the object's edge fades outwards; none of the object's own pixels changes.
    """

    placement: Literal["keep", "resample"] = "keep"
    feather_px: float = Field(default=2.0, ge=0, le=64)


def place_source(
    options: PlacementOptions, source: SourceImage, size: framing.Size, seed: int
) -> tuple[ImageArray, MaskArray, float]:
    """Place a source's object in an image of a size, as the option ``placement`` says.

    Returns
    -------
    image, mask, scale
        As those of `fit_source` and `place_object`.

    Raises
    ------
    GenerationError
        No pixel of the object, or nothing else, is left at that size.
    """
    if options.placement == "keep":
        return framing.fit_source(source, size)
    return place_object(source.image, source.mask, size, Draws(seed, "placement"))
