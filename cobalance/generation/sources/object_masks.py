"""Object masks from outlines, boxes or a segmenter; their restriction to parts, and growth."""

import hashlib
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import ndimage

from cobalance.base import (
    Box,
    CobalanceError,
    DataError,
    JobBlockedError,
    OutOfMemoryError,
    T,
    inflect,
)
from cobalance.generation.sources.mask_settings import MaskSettings, UnusableError
from cobalance.generation.sources.object_regions import (
    area_of,
    bounds_area,
    box_of,
    choose_instances,
    fill_bounds,
    fill_box,
    object_regions,
)
from cobalance.vision import ImageArray, MaskArray, SegmentationError, mask

Segment = Callable[[ImageArray, Box | None], MaskArray]
"""Segments the object in an image, or in a box (x, y, width, height in pixels) of it."""

FindInstances = Callable[[ImageArray], Sequence[MaskArray]]
"""Finds all instances of the object in an image, each by itself; at least one."""

FindParts = Callable[[ImageArray], Mapping[str, MaskArray]]
"""Finds parts in an image by name, such as skin or hair, whosever they are; masks may be empty."""


@dataclass(frozen=True, eq=False)
class ObjectMasks:
    """Finds object masks of images.

    Parameters
    ----------
    settings : MaskSettings
        How objects are found.
    read_regions : callable
        Returns the regions of some images by id, as `cobalance.vision.images.regions.read_regions`
        does.
    segment : callable or None
        The segmenter, for masks from one.
    find_instances : callable or None
        Its function for images without annotated boxes; None where it does not tell instances
        apart.
    find_parts : callable or None
        Finds parts, to which the object's mask is restricted; None where it is not.
    segmented_by : mapping or None
        The segmenters' description, for provenance.
    """

    settings: MaskSettings
    read_regions: Callable[[Collection[str]], pd.DataFrame]
    segment: Segment | None = None
    find_instances: FindInstances | None = None
    find_parts: FindParts | None = None
    segmented_by: Mapping[str, Any] | None = None

    def regions(self, image_id: str, class_name: str) -> pd.DataFrame:
        """Select the regions of an image's object; may be empty only with a segmenter.

        Raises
        ------
        UnusableError
            There are none, or only crowds, or none as the settings want them.
        """
        regions = self.read_regions([image_id])
        drawn = regions[regions["segmentation"].notna() | regions["x_px"].notna()]
        of_object = object_regions(drawn, class_name, self.settings.object)
        chosen = of_object[~of_object["crowd"]]
        if chosen.empty and not of_object.empty:
            raise UnusableError(
                "has only a crowd as its object",
                "Ingest outlines of single objects, or take masks from files",
                f"{inflect(len(of_object), 'regions')} marked iscrowd",
            )
        if self.settings.instances == "single" and len(of_object) > len(chosen):
            raise UnusableError(
                "shows a crowd of its object, and exactly one is wanted",
                "Choose another value for the setting masks.instances",
            )

        if self.settings.masks == "regions":
            outlined = chosen[chosen["segmentation"].notna()]
            if outlined.empty and not chosen.empty:
                raise _without_outline()
            # A choice by boxes looks at regions without an outline, too.
            if self.settings.instances in ("largest", "all"):
                chosen = outlined
        if chosen.empty and not self.settings.needs_segmenter:
            names = ", ".join(map(repr, self.settings.object or (class_name,)))
            concepts = ", ".join(map(repr, sorted(set(drawn["concept"]))[:5]))
            raise UnusableError(
                f"has no region of {names}",
                "Name the object's concept in the setting masks.object, ingest annotations with "
                "its outlines or boxes, or take masks from files or a segmenter",
                f"its regions are of {concepts}" if concepts else "it has no regions at all",
            )
        return chosen

    def find(self, regions: pd.DataFrame, pixels: ImageArray) -> MaskArray:
        """Compute the object's mask from its regions; UnusableError where that gives none."""
        rows = regions.to_dict("records")
        # A segmenter is asked for the object in a box.
        if self.settings.masks == "segmenter":
            rows = [row for row in rows if _has_box(row)]
        if not rows:
            return self._combine(self._find_unannotated(pixels))

        chosen = self._choose(rows, pixels)
        return self._combine([self._mask_of(row, pixels) for row in chosen])

    def parts(self, pixels: ImageArray, find: FindParts) -> Mapping[str, MaskArray]:
        """Find parts in an image with a second segmenter; UnusableError if it finds none."""
        problem = "no part that its segmenter of parts finds"
        return _ask(find, pixels, lambda found: found.values(), problem)

    def _choose(
        self, rows: list[dict[Hashable, Any]], pixels: ImageArray
    ) -> list[dict[Hashable, Any]]:
        """The rows of the instances to take, by their boxes; all where their pixels decide."""
        if self.settings.instances == "largest" and not self.settings.needs_segmenter:
            return rows

        areas = [
            area_of(box_of(row)) if _has_box(row) else bounds_area(_outline(row, pixels))
            for row in rows
        ]
        order = choose_instances(self.settings, areas)

        # Of instances that a segmenter may be asked for, only the one of the largest box is.
        if self.settings.instances == "largest":
            order = order[:1]
        return [rows[place] for place in order]

    def _mask_of(self, row: Mapping[Hashable, Any], pixels: ImageArray) -> MaskArray:
        """The mask of a region, from its outline, its box, or the segmenter."""
        masks, has_outline = self.settings.masks, not pd.isna(row["segmentation"])
        if masks == "segmenter" or (masks == "regions+segmenter" and not has_outline):
            return self._segment(pixels, box_of(row))
        if masks == "boxes" or (masks == "regions+boxes" and not has_outline):
            if _has_box(row):
                return fill_box(box_of(row), pixels.shape[1], pixels.shape[0])
            return fill_bounds(_outline(row, pixels))
        if not has_outline:
            raise _without_outline()
        return _outline(row, pixels)

    def _segment(self, pixels: ImageArray, box: Box | None) -> MaskArray:
        segment = self.segment
        assert segment is not None  # noqa: S101 - as a job's settings are checked
        problem = "an object that the segmenter does not find"
        return _ask(lambda image: segment(image, box), pixels, lambda mask: [mask], problem)

    def _find_unannotated(self, pixels: ImageArray) -> Sequence[MaskArray]:
        """Masks of the instances to take, in an image without a box or outline of its object."""
        find = self.find_instances
        if find is not None:
            problem = "an object that the segmenter does not find"
            masks = _ask(find, pixels, lambda masks: masks, problem)
            if self.settings.instances == "largest":
                return masks
            order = choose_instances(self.settings, list(map(bounds_area, masks)))
            return [masks[place] for place in order]

        if self.settings.instances == "single":
            raise UnusableError(
                "has no annotated box of its object, and its segmenter does not tell one from "
                "several",
                "Take the segmenter people, or choose another value for masks.instances",
            )
        return [self._segment(pixels, None)]

    def _combine(self, found: Sequence[MaskArray]) -> MaskArray:
        if self.settings.instances == "largest":
            return max(found, key=np.count_nonzero)
        return np.logical_or.reduce(found)

    def check_share(self, found: MaskArray) -> None:
        """Raise UnusableError unless the mask's share of the image is within the limits."""
        share = np.count_nonzero(found) / found.size
        least, most = self.settings.min_share, self.settings.max_share
        if not least <= share <= most or share in (0, 1):
            raise UnusableError(
                f"has a mask that covers less than {least:.1%} or more than {most:.1%} of it",
                "Change the settings masks.min_share and masks.max_share, or masks.object",
                f"{share:.2%}",
            )


