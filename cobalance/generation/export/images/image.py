"""One image of an export, before and after its file is read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from cobalance.generation.export.images.file_names import file_stem
from cobalance.graph.records import Mention
from cobalance.ingest.images.decoding import is_turned, read_header
from cobalance.ingest.images.image_file import ImageFileError


@dataclass(frozen=True, slots=True)
class ImageText:
    """What is written about an image.

    Parameters
    ----------
    captions : tuple of str
        Its captions in their order; those of a generated image are edited.
    source_captions : tuple of str
        Of a generated image with captions those that were edited.
    license, license_url, attribution : str or None
        As its dataset states them; a generated image has those of its source, and behind them
        those of the image whose object is pasted into it, if any.
    """

    captions: tuple[str, ...] = ()
    source_captions: tuple[str, ...] = ()
    license: str | None = None
    license_url: str | None = None
    attribution: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class ExportImage:
    """An image to export.

    Parameters
    ----------
    id, class_name, split, concepts
        As in the dataset; concepts in ascending order.
    uri : str or None
        Address of a real image; None for a generated one.
    width_px, height_px : int or None
        Its size; None if neither the dataset nor the file says.
    provenance : mapping or None
        A generated image's row of the manifest; None for a real image.
    twin : str or None
        What an edited image shares with all that were made of it: its id; None for other images.
    content : bytes or None
        Its file's content; None before it is read, and for an image that is not copied.
    suffix : str or None
        The file's extension, without the dot.
    sha256 : str or None
        The file's digest.
    regions : tuple of Mention
        Known regions of its concepts.
    objects : tuple of Mention
        Known regions of its class: in a generated image the object that it was made around, in a
        real one the annotated instances. The class is not a concept.
    mask : bytes or None
        A generated image's mask file, a PNG.
    text : ImageText
        Captions, licence and attribution.
    """

    id: str
    class_name: str
    split: str | None
    concepts: tuple[str, ...]
    uri: str | None
    width_px: int | None
    height_px: int | None
    provenance: Mapping[str, Any] | None = None
    twin: str | None = None
    content: bytes | None = None
    suffix: str | None = None
    sha256: str | None = None
    regions: tuple[Mention, ...] = ()
    objects: tuple[Mention, ...] = ()
    mask: bytes | None = None
    text: ImageText = ImageText()

    @property
    def synthetic(self) -> bool:
        """Whether it is generated."""
        return self.provenance is not None

    @property
    def annotated_as(self) -> str | None:
        """The id of the real image whose regions it has: its own, or that of the edited one."""
        return self.id if self.provenance is None else self.twin

    @property
    def changed(self) -> bool | None:
        """Whether a counterfactual shows another group than its source; None for other images."""
        if self.provenance is None or self.provenance["source_class"] is None:
            return None
        return bool(self.provenance["source_class"] != self.class_name)

    @property
    def stem(self) -> str:
        """Name of its file, without the extension."""
        return file_stem(self.id)

    @property
    def file_name(self) -> str:
        """Name of its file."""
        return f"{self.stem}.{self.suffix}"


class UnreadableError(Exception):
    """An image without a usable file; the message is a clause that follows the file's name."""

    def __init__(self, problem: str, remedy: str = "Put its file there") -> None:
        super().__init__(problem)
        self.remedy = remedy


class WrongSizeError(UnreadableError):
    """A file whose size differs from the dataset's, so probably of another image."""


def with_content(image: ExportImage, content: bytes) -> ExportImage:
    """Add the content of its file to an image.

    Raises
    ------
    UnreadableError
        The content is not an image, or has another size than the dataset says.
    """
    try:
        found = read_header(content)
    except ImageFileError as error:
        raise UnreadableError(f"is not a usable image ({error})") from error
    width, height = image.width_px or found.width_px, image.height_px or found.height_px
    stored, annotated = (found.width_px, found.height_px), (width, height)
    # Annotations are of the image as it is shown, or as it lies in its file; see `DecodedImage`.
    if annotated != stored and not (annotated == stored[::-1] and is_turned(content)):
        raise WrongSizeError(
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
