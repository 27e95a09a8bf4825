"""Exports of rebalanced datasets: the registry of formats, and an export from end to end."""

from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cobalance.base import OptionError, Progress, Setting, silent
from cobalance.counting import Incidence, build_incidence
from cobalance.generation.export.describing import card, croissant
from cobalance.generation.export.describing.findings import Examine, Findings
from cobalance.generation.export.describing.image_table import IMAGE_TABLE, image_row
from cobalance.generation.export.describing.texts import TextCounts
from cobalance.generation.export.exporter import ExportPlugin, Writer
from cobalance.generation.export.formats import EXPORTERS
from cobalance.generation.export.images.dataset import ExportDataset
from cobalance.generation.export.images.image import ExportImage
from cobalance.generation.export.images.stream import ImageStream
from cobalance.generation.export.options import ExportError, ExportOptions, ExportReport
from cobalance.generation.export.staging import Staging, open_staging
from cobalance.generation.export.tables import Column, TableFile, table_writer
from cobalance.generation.output import manifest

__all__ = ["EXPORTERS", "ExportDataset", "ExportError", "ExportOptions", "ExportReport", "export"]

GENERATED = TableFile(
    "generated.parquet",
    "How the generated images were made; path is the file in this folder.",
    {
        field.name: Column(field.type, "See cobalance.generation.output.manifest of cobalance.")
        for field in manifest.MANIFEST_SCHEMA
    },
    key="candidate",
)
_VERSION = 1


ImageCounts = Counter[tuple[str | None, str, bool]]
"""Images per split, class, and whether they are generated."""


def export(
    dataset: ExportDataset,
    format: str,  # noqa: A002
    folder: Path,
    options: ExportOptions | None = None,
    progress: Progress = silent,
    examine: Examine | None = None,
) -> ExportReport:
    """Write a rebalanced dataset to a folder.

    The folder appears once all of it is written; if the export fails, an earlier one stays. The
    same dataset and options give the same bytes.

    Parameters
    ----------
    format : str
        A name in `EXPORTERS`.
    folder : Path
        The folder to create. It may hold an unchanged export of the same job in the same format,
        which is replaced; with ``overwrite`` anything else.
    progress : callable
        Called with a stage, how many images are done and how many there are.
    examine : callable, optional
        Examines the written images for biases, for the data card and the Croissant metadata.

    Returns
    -------
    ExportReport

    Raises
    ------
    UnknownNameError
        No format has this name.
    OptionError
        The format cannot do what the options ask for, or not with this dataset.
    ExportError
        An image cannot be read, or the folder cannot be written or must not be replaced.
    MissingExtraError
        It needs packages that are not installed.
    """
    options = options or ExportOptions()
    start, plugin = EXPORTERS.open(format, options.format_options), EXPORTERS[format]
    _check_reference(plugin, options)

    stream = ImageStream(dataset, options, progress, plugin.can_reference)
    identity = {"name": dataset.name, "format": plugin.name, "job": dataset.job}
    with open_staging(folder, identity, overwrite=options.overwrite) as staging:
        writer = start(stream, staging)
        tables: list[TableFile] = []

        if plugin.has_images:
            written = _write_images(stream, staging, writer, shuffled=plugin.shuffled)
            tables.append(IMAGE_TABLE)
        else:
            real = (image for image in stream.listed if not image.synthetic)
            counts_of_real = ImageCounts((image.split, image.class_name, False) for image in real)
            written = _WrittenImages(counts_of_real)

        report = writer.finish()
        tables += report.tables

        generated = manifest.manifest_frame(written.rows)
        findings = Findings()
        if examine is not None and plugin.has_images:
            findings = examine(written.concepts.incidence(), generated)

        counts = _counts(written.counts, stream, report.counts)
        facts = card.CardFacts(
            name=dataset.name,
            format=plugin.name,
            layout=plugin.layout,
            images=written.counts,
            counts=counts,
            copied=plugin.has_images and not options.reference,
            generated=generated,
            tables=tables.copy(),
            patterns=report.patterns,
            texts=written.texts,
            biases=findings.section,
        )

        # The card has a section of its own on generated images, and lists the other tables.
        if written.rows:
            with staging.open(GENERATED.name) as file:
                manifest.write_rows([written.rows], file)
            tables.append(GENERATED)
        _describe(staging, facts, tables, findings)

        staging.seal(
            {"cobalance_export": _VERSION, **identity, "counts": dict(sorted(counts.items()))}
        )
        n_bytes = sum(size for _, size in staging.files.values())
    return ExportReport(counts, len(staging.files), n_bytes)


