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
from generation.export.names import file_stem, split_names
from generation.export.options import ExportError, ExportOptions
from generation.export.pictures import NoPictureError, header, object_of
from generation.manifest import MANIFEST_SCHEMA
from graph.errors import CobalanceError
from graph.progress import Progress
from graph.records import Mention

_AT_ONCE = 512  # images whose regions are read at once


@dataclass(frozen=True, eq=False, slots=True)
class ExportImage:
    """An image to write.

    Parameters
    ----------
    id, class_name, split, concepts
        As in the dataset; concepts in ascending order.
    uri : str or None
        Where a real image is; None for a generated one.
    width_px, height_px : int or None
        Its size; None where neither the dataset nor a file says so.
    stem : str
        Its file's name without ending.
    synthetic : bool
        Whether it is generated.
    content : bytes or None
        Its file; None where the image stays where it is.
    suffix : str or None
        The file's ending, without the dot.
    sha256 : str or None
        The file's digest.
    regions : tuple of Mention
        Where its concepts are, as far as that is known.
    mask : bytes or None
        The PNG of a generated image's mask.
    object : Mention or None
        A generated image's object: its class, and where it is.
    provenance : mapping or None
        A generated image's row of the manifest.
    """

    id: str
    class_name: str
    split: str | None
    concepts: tuple[str, ...]
    uri: str | None
    width_px: int | None
    height_px: int | None
    stem: str
    synthetic: bool
    content: bytes | None = None
    suffix: str | None = None
    sha256: str | None = None
    regions: tuple[Mention, ...] = ()
    mask: bytes | None = None
    object: Mention | None = None
    provenance: Mapping[str, Any] | None = None

    @property
    def file_name(self) -> str:
        """The name of its file."""
        return f"{self.stem}.{self.suffix}"


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
    left_out : dict of str to list of str
        By reason, the ids of images and masks that could not be read so far.
    """

    dataset: Rebalanced
    options: ExportOptions
    progress: Progress
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
        image = replace(_bare(row), regions=regions.get(row["id"], ()))
        if self.options.images == "reference":
            return image
        try:
            return _with_content(image, self._read_real(image))
        except _UnreadableError as fault:
            if self.options.missing == "skip":
                self._leave_out("real images left out", image.id)
                return None
            place = f" ({image.uri})" if image.uri else ""
            first = "Put its file there" if image.uri else "Load the dataset with addresses"
            raise ExportError(
                f"The real image {image.id!r}{place} {fault}. {first}, leave such images out "
                "(--skip-missing), or leave real images where they are (--reference)."
            ) from fault

    def _read_real(self, image: ExportImage) -> bytes:
        if not image.uri:
            raise _UnreadableError("has no address")
        try:
            return self.dataset.read_real(image.uri)
        except (OSError, CobalanceError) as error:
            raise _UnreadableError(f"cannot be read ({_reason(error)})") from error

    def _made(self, row: Mapping[str, Any]) -> ExportImage:
        made: dict[str, Any] = self._generated[row["row"]]
        try:
            content = self.dataset.read_generated(made["path"])
            image = _with_content(_bare(row), content)
        except (OSError, CobalanceError, _UnreadableError) as error:
            raise ExportError(
                f"The generated image {row['id']!r} ({made['path']}) cannot be read "
                f"({_reason(error)}). Put its file back, or generate it again."
            ) from error
        if image.sha256 != made["sha256"]:
            raise ExportError(
                f"The generated image {row['id']!r} ({made['path']}) is not the file that its row "
                "of the manifest is about. Put that back, or generate it again."
            )
        return self._with_object(replace(image, provenance=made), made["mask_path"])

    def _with_object(self, image: ExportImage, mask_path: str | None) -> ExportImage:
        if not mask_path or image.width_px is None or image.height_px is None:
            return image
        try:
            mask = self.dataset.read_generated(mask_path)
            found = object_of(mask, image.class_name, image.width_px, image.height_px)
        except (OSError, CobalanceError, NoPictureError):
            self._leave_out("masks that cannot be read", image.id)
            return image
        return replace(image, mask=mask, object=found)

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


class _UnreadableError(Exception):
    """A file that gives no image; the message is a clause after its name."""


def _batches(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for start in range(0, len(rows), _AT_ONCE):
        yield rows[start : start + _AT_ONCE]


def _bare(row: Mapping[str, Any]) -> ExportImage:
    return ExportImage(
        row["id"],
        row["class"],
        row["split"],
        row["concepts"],
        row["uri"],
        row["width_px"],
        row["height_px"],
        file_stem(row["id"]),
        row["synthetic"],
    )


def _with_content(image: ExportImage, content: bytes) -> ExportImage:
    try:
        found = header(content)
    except NoPictureError as fault:
        raise _UnreadableError(str(fault)) from fault
    size = (image.width_px, image.height_px)
    if None in size:
        size = (found.width_px, found.height_px)
    digest = hashlib.sha256(content).hexdigest()
    width, height = size
    return replace(
        image,
        content=content,
        suffix=found.suffix,
        sha256=digest,
        width_px=width,
        height_px=height,
    )


def _mention(region: Mapping[Any, Any]) -> Mention:
    box = tuple(float(region[name]) for name in ("x_px", "y_px", "w_px", "h_px"))
    outline = region["segmentation"]
    return Mention(
        str(region["concept"]),
        score=_number(region["score"]),
        area_px2=_number(region["area_px2"]),
        box=None if np.isnan(box).any() else box,  # type: ignore[arg-type]
        segmentation=outline if isinstance(outline, str) else None,
    )


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _reason(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).rstrip(".")
