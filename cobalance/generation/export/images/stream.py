"""Read the images of an export one after the other, each with its file, regions and mask."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobalance.base import (
    CobalanceError,
    Mention,
    MissingExtraError,
    Progress,
    Setting,
    group_pairs,
)
from cobalance.generation.export.images.coco_regions import object_region
from cobalance.generation.export.images.dataset import ExportDataset, list_images
from cobalance.generation.export.images.image import (
    ExportImage,
    ImageText,
    UnreadableError,
    WrongSizeError,
    digest,
    split_names,
    with_content,
)
from cobalance.generation.export.options import ExportError, ExportOptions
from cobalance.generation.output.manifest_rows import find_pasted_image
from cobalance.ingest import CREDITS, join_credits

# Regions and texts of so many images are read in one call.
_BATCH = 512
_OTHER_REGIONS = "regions of concepts that their image lacks"


@dataclass(frozen=True, eq=False)
class ImageStream:
    """The images of an export.

    Parameters
    ----------
    options : ExportOptions
        Whether files are read, and what happens if one cannot be.
    progress : callable
        Called with a stage, how many images are done and how many there are.
    can_reference : bool
        Whether the format can refer to real images instead of copying them.
    left_out : counter
        How many images, regions and masks were left out so far, by reason.
    """

    dataset: ExportDataset
    options: ExportOptions
    progress: Progress
    can_reference: bool = False
    left_out: Counter[str] = field(default_factory=Counter)

    @cached_property
    def listed(self) -> list[ExportImage]:
        """All images without their files; see `generation.export.images.dataset.list_images`."""
        return list_images(self.dataset, self.options.split)

    @cached_property
    def splits(self) -> dict[str | None, str]:
        """Name of each split in the export."""
        return split_names(image.split for image in self.listed)

    @cached_property
    def classes(self) -> list[str]:
        """Classes of all images, in order."""
        return sorted({image.class_name for image in self.listed})

    @cached_property
    def concepts(self) -> list[str]:
        """Concepts of all images, in order."""
        return sorted(set().union(*(image.concepts for image in self.listed)))

    def images(self, *, shuffled: bool) -> Iterator[ExportImage]:
        """Read the images, each with its file, regions and mask.

        Parameters
        ----------
        shuffled : bool
            Sort by a digest of the id, which mixes classes and real with generated images as a
            shuffle does, the same way in every export; otherwise as `listed`.

        Raises
        ------
        ExportError
            The file of an image cannot be read, and unreadable images are not skipped.
        """
        images = self.listed
        if shuffled:
            images = sorted(images, key=lambda image: digest(image.id))
        self.progress("export", 0, len(images))

        for start in range(0, len(images), _BATCH):
            batch = images[start : start + _BATCH]
            annotated = {image.annotated_as for image in batch}
            regions_of = self._read_regions(sorted(name for name in annotated if name is not None))
            texts = self._read_texts(batch)
            for done, listed in enumerate(batch, start=start + 1):
                image = self._read(listed, regions_of.get(listed.annotated_as or "", []))
                if image is not None:
                    yield replace(image, text=_text_of(image, texts))
                self.progress("export", done, len(images))

    def _read(self, image: ExportImage, regions: "Sequence[_Region]") -> ExportImage | None:
        """Read an image's files; None if unreadable and `skip_missing`."""
        try:
            if image.provenance is None:
                return self._read_real(image, [region.mention for region in regions])
            return self._read_generated(image, image.provenance, regions)
        except UnreadableError as error:
            if not self.options.skip_missing:
                raise self._unreadable(image, error) from error
            kind = "generated" if image.synthetic else "real"
            self.left_out[f"{kind} images left out"] += 1
            return None

    def _read_real(self, image: ExportImage, regions: Sequence[Mention]) -> ExportImage:
        """Add file and regions to a real image, and separate regions of its class."""
        concepts = set(image.concepts)
        own_regions = tuple(region for region in regions if region.concept in concepts)
        others = [region for region in regions if region.concept not in concepts]
        objects = tuple(region for region in others if region.concept == image.class_name)
        if len(objects) < len(others):
            self.left_out[_OTHER_REGIONS] += len(others) - len(objects)
        image = replace(image, regions=own_regions, objects=objects)

        if self.options.reference:
            return image
        if not image.uri:
            raise UnreadableError("has no address", "Load the dataset with addresses")
        try:
            content = self.dataset.read_real(image.uri)
        except (OSError, CobalanceError) as error:
            raise UnreadableError(f"cannot be read ({_reason(error)})") from error
        return with_content(image, content)

    def _read_generated(
        self, image: ExportImage, row: Mapping[str, Any], regions: "Sequence[_Region]"
    ) -> ExportImage:
        """Add file, mask and the mask's object to a generated image.

        An edited image of its source's size has the source's regions, too: all but its object is
        where it was.
        """
        try:
            content = self.dataset.read_generated(row["path"])
        except (OSError, CobalanceError) as error:
            raise UnreadableError(f"cannot be read ({_reason(error)})") from error
        if hashlib.sha256(content).hexdigest() != row["sha256"]:
            raise UnreadableError("differs from the file recorded in its row of the manifest")

        # Regions of the edited image hold only where the image was not resized.
        image = with_content(image, content)
        size = (image.width_px, image.height_px)
        valid_regions = tuple(
            region.mention
            for region in regions
            if region.size_px == size and region.mention.concept in image.concepts
        )
        image = replace(image, regions=valid_regions)

        if not row["mask_path"] or image.width_px is None or image.height_px is None:
            return image
        try:
            mask = self.dataset.read_generated(row["mask_path"])
            region = object_region(mask, image.class_name, image.width_px, image.height_px)
        except MissingExtraError:
            raise
        except (OSError, CobalanceError):
            self.left_out["masks that cannot be read"] += 1
            return image
        return replace(image, mask=mask, objects=(region,))

    def _unreadable(self, image: ExportImage, error: UnreadableError) -> ExportError:
        """The error for an image that cannot be read, with the ways to export without it."""
        if image.provenance is not None:
            return ExportError(
                f"The generated image {image.id!r} ({image.provenance['path']}) {error}. Put the "
                "file back that was there when it was made, or leave such images out (",
                Setting("skip_missing"),
                ").",
            )

        address = f" ({image.uri})" if image.uri else ""
        problem = f"The real image {image.id!r}{address} {error}. {error.remedy}, "
        skip = ("leave such images out (", Setting("skip_missing"), ")")
        # An address of another image is no better than its file.
        if not self.can_reference or isinstance(error, WrongSizeError):
            return ExportError(problem, "or ", *skip, ".")
        reference = (", or leave real images where they are (", Setting("reference"), ")")
        return ExportError(problem, *skip, *reference, ".")

    def _read_texts(self, batch: Sequence[ExportImage]) -> dict[str, ImageText]:
        """Captions and licences of real images and of the sources of generated ones, by id."""
        if self.dataset.texts is None:
            return {}

        ids = set[str]().union(*map(_origins, batch))
        texts = {}
        for row in self.dataset.texts(sorted(ids)).to_dict("records"):
            credit = {name: row[name] for name in CREDITS}
            texts[str(row["id"])] = ImageText(captions=tuple(row["captions"]), **credit)
        return texts

    def _read_regions(self, ids: Sequence[str]) -> "dict[str, list[_Region]]":
        if self.dataset.regions is None or not ids:
            return {}
        rows = self.dataset.regions(ids).to_dict("records")
        return group_pairs((str(row["id"]), _region(row)) for row in rows)


