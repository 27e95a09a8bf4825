"""Paint small objects at the model's own resolution: crop, paint, and stitch each in its turn.

A model sees a whole photograph at the size that it was trained on, where an object of 200 pixels is
one of 30. In a crop about it, the object has as many pixels as the model can paint.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from pydantic import Field, model_validator
from scipy import ndimage

from cobalance.base import FloatArray
from cobalance.generation.backends.backend import ImageOptions
from cobalance.generation.backends.compositing.framing import (
    Size,
    fit_source,
    kept_pixels,
    resize_image,
)
from cobalance.generation.backends.pipelines.diffusion import PipelineTask, object_inputs
from cobalance.generation.image_request import GeneratedImage, SourceImage
from cobalance.vision import ImageArray, MaskArray, PixelBox, find_box

# Of specks all over an image, each would take a run of the model.
MOST_CROPS = 8
# A few pixels about a tiny object tell the model nothing.
LEAST_MARGIN_PX = 16


class CropOptions(ImageOptions):
    """Options of backends that paint an object within its outline.

    Parameters
    ----------
    crop : bool
        Show the model a crop of each object at its own resolution, not the whole image.
    context : float
        How much of the surroundings a crop has at each side, as a share of the object's longer
        side.
    feather_px : int
        Over how many pixels within its outline a crop's object passes into what was there.
    """

    crop: bool = False
    context: float = Field(default=0.5, ge=0, le=10)
    feather_px: int = Field(default=2, ge=0, le=64)

    @model_validator(mode="after")
    def _crops_objects(self) -> Self:
        # Backends without the option `paint` paint the object alone.
        if self.crop and getattr(self, "paint", "object") != "object":
            raise ValueError("crop paints the object in a crop of the image. Set paint to object")
        return self


def cropped_task(
    source: SourceImage,
    size: Size,
    choose_size: Callable[[Size], Size],
    cell_px: int,
    options: CropOptions,
    *,
    black_out: bool = False,
) -> PipelineTask:
    """Task of a pipeline that paints each object of a source in a crop, one after the other.

    Parameters
    ----------
    size : tuple of int
        Height and width of the image to make.
    choose_size : callable
        The size at which the model paints a crop of a size.
    cell_px, black_out
        As of `cobalance.generation.backends.pipelines.diffusion.inpainting_task`.
    """
    image, mask, scale = fit_source(source, size)
    crops = find_crops(mask, options.context)
    details = {"scale": scale, "box": list(find_box(mask)), "crops": list(map(list, crops))}
    result = GeneratedImage(image.copy(), mask, details, kept_pixels(~mask, source))
    painting = _Painting(result, mask, crops, choose_size, cell_px, options.feather_px, black_out)
    return painting.task(0)


@dataclass(frozen=True, eq=False)
class _Painting:
    """An image whose crops are painted into it, one after the other.

    It refers to none of its tasks: in a cycle, the image would stay until memory is collected.
    """

    result: GeneratedImage
    mask: MaskArray
    crops: Sequence[PixelBox]
    choose_size: Callable[[Size], Size]
    cell_px: int
    feather_px: int
    black_out: bool

    def task(self, number: int) -> PipelineTask:
        """Task of a crop."""
        area = self.crops[number].slices
        before, shown = self.result.image[area], self.mask[area]
        seen = self.choose_size(self.crops[number].shape)
        inputs = object_inputs(before, shown, seen, self.cell_px, black_out=self.black_out)
        return PipelineTask(seen, partial(self._stitch, number), inputs)

    def _stitch(self, number: int, painted: ImageArray) -> GeneratedImage | PipelineTask:
        """Put a painted crop back; return the next one's task, or the finished image."""
        crop = self.crops[number]
        before = self.result.image[crop.slices]
        weights = feather_inside(self.mask[crop.slices], self.feather_px)
        before[:] = _blend(before, resize_image(painted, crop.shape), weights)

        if number + 1 < len(self.crops):
            return self.task(number + 1)
        return self.result


def find_crops(mask: MaskArray, context: float) -> list[PixelBox]:
    """Boxes of a mask's objects with their surroundings, from the top; none overlaps another.

    Objects whose boxes overlap share one, and more than `MOST_CROPS` share one about them all.

    Examples
    --------
    >>> mask = np.zeros((200, 300), bool)
    >>> mask[20:40, 20:60] = mask[150:160, 200:210] = True
    >>> [tuple(box) for box in find_crops(mask, context=0.5)]
    [(0, 0, 60, 80), (134, 184, 176, 226)]
    """
    objects, _ = ndimage.label(mask, structure=np.ones((3, 3)))
    crops: list[PixelBox] = []
    for rows, columns in ndimage.find_objects(objects):
        longer = max(rows.stop - rows.start, columns.stop - columns.start)
        margin = max(LEAST_MARGIN_PX, round(context * longer))
        box = PixelBox(
            max(0, rows.start - margin),
            max(0, columns.start - margin),
            min(mask.shape[0], rows.stop + margin),
            min(mask.shape[1], columns.stop + margin),
        )
        crops = _merge_into(crops, box)

    if len(crops) > MOST_CROPS:
        return [_about(crops)]
    return sorted(crops)


def _merge_into(crops: list[PixelBox], box: PixelBox) -> list[PixelBox]:
    """Add a box, joined with each that it overlaps, until it overlaps none."""
    while True:
        overlapping = [crop for crop in crops if _overlap(crop, box)]
        if not overlapping:
            return [*crops, box]
        crops = [crop for crop in crops if crop not in overlapping]
        box = _about([*overlapping, box])


def _overlap(one: PixelBox, other: PixelBox) -> bool:
    is_beside = one.right <= other.left or other.right <= one.left
    is_above = one.bottom <= other.top or other.bottom <= one.top
    return not (is_beside or is_above)


def _about(boxes: list[PixelBox]) -> PixelBox:
    tops, lefts, bottoms, rights = zip(*boxes, strict=True)
    return PixelBox(min(tops), min(lefts), max(bottoms), max(rights))


def feather_inside(mask: MaskArray, width_px: int) -> FloatArray:
    """Weigh the painted pixels: 0 outside of a mask, rising to 1 over its outermost pixels.

    An object too thin for that has 1 where it is thickest.

    Examples
    --------
    >>> feather_inside(np.array([[False, True, True, True, True, True]]), 1).tolist()
    [[0.0, 0.5, 1.0, 1.0, 1.0, 1.0]]
    """
    objects, n_objects = ndimage.label(mask, structure=np.ones((3, 3)))
    depth = ndimage.distance_transform_edt(mask) if not mask.all() else np.full(mask.shape, np.inf)
    deepest = ndimage.maximum(depth, objects, np.arange(n_objects + 1))
    full_at = np.minimum(width_px + 1, np.maximum(deepest, 1))
    return np.minimum(1, depth / full_at[objects]).astype(np.float64)


def _blend(before: ImageArray, painted: ImageArray, weights: FloatArray) -> ImageArray:
    """Mix two images by the weight of the second, whose pixels of weight 0 stay to the bit."""
    shares = weights[..., np.newaxis]
    mixed = np.rint(before * (1 - shares) + painted * shares).astype(np.uint8)
    return np.where(shares > 0, mixed, before)
