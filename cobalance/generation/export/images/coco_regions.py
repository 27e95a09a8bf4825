"""Convert regions and masks to COCO annotations with box, area and outline."""

from typing import NamedTuple

import msgspec
import numpy as np

from cobalance.base import Box, Mention
from cobalance.vision import (
    ImageFileError,
    Polygons,
    RunLengths,
    SegmentationError,
    decode,
    mask_box,
    mask_region,
    parse_segmentation,
)


class CocoRegion(NamedTuple):
    """A COCO annotation's box, area of the outline, and outline in JSON, as polygons or runs."""

    box: Box
    area_px2: float
    segmentation: bytes


def coco_region(region: Mention, width_px: int | None, height_px: int | None) -> CocoRegion | None:
    """Complete a region of an image of this size; None if it has neither box nor outline.

    A missing box is taken from the outline, a missing area from the pixels of the outline, as
    pycocotools counts them, and a missing outline from the box: pycocotools draws a mask of every
    annotation, and fails without an outline.

    Examples
    --------
    >>> coco_region(Mention("sea", segmentation="[[0, 0, 40, 0, 0, 40]]"), 64, 48)
    CocoRegion(box=(0.0, 0.0, 40.0, 40.0), area_px2=780.0, segmentation=b'[[0, 0, 40, 0, 0, 40]]')
    >>> coco_region(Mention("sea", box=(1.0, 2.0, 3.0, 4.0)), 64, 48).segmentation
    b'[[1.0,2.0,4.0,2.0,4.0,6.0,1.0,6.0]]'
    """
    outline, box = _outline(region.segmentation), region.box
    if box is None and outline is not None:
        box = _box_around(outline)
    if box is None:
        return None

    area = region.area_px2
    if area is None:
        area = _area(outline, box, width_px, height_px)
    return CocoRegion(box, area, _segmentation_json(outline, box, region.segmentation or ""))


def object_region(mask_png: bytes, class_name: str, width_px: int, height_px: int) -> Mention:
    """Read a generated image's mask, a PNG that is not 0 on the object, as a region of its class.

    Raises
    ------
    ImageFileError
        The mask is damaged, empty, or has another size than its image.
    """
    picture = decode(mask_png).stored
    if picture.size != (width_px, height_px):
        raise ImageFileError(f"The mask is {picture.size}, its image {(width_px, height_px)}.")

    pixels = np.asarray(picture.convert("L")) != 0
    region = mask_region(class_name, pixels, source="mask")
    if region.box is None:
        raise ImageFileError("The mask is empty.")
    return region


def _outline(segmentation: str | None) -> Polygons | RunLengths | None:
    """Parse an outline; None if pycocotools could not draw it."""
    if segmentation is None:
        return None
    try:
        outline = parse_segmentation(segmentation)
    except SegmentationError:
        return None

    if isinstance(outline, RunLengths):
        return outline
    areas = tuple(corners for corners in outline.outlines if len(corners) > 2)
    return Polygons(areas) if areas else None


def _box_around(outline: Polygons | RunLengths) -> Box | None:
    if isinstance(outline, RunLengths):
        return mask_box(outline.mask())
    corners = np.concatenate(outline.outlines)
    (left, top), (right, bottom) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    return left, top, right - left, bottom - top


def _area(
    outline: Polygons | RunLengths | None, box: Box, width_px: int | None, height_px: int | None
) -> float:
    """The area that an outline covers, or that of the box where there is none to measure."""
    if outline is None:
        return box[2] * box[3]

    if isinstance(outline, Polygons):
        if width_px is None or height_px is None:
            width_px, height_px = np.ceil(np.concatenate(outline.outlines).max(axis=0)).astype(int)
        try:
            outline = outline.run_lengths(int(width_px), int(height_px))
        except SegmentationError:
            # The image is too large for a mask.
            return box[2] * box[3]

    return float(outline.area_px2)


def _segmentation_json(outline: Polygons | RunLengths | None, box: Box, text: str) -> bytes:
    """The outline as it was given, where pycocotools can read it; else its polygons or the box."""
    if outline is None:
        x, y, width, height = box
        corners = [x, y, x + width, y, x + width, y + height, x, y + height]
        return msgspec.json.encode([corners])

    # pycocotools 2.0.11 raises TypeError for a first polygon of no or two corners: drop those.
    if isinstance(outline, Polygons) and text.count("[") - 1 > len(outline.outlines):
        return msgspec.json.encode([polygon.ravel().tolist() for polygon in outline.outlines])
    return text.encode()
