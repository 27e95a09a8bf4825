"""One export from its first image to its last file, whatever the format."""

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import pandas as pd

from generation.export.dataset import Rebalanced
from generation.export.describing import card, croissant
from generation.export.describing.image_table import IMAGE_TABLE, image_row
from generation.export.images.loading import ImageStream
from generation.export.options import ExportError, ExportOptions, ExportReport
from generation.export.writing.exporter import (
    Column,
    Exporter,
    Placed,
    TableFile,
    Writer,
    table_writer,
)
from generation.export.writing.staging import Staging, staged
from generation.output.manifest import MANIFEST_SCHEMA, manifest_table, write_table
from graph.errors import OptionError
from graph.progress import Progress

GENERATED = TableFile(
    "generated.parquet",
    "Where the generated images come from; path is the file in this folder.",
    {
        field.name: Column(field.type, "See generation.output.manifest of cobalance.")
        for field in MANIFEST_SCHEMA
    },
    key="candidate",
)
_VERSION = 1


def run(
    dataset: Rebalanced,
    name: str,
    exporter: Exporter,
    folder: Path,
    options: ExportOptions,
    progress: Progress,
) -> ExportReport:
    """Write an export; see `generation.export.export`."""
    if exporter.images and options.images not in exporter.images:
        raise OptionError(
            f"The format {name} holds the images themselves, and cannot name them by their "
            "addresses. Leave --reference out, or export as folder, coco or weights."
        )
    stream = ImageStream(dataset, options, progress, can_refer="reference" in exporter.images)
    whose = {"name": dataset.name, "format": name, "job": dataset.job}
    with staged(folder, whose, overwrite=options.overwrite) as staging:
        writer = exporter.open(stream, staging, options)
        tables: list[TableFile] = []
        images: Counter[tuple[str | None, str, bool]] = Counter()
        made = dataset.generated.iloc[:0]
        if exporter.images:
            images, places = _write_images(stream, staging, writer, exporter)
            tables.append(IMAGE_TABLE)
            made = _placed_rows(dataset.generated, places)
        else:
            real = stream.frame[~stream.frame["synthetic"]]
            images = Counter((split, label, False) for split, label in _pairs(real))
        written = writer.finish()
        tables += written.tables
        if len(made):
            with staging.open(GENERATED.name) as file:
                write_table(manifest_table(made), file)
        counts = Counter({f"{kind} images": 0 for kind in ("real", "generated")})
        counts.update({f"{name} left out": 0 for name in list(counts)})
        counts.update(stream.counts())
        for (_, _, synthetic), n in images.items():
            counts["generated images" if synthetic else "real images"] += n
        counts.update({key: n for key, n in written.counts.items() if key not in counts})
        facts = card.CardFacts(
            name=dataset.name,
            format=name,
            layout=exporter.layout,
            images=images,
            counts=counts,
            copied=bool(exporter.images) and options.images == "copy",
            generated=made,
            tables=tables,
            patterns=written.patterns,
        )
        _describe(staging, facts, [*tables, *([GENERATED] if len(made) else [])])
        staging.seal(
            {"cobalance_export": _VERSION, **whose, "counts": dict(sorted(counts.items()))}
        )
        files, n_bytes = len(staging.files), sum(size for _, size in staging.files.values())
    return ExportReport(dict(counts), files, n_bytes)


def _write_images(
    stream: ImageStream, staging: Staging, writer: Writer, exporter: Exporter
) -> tuple[Counter[tuple[str | None, str, bool]], dict[str, Placed]]:
    """Write all images, and the table of them; give their numbers, and where generated ones are."""
    counts: Counter[tuple[str | None, str, bool]] = Counter()
    places: dict[str, Placed] = {}
    with ExitStack() as opened:
        table = opened.enter_context(table_writer(staging, IMAGE_TABLE))
        for image in stream.images(shuffled=exporter.shuffled):
            placed = writer.add(image)
            table.add(image_row(image, placed))
            counts[image.split, image.class_name, image.synthetic] += 1
            if image.synthetic:
                places[image.id] = placed
        if not counts:
            raise ExportError(
                "Not one of the images can be read, and nothing is left to export. Name the "
                "folder or the store that they are in."
            )
    return counts, places


def _placed_rows(generated: pd.DataFrame, places: Mapping[str, Placed]) -> pd.DataFrame:
    """Give the written images' rows of the manifest, with where they are in the export."""
    generated = generated[generated["candidate"].isin(list(places))]
    found = [places[candidate] for candidate in generated["candidate"]]
    paths = [f"{place.file}/{place.key}" if place.key else place.file for place in found]
    masks = [place.mask for place in found]
    columns = {
        "path": pd.Series(paths, index=generated.index, dtype=object),
        "mask_path": pd.Series(masks, index=generated.index, dtype=object),
    }
    return generated.assign(**columns)


def _pairs(frame: pd.DataFrame) -> list[tuple[str | None, str]]:
    return list(zip(frame["split"], frame["class"], strict=True))


def _describe(staging: Staging, facts: card.CardFacts, tables: list[TableFile]) -> None:
    rai = {
        "dataCollection": card.summary(facts),
        "dataBiases": card.LIMITS[2],
        "dataLimitations": " ".join(card.LIMITS if len(facts.generated) else card.LIMITS[2:]),
    }
    about = croissant.croissant(facts.name, card.summary(facts), staging.files, tables, rai)
    staging.write(croissant.NAME, about)
    staging.write(card.NAME, card.data_card(facts))
