"""Declaration and writer protocol of export formats, and functions that formats share.

A format's module has an `ExportPlugin` named ``PLUGIN``, and ``open_export_format``, which takes
its options and returns a `StartExport`.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from cobalance.base import Plugin
from cobalance.generation.export.images.image import ExportImage
from cobalance.generation.export.images.stream import ImageStream
from cobalance.generation.export.staging import Staging
from cobalance.generation.export.tables import TableFile

_PROVENANCE = (
    "job",
    "query",
    "index",
    "prompt",
    "seed",
    "source_image",
    "backend",
    "model",
    "revision",
    "digital_source_type",
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


StartExport = Callable[[ImageStream, Staging], Writer]
"""Starts an export; raises OptionError for a dataset that the format cannot write."""


@dataclass(frozen=True, kw_only=True)
class ExportPlugin(Plugin):
    """Declaration of an export format's module.

    Parameters
    ----------
    layout : str
        What is in the folder and how to load it, in Markdown, for the data card.
    has_images : bool
        Whether it contains images; if not, its writer uses the stream's list.
    can_reference : bool
        Whether it can refer to real images instead of copying them.
    shuffled : bool
        Whether images come in mixed order.
    """

    layout: str
    has_images: bool = True
    can_reference: bool = False
    shuffled: bool = False


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

    facts |= {name: value for name, value in asdict(image.text).items() if value}
    if image.provenance is not None:
        facts["generated"] = {name: image.provenance[name] for name in _PROVENANCE}
    return facts
