"""`cobalance ingest`: load an annotation file into a dataset."""

import gc
from collections.abc import Callable
from dataclasses import replace as changed
from inspect import Parameter, Signature, signature
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Literal, TypeVar, get_args

import typer

from cobalance.app.cli.shared import (
    DatasetOption,
    collector_paused,
    folders,
    in_shell,
    notes,
    opened_store,
    progress_bars,
    tables,
)
from cobalance.base import OptionError, inflect, records, render
from cobalance.graph import PER_CLASS
from cobalance.graph.dataset import state as states, write
from cobalance.ingest import (
    FORMATS,
    ReadOptions,
    code_names,
    declared_options,
    hub,
    load,
    pairs,
    problems,
)
from cobalance.ingest.fields import code_files, report as report_words, saved
from cobalance.workflows.in_files import loading as in_files
from cobalance.workflows.load import dataset as loading, image_places
from cobalance.workflows.record import reading, stored

_LARGE = "Large datasets"
Command = TypeVar("Command", bound=Callable[..., None])


def _takes_reader_options(command: Command) -> Command:
    """Have a command take each field of `ReadOptions`, as it is declared, in place of keywords.

    Options without a group come before those in groups.
    """
    parameters = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for parameter in signature(command).parameters.values()
        if parameter.kind is not Parameter.VAR_KEYWORD
    ]
    defaults = ReadOptions()
    for name, (kind, wording) in declared_options().items():
        # --split chooses among the images of a dataset; this one gives images a split.
        flags = ["--assign-split"] if name == "split" else []
        option = typer.Option(
            *flags,
            metavar=wording.metavar,
            help=wording.help,
            rich_help_panel=wording.group or None,
            min=1 if kind is int else None,
        )

        typed: Any = Annotated[_TYPED.get(name, kind), option]
        default = None if name in _TYPED else getattr(defaults, name)
        parameters.append(
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=typed)
        )

    # A stable sort: within their groups options stay in the order in which they are declared.
    parameters.sort(key=_is_in_group)
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def _is_in_group(parameter: Parameter) -> bool:
    option = get_args(parameter.annotation)[1]
    return bool(getattr(option, "rich_help_panel", None))


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


def _read_options(options: dict[str, Any]) -> ReadOptions:
    """Make `ReadOptions` of the command's options."""
    columns = options["concept_columns"]
    typed_otherwise = {
        "concept_columns": tuple(columns.split(",")) if columns else (),
        "class_category": pairs(options["class_category"] or ()),
        "rename_class": pairs(options["rename_class"] or (), needs_value=True),
        "field": pairs(options["field"] or (), needs_value=True),
        "names": code_names(options["names"] or (), code_files.read_code_names),
        "keep_class": tuple(options["keep_class"] or ()),
        "keep_split": tuple(options["keep_split"] or ()),
        "join": tuple(options["join"] or ()),
    }

    return ReadOptions(**options | typed_otherwise)


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
    input_format: Annotated[
        str | None, f"Format, when its detection is wrong: {', '.join(FORMATS)}."
    ] = None,
    if_exists: Annotated[
        Literal["fail", "append", "replace"],
        "Of another source than the dataset's images: refuse, add to them, or, of any "
        "source, delete those that FILE lacks.",
    ] = "fail",
    counts: Annotated[
        bool, "FILE is a bias record: load its counts as a mined dataset, without images."
    ] = False,
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
        Literal["memory", "out-of-core", "spark"],
        typer.Option(rich_help_panel=_LARGE),
        "Where to count: in memory, out of core, or on Apache Spark; but for memory, images stay "
        "in their Parquet files.",
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
    name = dataset or loading.default_dataset_name(file)
    chosen_sample = states.Sample(sample, seed) if keep_images == "sample" else None
    if counts:
        reads_images = options != ReadOptions() or input_format is not None or engine != "memory"
        if reads_images or dry_run or chosen_sample is not None:
            raise OptionError(
                "--counts loads a bias record as it is. Of the other options it takes --dataset "
                "and --if-exists alone."
            )
        _load_counts(Path(file), dataset, if_exists)
        return

    if engine != "memory":
        if dry_run:
            raise OptionError(f"--dry-run reads files in memory. Leave out --engine {engine}.")
        options = saved.with_saved(Path(file), options)
        chosen_sample = _check_options_in_files(engine, options, chosen_sample, input_format)
        _load_in_files(engine, name, file, options, chosen_sample, if_exists, master)
        _save_choices(Path(file), reading, options)
        return

    with progress_bars() as progress, collector_paused():
        path = hub.local_path(file, progress)
        # A file of the hub has its name only now.
        name = dataset or loading.default_dataset_name(path)
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
        # The collector does not walk the annotations again and again: a quarter of a load's time.
        gc.freeze()
        report = loading.load_dataset(
            store,
            places,
            name,
            annotations,
            chosen_sample,
            source=path.name,
            if_exists=if_exists,
            progress=progress,
        )
        located = image_places.find_images(
            places, name, annotations, path, append=if_exists == "append", progress=progress
        )
        images = render(located.describe(), in_shell)
        _save_choices(path, reading, options)
        _print_load(name, path.name, report, states.dataset_state(store, name), images)


