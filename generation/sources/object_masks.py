"""Object masks from outlines, boxes or a segmenter."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from generation.sources.mask_settings import MaskSettings
from generation.sources.object_regions import (
    area_of,
    box_of,
    fill_bounds,
    fill_box,
    object_regions,
)
from graph.errors import CobalanceError, JobBlockedError, OptionError, OutOfMemoryError
from graph.records import Box
from ingest.concepts.plurals import counted
from ingest.images.arrays import ImageArray, MaskArray
from ingest.images.masks import SegmentationError, mask

Segment = Callable[[ImageArray, Box | None], MaskArray]
"""Segments the object in an image, or in a box (x, y, width, height in pixels) of it."""


class UnusableError(Exception):
    """An image that cannot be used, with a remedy.

    Parameters
    ----------
    problem : str
        What is wrong, as a clause behind "an image": ``"has no mask file"``.
    remedy : str
        What to do, as a sentence without its full stop.
    detail : str
        What was found in this image.
    """

    def __init__(self, problem: str, remedy: str, detail: str = "") -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.detail = problem, remedy, detail


@dataclass(frozen=True, eq=False)
class ObjectMasks:
    """Finds object masks of images.

    Parameters
    ----------
    settings : MaskSettings
        How objects are found.
    read_regions : callable
        Returns the regions of some images by id, as `ingest.images.regions.read_regions` does.
    segment : callable or None
        The segmenter, for masks from one.

    Raises
    ------
    OptionError
        Masks are to come from a segmenter, and there is none.
    """

    settings: MaskSettings
    read_regions: Callable[[Collection[str]], pd.DataFrame]
    segment: Segment | None = None

    def __post_init__(self) -> None:
        if self.settings.masks == "segmenter" and self.segment is None:
            raise OptionError(
                "Masks are to come from a segmenter, and the job names none. Name one, "
                "or take masks from regions, boxes or files."
            )

    def regions(self, image_id: str, class_name: str) -> pd.DataFrame:
        """Select the regions of an image's object; may be empty only with a segmenter."""
        regions = self.read_regions([image_id])
        drawn = regions[regions["segmentation"].notna() | regions["x_px"].notna()]
        of_object = object_regions(drawn, class_name, self.settings.object)
        chosen = of_object[~of_object["crowd"]]
        if chosen.empty and not of_object.empty:
            raise UnusableError(
                "has only a crowd as its object",
                "Ingest outlines of single objects, or take masks from files",
                f"{counted(len(of_object), 'regions')} marked iscrowd",
            )
        if self.settings.masks == "regions":
            outlined = chosen[chosen["segmentation"].notna()]
            if outlined.empty and not chosen.empty:
                raise UnusableError(
                    "has a box of its object and no outline",
                    "Take masks from boxes, from a segmenter or from files",
                )
            chosen = outlined
        if chosen.empty and self.settings.masks != "segmenter":
            wanted = ", ".join(map(repr, self.settings.object or (class_name,)))
            concepts = ", ".join(map(repr, sorted(set(drawn["concept"]))[:5])) or "none"
            raise UnusableError(
                f"has no region of {wanted}",
                "Name the object's concept in the setting masks.object, ingest annotations with "
                "its outlines or boxes, or take masks from files or a segmenter",
                f"its regions are of {concepts}",
            )
        return chosen

    def find(self, regions: pd.DataFrame, pixels: ImageArray, class_name: str) -> MaskArray:
        """Compute the object's mask from its regions.

        Raises
        ------
        UnusableError
            No usable mask can be computed.
        """
        height, width = pixels.shape[:2]
        if self.settings.masks == "segmenter":
            return self._segmented(regions, pixels, class_name)
        found = []
        for row in regions.to_dict("records"):
            try:
                if self.settings.masks == "boxes" and not np.isnan(row["x_px"]):
                    found.append(fill_box(box_of(row), width, height))
                    continue
                outlined = mask(row["segmentation"], width, height)
            except SegmentationError as error:
                raise UnusableError(
                    "has an outline that cannot be read", "Correct it", str(error)
                ) from error
            found.append(outlined if self.settings.masks == "regions" else fill_bounds(outlined))
        return self._combine(found)

    def _segmented(self, regions: pd.DataFrame, pixels: ImageArray, class_name: str) -> MaskArray:
        assert self.segment is not None  # noqa: S101
        boxed = regions[regions["x_px"].notna()].to_dict("records")
        boxes = sorted(map(box_of, boxed), key=area_of, reverse=True)
        if self.settings.instances == "largest":
            boxes = boxes[:1]
        found = []
        for box in boxes or (None,):
            try:
                made = self.segment(pixels, box)
            except (JobBlockedError, OutOfMemoryError):
                raise
            except CobalanceError as error:
                raise UnusableError(
                    "has an object that the segmenter does not find",
                    "Take masks from another segmenter, regions, boxes or files",
                    str(error),
                ) from error
            if made.dtype != np.bool_ or made.shape != pixels.shape[:2]:
                raise OptionError(
                    f"The segmenter gave {made.dtype} of shape {made.shape} for an image of "
                    f"{pixels.shape[:2]} and class {class_name!r}. Use one that gives a bool mask "
                    "of the image's size."
                )
            found.append(made)
        return self._combine(found)

    def _combine(self, found: list[MaskArray]) -> MaskArray:
        if self.settings.instances == "largest":
            return max(found, key=np.count_nonzero)
        every: MaskArray = np.logical_or.reduce(found)
        return every

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
