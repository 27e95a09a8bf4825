"""Exporter and writer protocols of export formats, and functions that formats share.

A format's module declares ``PLUGIN``, and ``open_export_format``, which returns an `Exporter`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from generation.export.images.image import ExportImage
from generation.export.images.stream import ImageStream
from generation.export.writing.staging import Staging
from generation.export.writing.tables import TableFile

_PROVENANCE = (
    *("job", "query", "index", "prompt", "seed", "source_image"),
    *("backend", "model", "revision", "digital_source_type"),
)


@dataclass(frozen=True, slots=True)
class ImageLocation:
    """Location of an image in an export.

    Parameters
    ----------
    uri : str or None
        Its path in the folder, or its own address if it was not copied.
    file : str or None
        The file in the folder that contains it, if any.
    key : str or None
        Its name inside that file, if the file contains more than one.
    mask : str or None
        Its mask's file, if there is one.
    """

    uri: str | None
    file: str | None = None
    key: str | None = None
    mask: str | None = None


@dataclass(frozen=True)
class WriterReport:
    """Report of a writer: its files besides the images.

    Parameters
    ----------
    counts : mapping of str to int
        What it counted.
    tables : tuple of TableFile
        Its tables.
    patterns : mapping of str to str
        For each split a glob of its files, for loaders that need one.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    tables: tuple[TableFile, ...] = ()
    patterns: Mapping[str, str] = field(default_factory=dict)


class Writer(Protocol):
    """Writes one export."""

    def add(self, image: ExportImage) -> ImageLocation:
        """Write an image, or refer to it if it has no content."""

    def finish(self) -> WriterReport:
        """Write the rest, after the last image."""


class Exporter(Protocol):
    """An export format."""

    @property
    def has_images(self) -> bool:
        """Whether it contains images; if not, its writer uses the stream's list."""

    @property
    def can_reference(self) -> bool:
        """Whether it can refer to real images instead of copying them."""

    @property
    def shuffled(self) -> bool:
        """Whether images come in mixed order."""

    @property
    def layout(self) -> str:
        """What is in the folder and how to load it, in Markdown, for the data card."""

    def start(self, stream: ImageStream, staging: Staging) -> Writer:
        """Start an export.

        Raises
        ------
        OptionError
            This format cannot write such a dataset.
        """


def write_image(staging: Staging, folder: str, image: ExportImage) -> ImageLocation:
    """Write an image to a file of its own, or refer to it if it has no content."""
    if image.content is None:
        return ImageLocation(image.uri)
    path = f"{folder}/{image.file_name}"
    staging.write(path, image.content)
    return ImageLocation(path, path)


def image_facts(image: ExportImage) -> dict[str, Any]:
    """Labels and provenance of an image, for JSON."""
    facts: dict[str, Any] = {
        "id": image.id,
        "class": image.class_name,
        "concepts": list(image.concepts),
        "split": image.split,
        "synthetic": image.synthetic,
        "original_uri": image.uri,
    }
    if image.provenance is not None:
        facts["generated"] = {name: image.provenance[name] for name in _PROVENANCE}
    return facts
