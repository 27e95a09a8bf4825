"""Where objects come from: for each image to be made, an image of the class and a mask in it."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from generation.image_request import NoSourceError, SourceImage
from generation.sources.mask_settings import ANY, PLACEHOLDER, MaskSettings
from graph.dataset.class_images import ClassImages
from graph.errors import CobalanceError, JobBlockedError, OptionError, OutOfMemoryError
from graph.records import Box
from ingest.concepts.plurals import counted
from ingest.images.arrays import ImageArray, MaskArray
from ingest.images.decoding import decode, rgb_array
from ingest.images.image_file import ImageFileError
from ingest.images.mask_images import mask_array
from ingest.images.masks import SegmentationError, mask
from ingest.images.uris import unsigned

if TYPE_CHECKING:
    from PIL import Image

TRIES = 500
"""Images that are looked at for one that can be used; where one in a hundred can, there is one
among them 99 times in 100."""

PEOPLE = frozenset({"boy", "female", "girl", "lady", "male", "man", "men", "woman", "women"})
"""Classes whose object is a ``person``, where no region has their own name."""

Segment = Callable[[ImageArray, Box | None], MaskArray]
"""Finds an object: in an image, or within a box (x, y, width, height in pixels) of it."""

_DEFAULTS = MaskSettings()


class _UnusableError(Exception):
    """Why an image cannot be used: a clause behind "it", what to do, and what of this image."""

    def __init__(self, problem: str, remedy: str, detail: str = "") -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.detail = problem, remedy, detail


@dataclass(frozen=True, eq=False)
class Sources:
    """Images of the classes of a dataset, with their objects.

    For any number of threads at once, if the callables are.

    Parameters
    ----------
    images : mapping of str to ClassImages
        By class, from `graph.dataset.class_images.read_class_images`.
    read_image : callable
        Gives an image file's content by its address, and raises a CobalanceError where it cannot.
    read_regions : callable
        Gives the regions of some images by id, as `ingest.images.regions.read_regions` does.
    settings : MaskSettings
        How objects are found.
    segment : callable or None
        The segmenter, for masks from one.
    segmented_by : mapping or None
        Its description, for provenance.

    Raises
    ------
    OptionError
        Masks are to come from a segmenter, and there is none.
    """

    images: Mapping[str, ClassImages]
    read_image: Callable[[str], bytes]
    read_regions: Callable[[Collection[str]], pd.DataFrame]
    settings: MaskSettings = _DEFAULTS
    segment: Segment | None = None
    segmented_by: Mapping[str, Any] | None = None
    _read_before: list[str] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.settings.masks == "segmenter" and self.segment is None:
            raise OptionError(
                "Masks are to come from a segmenter, and the job names none. Name one, "
                "or take masks from regions, boxes or files."
            )

    def sample(self, class_name: str, seed: int) -> SourceImage:
        """Give an image of a class with its object: the same for the same seed, in any process.

        Images are looked at in an order that the seed decides. Those without a file or a mask that
        can be used are passed over, `TRIES` at most.

        Raises
        ------
        NoSourceError
            None that was tried can be used; the message has the commonest reason.
        JobBlockedError
            Nor can an image be read that could be read before: all are out of reach.
        """
        images = self.images.get(class_name)
        if images is None or not images.ids:
            raise NoSourceError(
                f"No image of class {class_name!r} has an address to take an object from. Ingest "
                "the images with their paths, or ask for another split."
            )
        tried = np.random.default_rng(seed).choice(
            len(images.ids), size=min(len(images.ids), TRIES), replace=False
        )
        problems: list[tuple[str, _UnusableError]] = []
        for at in tried.tolist():
            try:
                return self._source(images.ids[at], images.uris[at], class_name)
            except _UnusableError as problem:
                problems.append((images.ids[at], problem))
        self._check_reach()
        raise _none_usable(class_name, len(images.ids), problems)

    def _check_reach(self) -> None:
        for uri in self._read_before:
            try:
                self.read_image(uri)
            except CobalanceError as error:
                raise JobBlockedError(
                    f"The image files are out of reach: {error} It could be read before. Bring "
                    "them back, such as by mounting their folder again; then retry the job."
                ) from error

    def _source(self, image_id: str, uri: str, class_name: str) -> SourceImage:
        if self.settings.masks == "files":
            picture, found = self._from_file(image_id, uri)
            pixels = rgb_array(picture)
        else:
            regions = self._regions(image_id, class_name)
            picture = self._picture(uri, _annotated_px(regions))
            pixels = rgb_array(picture)
            found = self._from_regions(regions, pixels, class_name)
        self._check_share(found)
        return SourceImage(image_id, uri, pixels, found)

    def _regions(self, image_id: str, class_name: str) -> pd.DataFrame:
        """The regions of an image's object; none only where a segmenter does without."""
        regions = self.read_regions([image_id])
        drawn = regions[regions["segmentation"].notna() | regions["x_px"].notna()]
        of_object = _of_object(drawn, class_name, self.settings.object)
        chosen = of_object[~of_object["crowd"]]
        if chosen.empty and not of_object.empty:
            raise _UnusableError(
                "has only a crowd as its object",
                "Ingest outlines of single objects, or take masks from files",
                f"{counted(len(of_object), 'regions')} marked iscrowd",
            )
        if self.settings.masks == "regions":
            outlined = chosen[chosen["segmentation"].notna()]
            if outlined.empty and not chosen.empty:
                raise _UnusableError(
                    "has a box of its object and no outline",
                    "Take masks from boxes, from a segmenter or from files",
                )
            chosen = outlined
        if chosen.empty and self.settings.masks != "segmenter":
            wanted = ", ".join(map(repr, self.settings.object or (class_name,)))
            concepts = ", ".join(map(repr, sorted(set(drawn["concept"]))[:5])) or "none"
            raise _UnusableError(
                f"has no region of {wanted}",
                "Name the object's concept in the setting masks.object, ingest annotations with "
                "its outlines or boxes, or take masks from files or a segmenter",
                f"its regions are of {concepts}",
            )
        return chosen

    def _picture(self, uri: str, annotated_px: tuple[int, int] | None) -> "Image.Image":
        try:
            content = self.read_image(uri)
        except (JobBlockedError, OutOfMemoryError):
            raise
        except CobalanceError as error:
            raise _UnusableError(
                "has a file that cannot be read", "Make the images' files readable", str(error)
            ) from error
        self._read_before[:] = [uri]
        try:
            picture = decode(content).turned_for(annotated_px)
        except ImageFileError as error:
            raise _UnusableError(
                "has a file that is no usable image", "Replace it", f"{unsigned(uri)}: {error}"
            ) from error
        if annotated_px not in (None, picture.size):
            raise _other_size("annotations of", annotated_px, picture.size)
        return picture

    def _from_file(self, image_id: str, uri: str) -> tuple["Image.Image", MaskArray]:
        path = mask_path(self.settings, image_id, uri)
        try:
            stored = decode(path.read_bytes()).stored
        except OSError as error:
            raise _UnusableError(
                "has no mask file",
                "Check the settings masks.mask_folder and masks.mask_pattern",
                f"{path}: {error.strerror}",
            ) from error
        except ImageFileError as error:
            raise _UnusableError(
                "has a mask file that is no usable image", "Replace it", f"{path}: {error}"
            ) from error
        try:
            return self._picture(uri, stored.size), mask_array(stored)
        except _UnusableError as problem:
            if problem.problem.startswith("has annotations of"):
                problem.problem = problem.problem.replace("annotations", "a mask file")
                problem.detail = f"{path}: {problem.detail}"
            raise

    def _from_regions(
        self, regions: pd.DataFrame, pixels: ImageArray, class_name: str
    ) -> MaskArray:
        height, width = pixels.shape[:2]
        if self.settings.masks == "segmenter":
            return self._segmented(regions, pixels, class_name)
        found = []
        for row in regions.to_dict("records"):
            try:
                if self.settings.masks == "boxes" and not np.isnan(row["x_px"]):
                    found.append(_filled(_box(row), width, height))
                    continue
                outlined = mask(row["segmentation"], width, height)
            except SegmentationError as error:
                raise _UnusableError(
                    "has an outline that cannot be read", "Correct it", str(error)
                ) from error
            found.append(outlined if self.settings.masks == "regions" else _boxed(outlined))
        return self._one(found)

    def _segmented(self, regions: pd.DataFrame, pixels: ImageArray, class_name: str) -> MaskArray:
        assert self.segment is not None  # noqa: S101
        boxed = regions[regions["x_px"].notna()].to_dict("records")
        boxes = sorted(map(_box, boxed), key=_area, reverse=True)
        if self.settings.instances == "largest":
            boxes = boxes[:1]
        found = []
        for box in boxes or (None,):
            try:
                made = self.segment(pixels, box)
            except (JobBlockedError, OutOfMemoryError):
                raise
            except CobalanceError as error:
                raise _UnusableError(
                    "has an object that the segmenter cannot find",
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
        return self._one(found)

    def _one(self, found: list[MaskArray]) -> MaskArray:
        if self.settings.instances == "largest":
            return max(found, key=np.count_nonzero)
        every: MaskArray = np.logical_or.reduce(found)
        return every

    def _check_share(self, found: MaskArray) -> None:
        share = np.count_nonzero(found) / found.size
        least, most = self.settings.min_share, self.settings.max_share
        if not least <= share <= most or share in (0, 1):
            raise _UnusableError(
                f"has a mask that covers less than {least:.1%} or more than {most:.1%} of it",
                "Change the settings masks.min_share and masks.max_share, or masks.object",
                f"{share:.2%}",
            )


def object_regions(
    regions: pd.DataFrame, class_name: str, names: Collection[str] = ()
) -> pd.DataFrame:
    """Choose the regions of an image's object, as `MaskSettings.object` says, without crowds.

    Examples
    --------
    >>> regions = pd.DataFrame({"concept": ["sofa", "Person", "sofa", "Person"],
    ...                         "crowd": [False, False, False, True]})
    >>> object_regions(regions, "woman")["concept"].tolist()
    ['Person']
    >>> object_regions(regions, "cat").empty, len(object_regions(regions, "cat", ["*"]))
    (True, 3)
    """
    found = _of_object(regions, class_name, names)
    return found[~found["crowd"]] if "crowd" in found else found


def _of_object(regions: pd.DataFrame, class_name: str, names: Collection[str]) -> pd.DataFrame:
    if ANY in names:
        return regions
    concepts = [_plain(name) for name in regions["concept"]]
    tries = [set(map(_plain, names))] if names else [{_plain(class_name)}]
    if not names and _plain(class_name) in PEOPLE:
        tries.append({"person", "people"})
    if not names and len(set(concepts)) == 1:
        tries.append(set(concepts))
    for wanted in tries:
        chosen = [name in wanted for name in concepts]
        if any(chosen):
            return regions[chosen]
    return regions.iloc[:0]


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.casefold()))


