"""`cobalance ingest`: load an annotation file into a dataset."""

from dataclasses import replace as changed
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobalance.app.cli.shared.collector import collector_paused, freeze_objects
from cobalance.app.cli.shared.options import cleaned, notes, opened_store
from cobalance.app.cli.shared.progress import progress_bars
from cobalance.app.cli.shared.words import in_shell
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.names import foreign_images
from cobalance.graph.dataset.sampled import PER_CLASS, Sample
from cobalance.graph.dataset.state import DatasetState, check_name, dataset_state
from cobalance.graph.dataset.write import IngestReport
from cobalance.graph.errors import ConflictError, OptionError, render
from cobalance.graph.records import Annotations
from cobalance.graph.wording import inflect
from cobalance.ingest.concepts.word_lists import word_list_names
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import (
    ClassOptions,
    ReadLimits,
    ReadOptions,
    Refinement,
    TableOptions,
    VocabularyOptions,
    pairs,
)
from cobalance.ingest.problems import SkippedRecord
from cobalance.workflows.load.dataset import default_dataset_name, describe_load, load_dataset
from cobalance.workflows.load.found_images import find_images
from cobalance.workflows.settings import Settings

if TYPE_CHECKING:
    from cobalance.ingest.spark.images import SparkOptions


class OnError(StrEnum):
    """Treatment of malformed records."""

    FAIL = "fail"
    SKIP = "skip"


class Images(StrEnum):
    """Images that the graph keeps."""

    ALL = "all"
    SAMPLE = "sample"


class LoadEngine(StrEnum):
    """Where images are counted."""

    MEMORY = "memory"
    SPARK = "spark"


class Match(StrEnum):
    """Matching of captions with the vocabulary."""

    WORDS = "words"
    SUBSTRING = "substring"


_TABLES = "Tables (CSV, TSV, Parquet, JSONL)"
_CLASSES = "Where the class comes from, when not from a column"
_CAPTIONS = "Concepts from captions"
_KEPT = "What to keep"
_GRAPH = "Large datasets"
_KEPT_TEXTS = "Captions to keep"
_TOO_MUCH = "Limits, so that no file takes all memory"
_LIMITS = ReadLimits()


def _column(meaning: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        metavar="COLUMN", help=f"Column with {meaning}.", rich_help_panel=_TABLES
    )
    return option


def _limit(what: str) -> Any:
    return typer.Option(min=1, help=f"Most {what}.", rich_help_panel=_TOO_MUCH)