def _load_counts(
    file: Path, dataset: str | None, if_exists: Literal["fail", "append", "replace"]
) -> None:
    """Load the counts of a bias record, and print what the dataset has."""
    examined = reading.read_record(file)
    name = dataset or examined.name
    states.check_name(name)
    with opened_store() as (store, progress):
        stored.load_record(
            store, name, examined, source=file.name, if_exists=if_exists, progress=progress
        )
    n_images = inflect(examined.n_images, "images")
    notes.print(
        f"{name}: counts of {n_images}, in {inflect(len(examined.cliques), 'combinations')}."
    )
    notes.print(f"Next: cobalance imbalances {quote(name)}")


def _load_in_files(
    engine: str,
    name: str,
    file: str,
    options: ReadOptions,
    sample: "states.Sample",
    if_exists: Literal["fail", "append", "replace"],
    master: str | None,
) -> None:
    """Load the counts of Parquet files, whose images stay there, and print the changes."""
    with opened_store() as (store, progress):
        report, remarks = in_files.load_files(
            store,
            name,
            file,
            options,
            sample,
            engine=engine,
            if_exists=if_exists,
            master=master,
            progress=progress,
        )
        for remark in remarks:
            notes.print(f"Note: {remark}")
        images = "Images: files are not looked for, as images stay in the Parquet files."
        _print_load(name, file, report, states.dataset_state(store, name), images)


def _save_choices(path: Path, reading: dict[str, Any], options: ReadOptions) -> None:
    if (reading["field"] or reading["names"]) and (file := saved.save_choices(path, options)):
        notes.print(f"{file.name} keeps what columns become for the next load.")


def _check_options_in_files(
    engine: str, options: ReadOptions, sample: "states.Sample | None", input_format: str | None
) -> "states.Sample":
    """The sample to keep; OptionError for options that no load has where images stay in files."""
    if sample is None:
        raise OptionError(
            f"--engine {engine} leaves the images in their files. Give --keep-images sample with "
            "it."
        )

    unset: dict[str, Any] = {name: getattr(ReadOptions(), name) for name in in_files.READ}
    has_others = changed(options, **unset) != ReadOptions()
    if input_format is not None or "{cluster}" in (options.path_pattern or "") or has_others:
        raise OptionError(
            f"--engine {engine} reads Parquet files: with it go options for the columns of id, "
            "class, concepts, split and uri, --delimiter, --path-pattern, --field and --names; "
            "none for files to join, clusters or what to keep."
        )
    return sample


def _print_load(
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

    next_command = "imbalances" if state.is_mined else "mine"
    notes.print(f"Next: cobalance {next_command} {quote(name)}")


_SHOWN = 5


def print_reader_notes(annotations: "records.Annotations") -> None:
    """Print the reader's notes, the first skipped records, and images set aside."""
    for note in annotations.notes:
        notes.print(f"Note: {note}")

    if annotations.skipped:
        skipped = len(annotations.skipped)
        notes.print(f"Skipped {inflect(skipped, 'malformed records')}:")
        for message in annotations.skipped[:_SHOWN]:
            # A record that was skipped for an error names its remedy in the words of the shell.
            if isinstance(message, problems.SkippedRecord):
                notes.print(f"  {message.error.render(in_shell)}")
            else:
                notes.print(f"  {message}")
        if skipped > _SHOWN:
            notes.print(f"  ... and {skipped - _SHOWN:,} more.")

    for reason, images in annotations.set_aside.items():
        notes.print(f"Set aside {images:,}: {reason}.")