def mask_path(settings: MaskSettings, image_id: str, uri: str) -> Path:
    """Give the path of an image's mask file, which is inside the folder whatever the names are.

    Examples
    --------
    >>> settings = MaskSettings(masks="files", mask_folder="masks", mask_pattern="{path}_m.png")
    >>> mask_path(settings, "7", "birds/007.jpg").as_posix()
    'masks/birds/007_m.png'
    """
    folder = Path(settings.mask_folder or "")
    address = urlsplit(uri).path if "://" in uri else uri
    pure = PurePosixPath(address)
    values = {"id": image_id, "stem": pure.stem, "path": str(pure.with_suffix("")).lstrip("/")}
    inside = PLACEHOLDER.sub(lambda found: values[found[1]], settings.mask_pattern)
    path = folder / inside
    if "\0" in inside or not path.resolve().is_relative_to(folder.resolve()):
        raise _UnusableError(
            "has a mask file outside of the folder", "Rename the image", f"{inside!r}"
        )
    return path


def _annotated_px(regions: pd.DataFrame) -> tuple[int, int] | None:
    """The size of the image that the regions are in pixels of; None where it is not known."""
    if regions.empty:
        return None
    width, height = regions["image_width_px"].iloc[0], regions["image_height_px"].iloc[0]
    return None if pd.isna(width) or pd.isna(height) else (int(width), int(height))