def _check_reference(plugin: ExportPlugin, options: ExportOptions) -> None:
    """Raise OptionError for a format that holds the images where addresses are asked for."""
    if options.reference and not plugin.can_reference:
        raise OptionError(
            f"The format {plugin.name} holds the images themselves, and cannot refer to their "
            "addresses. Leave ",
            Setting("reference"),
            " out, or export as folder, coco or weights.",
        )


class _ImageConcepts:
    """Classes and concepts of images, one after another."""

    def __init__(self) -> None:
        self.classes: dict[str, int] = {}
        self.concepts: dict[str, int] = {}
        self.labels, self.lengths, self.codes = array("i"), array("i"), array("i")

    def add(self, image: ExportImage) -> None:
        self.labels.append(self.classes.setdefault(image.class_name, len(self.classes)))
        self.lengths.append(len(image.concepts))
        for name in image.concepts:
            self.codes.append(self.concepts.setdefault(name, len(self.concepts)))

    def incidence(self) -> Incidence:
        rows = np.repeat(np.arange(len(self.lengths)), self.lengths)
        codes, labels = np.array(self.codes, dtype=np.int64), np.array(self.labels, dtype=np.int64)
        return build_incidence(rows, codes, labels, tuple(self.concepts), tuple(self.classes))


@dataclass
class _WrittenImages:
    """Images that were written: their counts, manifest rows of generated ones, texts, concepts."""

    counts: ImageCounts = field(default_factory=ImageCounts)
    rows: list[dict[str, Any]] = field(default_factory=list)
    texts: TextCounts = field(default_factory=TextCounts)
    concepts: _ImageConcepts = field(default_factory=_ImageConcepts)


def _write_images(
    stream: ImageStream, staging: Staging, writer: Writer, *, shuffled: bool
) -> _WrittenImages:
    """Write all images and the table of them."""
    written = _WrittenImages()
    with table_writer(staging, IMAGE_TABLE) as table:
        for image in stream.images(shuffled=shuffled):
            location = writer.add(image)
            table.add(image_row(image, location))
            written.counts[image.split, image.class_name, image.synthetic] += 1
            written.texts.add(image)
            written.concepts.add(image)
            if image.provenance is not None:
                path = "/".join(filter(None, (location.file, location.key)))
                row = {**image.provenance, "path": path, "mask_path": location.mask}
                written.rows.append(row)

        if not written.counts:
            raise ExportError(
                "None of the images can be read, so there is nothing to export. Name the "
                "folder or the store that they are in."
            )
    return written


def _counts(images: ImageCounts, stream: ImageStream, written: Mapping[str, int]) -> dict[str, int]:
    # These four are reported even if they are 0, and a writer does not change them.
    counts = {
        "real images": 0,
        "generated images": 0,
        "real images left out": 0,
        "generated images left out": 0,
    }

    further = {name: n for name, n in written.items() if name not in counts}
    for (_, _, synthetic), n in images.items():
        counts["generated images" if synthetic else "real images"] += n
    return counts | stream.left_out | further


def _describe(
    staging: Staging, facts: card.CardFacts, tables: list[TableFile], findings: Findings
) -> None:
    # Without generated images, only the last two limits hold.
    limits = card.LIMITS if len(facts.generated) else card.LIMITS[2:]

    rai: dict[str, Any] = {
        "dataCollection": " ".join([card.summary(facts), *facts.texts.sentences()]),
        **findings.rai,
        "dataLimitations": [*limits, *findings.rai.get("dataLimitations", ())],
    }

    about = croissant.croissant(
        facts.name, card.summary(facts), staging.files, tables, rai, findings.properties
    )
    staging.write(croissant.NAME, about)
    staging.write(card.NAME, card.data_card(facts))