class _Region(NamedTuple):
    """A region, and width and height of the image that it was annotated in, where known."""

    mention: Mention
    size_px: tuple[float | None, ...]


def _origins(image: ExportImage) -> list[str]:
    """Ids of an image's real sources: the image itself or the edited one, then the pasted one."""
    if image.provenance is None:
        return [image.id]
    row = image.provenance
    origins = row["source_image"], find_pasted_image(row["settings"])
    return [image_id for image_id in origins if image_id is not None]


def _text_of(image: ExportImage, texts: Mapping[str, ImageText]) -> ImageText:
    """Texts of an image; a generated one has edited captions, if any, and its sources' licences."""
    texts_of_origins = [texts.get(origin, ImageText()) for origin in _origins(image)]
    first = texts_of_origins[0] if texts_of_origins else ImageText()
    if image.provenance is None:
        return first

    edited = tuple(image.provenance.get("captions") or ())
    credit: dict[str, Any] = {}
    if len(texts_of_origins) > 1:
        credit = join_credits(list(map(asdict, texts_of_origins)))
    source_captions = first.captions if edited else ()
    return replace(first, captions=edited, source_captions=source_captions, **credit)


def _region(region: Mapping[Any, Any]) -> _Region:
    box = tuple(float(region[name]) for name in ("x_px", "y_px", "w_px", "h_px"))
    outline = region["segmentation"]
    mention = Mention(
        str(region["concept"]),
        score=_number(region["score"]),
        area_px2=_number(region["area_px2"]),
        box=None if np.isnan(box).any() else box,  # type: ignore[arg-type]
        segmentation=outline if isinstance(outline, str) else None,
        crowd=bool(region.get("crowd", False)),
    )
    size_px = _number(region.get("image_width_px")), _number(region.get("image_height_px"))
    return _Region(mention, size_px)


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _reason(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).rstrip(".")