def ingest(
    file: Annotated[
        str,
        typer.Argument(
            help="File, folder or archive with annotations; for Spark, Parquet at any address.",
            show_default=False,
        ),
    ],
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            "-d",
            help="Dataset to load into. Default: the file's name.",
            callback=cleaned,
        ),
    ] = None,
    input_format: Annotated[
        str | None, typer.Option(help="Format, when its detection from the content is wrong.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete the dataset's images that FILE lacks.")
    ] = False,
    on_error: Annotated[
        OnError, typer.Option(help="Stop at a malformed record, or leave it out and count it.")
    ] = OnError.FAIL,
    split: Annotated[str | None, typer.Option(help="Split of all images, such as train.")] = None,
    images: Annotated[
        Images,
        typer.Option(
            help="Keep all images in the graph, or all counts and a sample of the images.",
            rich_help_panel=_GRAPH,
        ),
    ] = Images.ALL,
    sample: Annotated[
        int,
        typer.Option(
            min=1, help="Images of each clique and class in a sample.", rich_help_panel=_GRAPH
        ),
    ] = PER_CLASS,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed that chooses a sample.", rich_help_panel=_GRAPH)
    ] = 0,
    engine: Annotated[
        LoadEngine,
        typer.Option(
            help="Where to count: here, or on Apache Spark, which leaves the images in their "
            "Parquet files.",
            rich_help_panel=_GRAPH,
        ),
    ] = LoadEngine.MEMORY,
    master: Annotated[
        str | None,
        typer.Option(
            help="Spark's master, such as local[4]; by default all cores of this machine.",
            rich_help_panel=_GRAPH,
        ),
    ] = None,
    id_column: Annotated[str | None, _column("the image's id")] = None,
    class_column: Annotated[str | None, _column("its class")] = None,
    concepts_column: Annotated[
        str | None, _column("its concepts: delimited text, or a JSON list")
    ] = None,
    scores_column: Annotated[str | None, _column("the concepts' scores")] = None,
    caption_column: Annotated[str | None, _column("text to search for the vocabulary")] = None,
    split_column: Annotated[str | None, _column("its split")] = None,
    uri_column: Annotated[str | None, _column("where its pixels are")] = None,
    width_column: Annotated[str | None, _column("its width in pixels")] = None,
    height_column: Annotated[str | None, _column("its height in pixels")] = None,
    concept_columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...",
            help="Columns of one concept each, with 0 or 1.",
            rich_help_panel=_TABLES,
        ),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="Separator of concepts in a column.", rich_help_panel=_TABLES),
    ] = None,
    class_category: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CATEGORY[=CLASS]",
            help="Category that is a class; repeat it.",
            rich_help_panel=_CLASSES,
        ),
    ] = None,
    class_file: Annotated[
        Path | None,
        typer.Option(help="Table of image id or file name, and class.", rich_help_panel=_CLASSES),
    ] = None,
    class_captions: Annotated[
        Path | None,
        typer.Option(
            help="COCO captions; an image gets the class whose words its captions use.",
            rich_help_panel=_CLASSES,
        ),
    ] = None,
    class_words: Annotated[
        str | None,
        typer.Option(
            help=f"Word list of the classes: {', '.join(word_list_names())}, or a TOML file.",
            rich_help_panel=_CLASSES,
        ),
    ] = None,
    captions: Annotated[
        Path | None,
        typer.Option(
            help="Captions of the images: COCO captions, or a table of image id or file name, and "
            "caption.",
            rich_help_panel=_KEPT_TEXTS,
        ),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            help="File of a concept a line, variants after a colon.", rich_help_panel=_CAPTIONS
        ),
    ] = None,
    match: Annotated[
        Match,
        typer.Option(help="Match whole words and plurals, or any text.", rich_help_panel=_CAPTIONS),
    ] = Match.WORDS,
    keep_class: Annotated[
        list[str] | None,
        typer.Option(help="Keep only images of this class; repeat it.", rich_help_panel=_KEPT),
    ] = None,
    keep_split: Annotated[
        list[str] | None,
        typer.Option(help="Keep only images of this split; repeat it.", rich_help_panel=_KEPT),
    ] = None,
    rename_class: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OLD=NEW",
            help="Rename a class, such as 0=landbird; repeat it.",
            rich_help_panel=_KEPT,
        ),
    ] = None,
    concept_table: Annotated[
        Path | None,
        typer.Option(
            help="Table of concept and what it becomes; empty drops it, equal ones merge.",
            rich_help_panel=_KEPT,
        ),
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(help="Minimum score of a concept.", rich_help_panel=_KEPT)
    ] = None,
    min_area: Annotated[
        float | None,
        typer.Option(help="Minimum area of an instance, in square pixels.", rich_help_panel=_KEPT),
    ] = None,
    max_columns: Annotated[int, _limit("columns of a table or keys of JSON lines")] = (
        _LIMITS.columns
    ),
    max_rows: Annotated[int, _limit("rows of a table or images of a COCO file")] = _LIMITS.rows,
    max_mentions: Annotated[
        int, _limit("concepts in all rows or captions, or annotations of a COCO file")
    ] = _LIMITS.mentions,
    max_table_mb: Annotated[int, _limit("MB of memory for a table")] = _LIMITS.table_mb,
    max_skipped: Annotated[int, _limit("malformed records that are left out")] = _LIMITS.skipped,
) -> None:
    """Load annotations into a dataset's concept graph.

    The whole file is read and checked before anything is written. Loading it again changes
    nothing; an interrupted load goes on. Only with --dataset is a file added to a dataset that has
    none of its images, and only with --replace does it take its place.

    Image files are looked for in COBALANCE_IMAGES, beside FILE and in `images` there; a folder
    beside FILE that has them is kept for later commands.

    With --images sample the graph keeps every count, and of the images a few of each clique, which
    `cobalance mine` chooses: a million images then load in seconds. What takes all images, such as
    export and jobs that edit images, needs --images all.
    """
    options = ReadOptions(
        table=TableOptions(
            id=id_column,
            class_name=class_column,
            concepts=concepts_column,
            scores=scores_column,
            caption=caption_column,
            split=split_column,
            uri=uri_column,
            width=width_column,
            height=height_column,
            concept_columns=tuple(concept_columns.split(",")) if concept_columns else (),
            delimiter=delimiter,
        ),
        classes=ClassOptions(
            categories=pairs(class_category or ()),
            file=class_file,
            captions=class_captions,
            words=class_words,
        ),
        vocabulary=VocabularyOptions(file=vocabulary, mode=match.value),
        refine=Refinement(
            min_score=min_score,
            min_area_px2=min_area,
            concept_table=concept_table,
            class_names=pairs(rename_class or (), needs_value=True),
            classes=tuple(keep_class or ()),
            splits=tuple(keep_split or ()),
        ),
        limits=ReadLimits(
            columns=max_columns,
            rows=max_rows,
            mentions=max_mentions,
            table_mb=max_table_mb,
            skipped=max_skipped,
        ),
        split=split,
        on_error=on_error.value,
        captions=captions,
    )
    if dataset is not None:
        check_name(dataset)
    name = default_dataset_name(file) if dataset is None else dataset
    kept = Sample(sample, seed) if images is Images.SAMPLE else None
    if engine is LoadEngine.SPARK:
        _check_spark(options, kept, input_format)
        columns = _spark_columns(options)
        with opened_store() as (store, progress):
            from cobalance.workflows.spark.images import load_with_spark

            report = load_with_spark(
                store,
                name,
                file,
                columns,
                kept or Sample(),
                replace=replace,
                master=master,
                progress=progress,
            )
            told = "Images: files are not looked for where Spark counts."
            _tell(name, file, report, dataset_state(store, name), told)
        return
    path = Path(file)
    with progress_bars() as progress, collector_paused():
        annotations = read_annotations(path, options, input_format, progress)
    print_reader_notes(annotations)
    settings = Settings.from_environment()
    with opened_store() as (store, progress):
        if dataset is None and not replace and kept is None:
            _check_same_images(store, name, annotations, path)
        freeze_objects()
        report = load_dataset(
            store,
            settings.folders(),
            name,
            annotations,
            source=path.name,
            replace=replace,
            sample=kept,
            progress=progress,
        )
        found = find_images(settings.folders(), annotations, path, progress=progress)
        told = render(found.described(), in_shell)
        _tell(name, path.name, report, dataset_state(store, name), told)


