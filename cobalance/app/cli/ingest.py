"""`cobalance ingest`: load an annotation file into a dataset."""

import gc
from collections.abc import Callable
from dataclasses import replace as changed
from inspect import Parameter, Signature, signature
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Literal, TypeVar, get_args

import typer

from cobalance.app.cli.shared import tables
from cobalance.app.cli.shared.collector import collector_paused
from cobalance.app.cli.shared.declared import declared, listed
from cobalance.app.cli.shared.options import DatasetOption
from cobalance.app.cli.shared.progress import progress_bars
from cobalance.app.cli.shared.remedies import in_shell
from cobalance.app.cli.shared.stores import folders, opened_store
from cobalance.app.cli.shared.terminal import notes
from cobalance.base import records
from cobalance.base.errors import OptionError, render
from cobalance.base.plurals import inflect
from cobalance.graph.dataset import sampled, state as states, write
from cobalance.ingest import hub, load, problems
from cobalance.ingest.fields import code_files, report as report_words, saved
from cobalance.ingest.options import ReadOptions, code_names, declared_options, pairs
from cobalance.workflows.load import dataset as loading, image_places
from cobalance.workflows.on_spark import session as spark

_FORMATS = ", ".join(
    listed(f"ingest.{place}")
    for place in (
        "formats.labelling_tools.TOOLS",
        "formats.box_lists.BOX_LISTS",
        "formats.FORMATS",
        "tables.TABLES",
    )
)


PER_CLASS = declared("graph.dataset.sampled.PER_CLASS")
_LARGE = "Large datasets"
Command = TypeVar("Command", bound=Callable[..., None])


def _takes_reader_options(command: Command) -> Command:
    """Have a command take each field of `ReadOptions`, as it is declared, in place of keywords.

    Options without a group come before those in groups.
    """
    own = signature(command).parameters.values()
    options = [
        each.replace(kind=Parameter.KEYWORD_ONLY)
        for each in own
        if each.kind is not Parameter.VAR_KEYWORD
    ]
    unset = ReadOptions()
    for name, (kind, said) in declared_options().items():
        option = typer.Option(
            *(["--assign-split"] if name == "split" else []),
            metavar=said.metavar,
            help=said.help,
            rich_help_panel=said.group or None,
            min=1 if kind is int else None,
        )
        default = None if name in _TYPED else getattr(unset, name)
        typed: Any = Annotated[_TYPED.get(name, kind), option]
        options.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=typed))
    options.sort(
        key=lambda each: bool(getattr(get_args(each.annotation)[1], "rich_help_panel", None))
    )
    command.__signature__ = Signature(options)  # type: ignore[attr-defined]
    return command


_TYPED: dict[str, Any] = {
    "concept_columns": str | None,
    "vocabulary": Path | None,
    **dict.fromkeys(
        ("class_category", "rename_class", "keep_class", "keep_split", "field", "names"),
        list[str] | None,
    ),
    "join": list[Path] | None,
}
"""Options that are typed otherwise than `ReadOptions` has them."""


def _read_options(given: dict[str, Any]) -> ReadOptions:
    """Make `ReadOptions` of the command's options."""
    columns = given["concept_columns"]
    return ReadOptions(
        **given
        | {
            "concept_columns": tuple(columns.split(",")) if columns else (),
            "class_category": pairs(given["class_category"] or ()),
            "rename_class": pairs(given["rename_class"] or (), needs_value=True),
            "field": pairs(given["field"] or (), needs_value=True),
            "names": code_names(given["names"] or (), code_files.read_code_names),
            "keep_class": tuple(given["keep_class"] or ()),
            "keep_split": tuple(given["keep_split"] or ()),
            "join": tuple(given["join"] or ()),
        }
    )


