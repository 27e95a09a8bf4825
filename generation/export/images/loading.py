"""The images of an export one after the other, each with its file, its regions and its names."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from generation.export.dataset import Rebalanced, all_images
from generation.export.images.entry import (
    ExportImage,
    OtherSizeError,
    UnreadableError,
    bare_image,
    with_content,
)
from generation.export.images.file_facts import NoPictureError, object_of
from generation.export.images.file_names import split_names
from generation.export.options import ExportError, ExportOptions
from generation.output.manifest import MANIFEST_SCHEMA
from graph.errors import CobalanceError
from graph.progress import Progress
from graph.records import Mention

_AT_ONCE = 512  # images whose regions are read at once
_NO_CONCEPT = "regions of what is no concept of their image"


@dataclass(frozen=True, eq=False)
class ImageStream:
    """The images of an export.

    Parameters
    ----------
    dataset : Rebalanced
        Where they come from.
    options : ExportOptions
        What becomes of those that cannot be read.
    progress : callable
        Told how many are done.
    can_refer : bool
        Whether the format takes real images by their addresses, too.
    left_out : dict of str to list of str
        By reason, the ids of images and masks that could not be read so far.
    """

    dataset: Rebalanced
    options: ExportOptions
    progress: Progress
    can_refer: bool = False
    left_out: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """All images, see `generation.export.dataset.all_images`."""
        return all_images(self.dataset, self.options)

    @cached_property
    def splits(self) -> dict[str | None, str]:
        """The names of splits in the export."""
        return split_names(self.frame["split"])

    @cached_property
    def classes(self) -> list[str]:
        """The classes of all images, in order."""
        return sorted(set(self.frame["class"]))

    @cached_property
    def concepts(self) -> list[str]:
        """The concepts of all images, in order."""
        return sorted(set().union(*self.frame["concepts"]))

    def images(self, *, shuffled: bool) -> Iterator[ExportImage]:
        """Give the images with all that belongs to them.

        Parameters
        ----------
        shuffled : bool
            In order of a digest of their ids, so that classes, and real and generated images, are
            mixed as they are for a shuffle, and the same in every export; otherwise in order of
            id, real images first.

        Raises
        ------
        ExportError
            The file of an image cannot be read, and that is no reason to leave it out.
        """
        rows: list[dict[str, Any]] = self.frame.to_dict("records")  # type: ignore[assignment]
        if shuffled:
            digests = [hashlib.sha256(_encoded(row["id"])).digest() for row in rows]
            rows = [rows[at] for at in sorted(range(len(rows)), key=digests.__getitem__)]
        self.progress("export", 0, len(rows))
        done = 0
        for batch in _batches(rows):
            regions = self._regions([row["id"] for row in batch if not row["synthetic"]])
            for row in batch:
                image = self._made(row) if row["synthetic"] else self._real(row, regions)
                if image is not None:
                    yield image
                done += 1
                self.progress("export", done, len(rows))

    def counts(self) -> Counter[str]:
        """How many were left out so far, by reason."""
        return Counter({reason: len(ids) for reason, ids in self.left_out.items()})

    def _real(
        self, row: Mapping[str, Any], regions: Mapping[str, tuple[Mention, ...]]
    ) -> ExportImage | None:
        image = self._with_regions(bare_image(row), regions.get(row["id"], ()))
        if self.options.images == "reference":
            return image
        try:
            return with_content(image, self._read_real(image))
        except UnreadableError as fault:
            if self.options.missing == "skip":
                self._leave_out("real images left out", image.id)
                return None
            place = f" ({image.uri})" if image.uri else ""
            ways = [fault.remedy, "leave such images out (--skip-missing)"]
            if self.can_refer and not isinstance(fault, OtherSizeError):
                ways.append("leave real images where they are (--reference)")
            said = f"The real image {image.id!r}{place} {fault}."
            raise ExportError(f"{said} {_either(ways)}.") from fault

    def _with_regions(self, image: ExportImage, regions: Sequence[Mention]) -> ExportImage:
        """Tell the regions of concepts from those of what gives the image its class."""
        concepts = set(image.concepts)
        objects = [r for r in regions if r.concept not in concepts]
        for region in objects:
            if region.concept != image.class_name:
                self._leave_out(_NO_CONCEPT, image.id)
        return replace(
            image,
            regions=tuple(r for r in regions if r.concept in concepts),
            objects=tuple(r for r in objects if r.concept == image.class_name),
        )

    def _read_real(self, image: ExportImage) -> bytes:
        if not image.uri:
            raise UnreadableError("has no address", "Load the dataset with addresses")
        try:
            return self.dataset.read_real(image.uri)
        except (OSError, CobalanceError) as error:
            raise UnreadableError(f"cannot be read ({_reason(error)})") from error

    def _made(self, row: Mapping[str, Any]) -> ExportImage | None:
        made: dict[str, Any] = self._generated[row["row"]]
        try:
            image = with_content(bare_image(row), self._read_made(made))
        except UnreadableError as fault:
            if self.options.missing == "skip":
                self._leave_out("generated images left out", row["id"])
                return None
            raise ExportError(
                f"The generated image {row['id']!r} ({made['path']}) {fault}. Put the file back "
                "that was there when it was made, or leave such images out (--skip-missing)."
            ) from fault
        return self._with_object(replace(image, provenance=made), made["mask_path"])

    def _read_made(self, made: Mapping[str, Any]) -> bytes:
        try:
            content = self.dataset.read_generated(made["path"])
        except (OSError, CobalanceError) as error:
            raise UnreadableError(f"cannot be read ({_reason(error)})") from error
        if hashlib.sha256(content).hexdigest() != made["sha256"]:
            raise UnreadableError("is not the file that its row of the manifest is about")
        return content

    def _with_object(self, image: ExportImage, mask_path: str | None) -> ExportImage:
        if not mask_path or image.width_px is None or image.height_px is None:
            return image
        try:
            mask = self.dataset.read_generated(mask_path)
            found = object_of(mask, image.class_name, image.width_px, image.height_px)
        except (OSError, CobalanceError, NoPictureError):
            self._leave_out("masks that cannot be read", image.id)
            return image
        return replace(image, mask=mask, objects=(found,))

    @cached_property
    def _generated(self) -> list[dict[str, Any]]:
        frame = self.dataset.generated[MANIFEST_SCHEMA.names]
        plain = frame.astype(object).where(frame.notna(), None)
        rows: list[dict[str, Any]] = plain.to_dict("records")
        return rows

    def _regions(self, ids: Sequence[str]) -> dict[str, tuple[Mention, ...]]:
        if self.dataset.regions is None or not ids:
            return {}
        found: dict[str, list[Mention]] = {}
        for region in self.dataset.regions(ids).to_dict("records"):
            found.setdefault(str(region["id"]), []).append(_mention(region))
        return {image: tuple(mentions) for image, mentions in found.items()}

    def _leave_out(self, reason: str, image_id: str) -> None:
        self.left_out.setdefault(reason, []).append(image_id)


def _batches(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(rows), _AT_ONCE):
        yield rows[start : start + _AT_ONCE]


def _mention(region: Mapping[Any, Any]) -> Mention:
    box = tuple(float(region[name]) for name in ("x_px", "y_px", "w_px", "h_px"))
    outline = region["segmentation"]
    return Mention(
        str(region["concept"]),
        score=_number(region["score"]),
        area_px2=_number(region["area_px2"]),
        box=None if np.isnan(box).any() else box,  # type: ignore[arg-type]
        segmentation=outline if isinstance(outline, str) else None,
        crowd=bool(region.get("crowd", False)),
    )


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _either(ways: Sequence[str]) -> str:
    """Join ways out as one sentence: "This, that, or that"."""
    *others, last = ways
    return f"{', '.join(others)}, or {last}"


def _reason(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).rstrip(".")