def _box(row: Mapping[Any, Any]) -> Box:
    return row["x_px"], row["y_px"], row["w_px"], row["h_px"]


def _area(box: Box) -> float:
    return box[2] * box[3]


def _filled(box: Box, width: int, height: int) -> MaskArray:
    """Give the pixels whose middle is in a box, as those are that an outline of it has."""
    x, y, w, h = box
    columns, rows = np.arange(width) + 0.5, np.arange(height) + 0.5
    found: MaskArray = np.outer((rows >= y) & (rows < y + h), (columns >= x) & (columns < x + w))
    return found


def _boxed(outlined: MaskArray) -> MaskArray:
    rows, columns = outlined.any(axis=1), outlined.any(axis=0)
    if not rows.any():
        return outlined
    (top, bottom), (left, right) = (np.flatnonzero(side)[[0, -1]] for side in (rows, columns))
    full = np.zeros_like(outlined)
    full[top : bottom + 1, left : right + 1] = True
    return full


def _other_size(
    what: str, annotated_px: tuple[int, int] | None, actual_px: tuple[int, int]
) -> _UnusableError:
    width, height = annotated_px or (0, 0)
    return _UnusableError(
        f"has {what} another size",
        "Use the files that were annotated; nothing is scaled in silence",
        f"{width}×{height} pixels for an image of {actual_px[0]}×{actual_px[1]}",
    )


def _none_usable(
    class_name: str, n_images: int, problems: list[tuple[str, _UnusableError]]
) -> NoSourceError:
    """Say how many were tried, the commonest reason, and what to do about it."""
    ((commonest, times),) = Counter(found.problem for _, found in problems).most_common(1)
    image_id, example = next(found for found in problems if found[1].problem == commonest)
    detail = f": {example.detail.rstrip('.')}" if example.detail else ""
    found = (
        f"No object of class {class_name!r} can be taken from {len(problems):,} of its "
        f"{n_images:,} images. Most often ({times:,} times) an image {commonest}"
    )
    return NoSourceError(f"{found}, such as {image_id!r}{detail}. {example.remedy}.", f"{found}.")