def _has_box(row: Mapping[Hashable, Any]) -> bool:
    return not pd.isna(row["x_px"])


def _outline(row: Mapping[Hashable, Any], pixels: ImageArray) -> MaskArray:
    try:
        return mask(row["segmentation"], pixels.shape[1], pixels.shape[0])
    except SegmentationError as error:
        raise UnusableError(
            "has an outline that cannot be read", "Correct it", str(error)
        ) from error


def _without_outline() -> UnusableError:
    return UnusableError(
        "has a box of its object and no outline",
        "Take masks from boxes, from a segmenter or from files",
    )


def _ask(
    ask: Callable[[ImageArray], T],
    pixels: ImageArray,
    masks_of: Callable[[T], Iterable[MaskArray]],
    problem: str,
) -> T:
    """Ask a segmenter; UnusableError where it finds nothing, DataError for unfit masks."""
    try:
        answer = ask(pixels)
    except (JobBlockedError, OutOfMemoryError):
        raise
    except CobalanceError as error:
        raise UnusableError(
            f"has {problem}",
            "Take masks from another segmenter, regions, boxes or files",
            str(error),
        ) from error

    for pixel_mask in masks_of(answer):
        if pixel_mask.dtype != np.bool_ or pixel_mask.shape != pixels.shape[:2]:
            raise DataError(
                f"The segmenter gave {pixel_mask.dtype} of shape {pixel_mask.shape} for an image "
                f"of {pixels.shape[:2]}. Use one that gives a bool mask of the image's size."
            )
    return answer


def restrict(
    mask: MaskArray, parts: Mapping[str, MaskArray], which: Literal["all", "random"], seed: int
) -> MaskArray:
    """Intersect an object's mask with parts that were found in its image.

    Parameters
    ----------
    mask : bool array, shape (height, width)
        The object's.
    parts : mapping of str to bool array of the same shape
        The parts, by name.
    which : {"all", "random"}
        All of them as one, or one of those that the object shows, drawn by the seed.
    seed : int
        Decides which one; the same on every machine.

    Raises
    ------
    UnusableError
        The object shows none of them.

    Examples
    --------
    >>> parts = {"hair": np.array([[1, 1, 0]], bool), "face": np.array([[0, 0, 1]], bool)}
    >>> restrict(np.array([[0, 1, 1]], bool), parts, "all", 0).tolist()
    [[False, True, True]]
    >>> restrict(np.array([[1, 1, 0]], bool), parts, "random", 7).tolist()
    [[True, True, False]]
    """
    by_name = {name: mask & part for name, part in sorted(parts.items())}
    visible = [part for part in by_name.values() if part.any()]
    if not visible:
        raise UnusableError(
            "shows none of the wanted parts of its object",
            "Take other images, or other parts in the setting parts_options",
            f"wanted {', '.join(parts)}",
        )

    if which == "random":
        digest = hashlib.sha256(f"{seed}/part".encode()).digest()
        return visible[int.from_bytes(digest[:16]) % len(visible)]
    return np.logical_or.reduce(visible)


def grow(mask: MaskArray, times: int) -> MaskArray:
    """Dilate a mask by a square of 3 × 3 pixels, so many times.

    Examples
    --------
    >>> mask = np.zeros((3, 5), bool)
    >>> mask[0, 1] = True
    >>> grow(mask, 1).astype(int).tolist()
    [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]]
    """
    # scipy takes 0 for: until nothing changes.
    if times == 0:
        return mask
    return ndimage.binary_dilation(mask, np.ones((3, 3), bool), iterations=times)
