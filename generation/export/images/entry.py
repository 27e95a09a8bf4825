"""One image to export, with its file; or why that is none of its."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from generation.export.images.file_facts import NoPictureError, header, is_turned
from generation.export.images.file_names import file_stem
from graph.records import Mention


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
    objects : tuple of Mention
        What gives it its class, and where that is: of a generated image the object that it was made
        around, of a real one what the dataset has regions of. No concepts.
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
    objects: tuple[Mention, ...] = ()
    provenance: Mapping[str, Any] | None = None

    @property
    def file_name(self) -> str:
        """The name of its file."""
        return f"{self.stem}.{self.suffix}"


class UnreadableError(Exception):
    """A file that gives no image; the message is a clause after its name."""

    def __init__(self, problem: str, remedy: str = "Put its file there") -> None:
        super().__init__(problem)
        self.remedy = remedy


class OtherSizeError(UnreadableError):
    """A file of another image than that which the dataset is about."""


def bare_image(row: Mapping[str, Any]) -> ExportImage:
    """Give an image without its file, from its row of `generation.export.dataset.all_images`."""
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


def with_content(image: ExportImage, content: bytes) -> ExportImage:
    """Give an image with its file.

    Raises
    ------
    UnreadableError
        The content is no image, or not of the size that the dataset has.
    """
    try:
        found = header(content)
    except NoPictureError as fault:
        raise UnreadableError(str(fault)) from fault
    width, height = image.width_px or found.width_px, image.height_px or found.height_px
    stored, annotated = (found.width_px, found.height_px), (width, height)
    # Annotations are of the image as it is shown, or as it lies in its file; see `Decoded`.
    if annotated != stored and not (annotated == stored[::-1] and is_turned(content)):
        raise OtherSizeError(
            f"has {stored[0]:,}×{stored[1]:,} pixels in its file and {width:,}×{height:,} in the "
            "dataset, so that regions would be off",
            "Put the file there that was annotated, ingest the dataset again with this file's size",
        )
    return replace(
        image,
        content=content,
        suffix=found.suffix,
        sha256=hashlib.sha256(content).hexdigest(),
        width_px=width,
        height_px=height,
    )