@_takes_reader_options
def ingest(
    file: Annotated[
        str,
        typer.Argument(
            help="File, folder or archive with annotations, or hf://datasets/owner/name; "
            "for Spark, Parquet at any address.",
            show_default=False,
        ),
    ],
    dataset: Annotated[DatasetOption, "The dataset to load into. Default: the file's name."] = None,
    input_format: Annotated[str | None, f"Format, when its detection is wrong: {_FORMATS}."] = None,
    if_exists: Annotated[
        Literal["fail", "append", "replace"],
        "Of another source than the dataset's images: refuse, add to them, or, of any "
        "source, delete those that FILE lacks.",
    ] = "fail",
    dry_run: Annotated[bool, "Say what the columns of FILE become, and load nothing."] = False,
    keep_images: Annotated[
        Literal["all", "sample"],
        typer.Option(rich_help_panel=_LARGE),
        "Keep all images in the graph, or all counts and a sample of the images.",
    ] = "all",
    sample: Annotated[
        int,
        typer.Option(min=1, rich_help_panel=_LARGE),
        "Images of each clique and class in a sample.",
    ] = PER_CLASS,
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed, of the sample.", rich_help_panel=_LARGE)
    ] = 0,
    engine: Annotated[
        Literal["memory", "spark"],
        typer.Option(rich_help_panel=_LARGE),
        "Where to count: here, or on Apache Spark, which leaves the images in their Parquet files.",
    ] = "memory",
    master: Annotated[
        str | None,
        typer.Option(rich_help_panel=_LARGE),
        "Spark's master, such as local[4]; by default all cores here.",
    ] = None,
    **reading: Any,
) -> None:
    """Load annotations into a dataset's concept graph.

    The whole file is read and checked before anything is written. Loading it again changes
    nothing, a changed version of it brings its images up to date, and an interrupted load goes on.
    Another file is added to the images of a dataset only with --if-exists append, and takes their
    place only with --if-exists replace. It is another if no image has an id that the dataset knows,
    or if its name differs and it says something else of more than a tenth of those.

    Image files are looked for beside FILE, in `images` there and in COBALANCE_IMAGES; a folder
    beside FILE that has them is kept as the dataset's own, in which no other dataset's are looked
    for.

    With --keep-images sample the graph keeps every count, and of the images a few of each clique,
    which `cobalance mine` chooses: a million images then load in seconds. What takes all images,
    such as export and jobs that edit images, needs --keep-images all.
    """
    options = _read_options(reading)
    if dataset is not None:
        states.check_name(dataset)
    name = loading.default_dataset_name(file) if dataset is None else dataset
    kept = sampled.Sample(sample, seed) if keep_images == "sample" else None
    if engine == "spark" and dry_run:
        raise OptionError("--dry-run reads files here. Leave out --engine spark.")
    path = Path(file)
    if engine == "spark":
        options = saved.with_saved(path, options)
        _check_spark_options(options, kept, input_format)
        with opened_store() as (store, progress):
            report, said = spark.load_with_spark(
                *(store, name, file, options, kept or sampled.Sample()),
                if_exists=if_exists,
                master=master,
                progress=progress,
            )
            for note in said:
                notes.print(f"Note: {note}")
            _save_choices(path, reading, options)
            told = "Images: files are not looked for where Spark counts."
            _tell(name, file, report, states.dataset_state(store, name), told)
        return
    with progress_bars() as progress, collector_paused():
        path = hub.local_path(file, progress)
        name = loading.default_dataset_name(path) if dataset is None else dataset
        if reading["field"] or reading["names"]:
            options = saved.with_saved(path, options)
        annotations = load.read_annotations(path, options, input_format, progress)
    print_reader_notes(annotations)
    if dry_run:
        tables.TableOutput().write(report_words.fields_table(annotations.fields), whole=True)
        notes.print(f"{inflect(len(annotations.images), 'images')}; nothing is loaded.")
        return
    places = folders()
    with opened_store() as (store, progress):
        gc.freeze()  # what was read is not walked again and again: a quarter of a load
        report = loading.load_dataset(
            store,
            places,
            name,
            annotations,
            kept,
            source=path.name,
            if_exists=if_exists,
            progress=progress,
        )
        append = if_exists == "append"
        found = image_places.find_images(
            places, name, annotations, path, append=append, progress=progress
        )
        told = render(found.describe(), in_shell)
        _save_choices(path, reading, options)
        _tell(name, path.name, report, states.dataset_state(store, name), told)


def _save_choices(path: Path, given: dict[str, Any], options: ReadOptions) -> None:
    if (given["field"] or given["names"]) and (file := saved.save_choices(path, options)):
        notes.print(f"{file.name} keeps what columns become for the next load.")


def _check_spark_options(
    options: ReadOptions, kept: "sampled.Sample | None", input_format: str | None
) -> None:
    if kept is None:
        raise OptionError(
            "--engine spark leaves the images in their files. Give --keep-images sample with it."
        )
    unset: dict[str, Any] = {name: getattr(ReadOptions(), name) for name in spark.READ}
    clusters = "{cluster}" in (options.path_pattern or "")
    if input_format is not None or clusters or changed(options, **unset) != ReadOptions():
        raise OptionError(
            "--engine spark reads Parquet files: with it go options for the columns of id, class, "
            "concepts, split and uri, --delimiter, --path-pattern, --field and --names; none for "
            "files to join, clusters or what to keep."
        )


def _tell(
    name: str, file: str, report: "write.IngestReport", state: "states.DatasetState", images: str
) -> None:
    """Print the changes of a load, and the next command."""
    notes.print(loading.describe_load(name, report))
    notes.print(images)
    if report.kept:
        notes.print(
            f"{name} keeps {inflect(report.kept, 'images')} not in {file}, which "
            "--if-exists replace would delete."
        )
    following = "imbalances" if state.is_mined else "mine"
    notes.print(f"Next: cobalance {following} {quote(name)}")


_SHOWN = 5  # messages of skipped records


def print_reader_notes(annotations: "records.Annotations") -> None:
    """Print the reader's notes, skipped records, and images set aside."""
    for note in annotations.notes:
        notes.print(f"Note: {note}")
    if annotations.skipped:
        some = len(annotations.skipped)
        notes.print(f"Skipped {inflect(some, 'malformed records')}:")
        for message in annotations.skipped[:_SHOWN]:
            said = (
                message.error.render(in_shell)
                if isinstance(message, problems.SkippedRecord)
                else message
            )
            notes.print(f"  {said}")
        if some > _SHOWN:
            notes.print(f"  ... and {some - _SHOWN:,} more.")
    for reason, images in annotations.set_aside.items():
        notes.print(f"Set aside {images:,}: {reason}.")