def _check_spark(options: ReadOptions, kept: Sample | None, input_format: str | None) -> None:
    if kept is None:
        raise OptionError(
            "--engine spark leaves the images in their files. Give --images sample with it."
        )
    table = TableOptions(delimiter=options.table.delimiter)
    if input_format is not None or changed(options, table=table) != ReadOptions(table=table):
        raise OptionError(
            "--engine spark reads the columns of Parquet files as they are: with it go options for "
            "the columns of id, class, concepts, split and uri, and for their delimiter, no others."
        )


def _spark_columns(options: ReadOptions) -> "SparkOptions":
    from cobalance.ingest.spark.images import SparkOptions

    table = options.table
    return SparkOptions(
        class_column=table.class_name,
        concepts_column=table.concepts,
        id_column=table.id,
        uri_column=table.uri,
        split_column=table.split,
        delimiter=table.delimiter or "|",
    )


def _tell(name: str, file: str, report: IngestReport, state: DatasetState, images: str) -> None:
    """Say what a load changed, and what comes next."""
    notes.print(describe_load(name, report), markup=False)
    notes.print(images, markup=False)
    if report.kept:
        notes.print(
            f"{name} keeps {inflect(report.kept, 'images')} not in {file}, which --replace "
            "would delete.",
            markup=False,
        )
    mined = state.cliques_digest == state.digest
    following = f"cobalance imbalances {quote(name)}" if mined else f"cobalance mine {quote(name)}"
    notes.print(f"Next: {following}", markup=False)


def _check_same_images(store: GraphStore, name: str, annotations: Annotations, file: Path) -> None:
    """Raise ConflictError if the default dataset has none of the file's images."""
    others = foreign_images(store, name, annotations.images["id"].array)
    if others:
        images = "1 image, which is not" if others == 1 else f"{others:,} images, none of them"
        raise ConflictError(
            f"The dataset {name!r} holds {images} in {file}. Name another dataset with --dataset, "
            f"give --dataset {quote(name)} to add to it, or --replace to put these images in place "
            "of those."
        )


_SHOWN = 5  # messages of skipped records


def print_reader_notes(annotations: Annotations) -> None:
    """Print the reader's notes, skipped records, and images set aside."""
    for note in annotations.notes:
        notes.print(f"Note: {note}", markup=False)
    if annotations.skipped:
        some = len(annotations.skipped)
        notes.print(f"Skipped {inflect(some, 'malformed records')}:")
        for message in annotations.skipped[:_SHOWN]:
            said = message.error.render(in_shell) if isinstance(message, SkippedRecord) else message
            notes.print(f"  {said}", markup=False)
        if some > _SHOWN:
            notes.print(f"  ... and {some - _SHOWN:,} more.")
    for reason, images in annotations.set_aside.items():
        notes.print(f"Set aside {images:,}: {reason}.", markup=False)
