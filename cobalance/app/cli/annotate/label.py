"""`cobalance annotate label` and `extract`: have models label images, or read captions."""

from pathlib import Path
from typing import Annotated

import typer

from cobalance.annotation import annotators
from cobalance.annotation.labelling import settings as label_settings
from cobalance.annotation.language import endpoint_settings
from cobalance.app.cli.annotate.propose import (
    AtOnceOption,
    KeyFileOption,
    LocalOption,
    ModelOption,
    SettingOption,
    TimeoutOption,
    UrlOption,
    at_a_time,
    open_chat,
    read_endpoint,
)
from cobalance.app.cli.shared import (
    Count,
    DatasetName,
    Name,
    assigned,
    clean_names,
    folders,
    notes,
    opened_store,
    out,
    output_folder,
    read_environment,
)
from cobalance.base import OptionError, inflect, install_command, needs_extra, plugins
from cobalance.graph.annotations import runs as label_runs
from cobalance.workflows.label import extract as extracting, order as label_orders


def label(
    dataset: DatasetName,
    annotator: Annotated[str, f"The annotator: {', '.join(annotators.ANNOTATORS)}."],
    setting: SettingOption = None,
    level: Annotated[
        str, "The attributes to look for: image, told from the whole image, or object."
    ] = "image",
    base: Annotated[
        str,
        'The caption that names the domain alone, such as "a photo of a bird": an '
        "attribute of the whole image is present where it fits better.",
    ] = "",
    concept: Annotated[
        list[str] | None,
        typer.Option(callback=clean_names),
        "Only this concept, in place of the accepted attributes. Repeat it.",
    ] = None,
    rule: Annotated[
        str | None,
        "When an attribute is present: base, above the base caption, or threshold. "
        "Default: base for images, threshold for objects.",
    ] = None,
    multi: Annotated[
        bool, "Count every attribute that scores above the base caption, not the best alone."
    ] = False,
    threshold: Annotated[float, "The lowest score that counts."] = 0.3,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL"),
        "Ask the model at this OpenAI-compatible address, such as http://127.0.0.1:8000/v1, by vlm "
        "or captions. All images go there: see --send-images.",
    ] = None,
    model: Annotated[
        str | None, "The model: its name at the address; for one here see --set."
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE"),
        "A file with the key of the address. Workers read it at the same path.",
    ] = None,
    timeout: TimeoutOption = 120.0,
    send_images: Annotated[bool, "Images may leave the machine for the address."] = False,
    at_once: Annotated[
        int, typer.Option(min=1, max=64, help="Questions that an address gets at a time.")
    ] = 4,
    split: Annotated[Name, "Only images of this split."] = None,
    chunk: Annotated[int, typer.Option(min=1, help="Images that a worker takes at once.")] = 1000,
    here: Annotated[bool, "Work now, in this process, until the run has ended."] = False,
) -> None:
    """Have a model label a dataset's images with its accepted attributes, or with concepts.

    Workers score the images in chunks; every score is kept. Nothing counts before `cobalance
    annotate accept`. Print the run's id.
    """
    endpoint = _read_endpoint(url, model, key_file, timeout, send_images, at_once)
    order = label_orders.LabelOrder(
        dataset=dataset,
        annotator=annotator,
        options=assigned(setting),
        level=level,
        base=base,
        concepts=tuple(concept or ()),
        rule=rule,
        multi=multi,
        threshold=threshold,
        split=split,
        chunk_images=chunk,
        endpoint=endpoint,
    )
    # Packages that are missing stop the command before anything is ordered.
    if here:
        with needs_extra("Labelling images", "worker"):
            from cobalance.workflows import run_here

    folder = output_folder()
    with opened_store() as (store, progress):
        run = label_orders.order_labels(store, folder, order)
        out.print(run)
        ordered = label_runs.read_run(store, run)
        if endpoint is not None:
            _note_questions(ordered, annotator, endpoint.host, at_once)
        if here:
            settings = read_environment()
            chunks = [f"{run}-{chunk_number}" for chunk_number in range(ordered.chunks)]
            run_here(settings, chunks, settings.queue_url(), progress)
            ordered = label_runs.read_run(store, run)

    if not here:
        notes.print(
            f"{inflect(ordered.chunks, 'chunks')} ordered. Label them: cobalance work "
            f"--until-idle; then: cobalance annotate runs {run}"
        )
        extra = annotators.ANNOTATORS[annotator].extra or "worker"
        if url is not None:
            extra = "annotate"
        if not plugins.is_installed(extra):
            notes.print(f"Workers need the extra {extra}: {install_command(extra)}")
        return
    if ordered.state != "done":
        notes.print(f"The run is {ordered.state}. {ordered.error}")
        raise typer.Exit(1)
    notes.print(f"The run is done. What it finds: cobalance annotate runs {run}")
    notes.print(f"Make it count: cobalance annotate accept {run}")


def _read_endpoint(
    url: str | None,
    model: str | None,
    key_file: Path | None,
    timeout: float,
    send_images: bool,
    at_once: int,
) -> "endpoint_settings.EndpointSettings | None":
    """The address of a model that gets images, checked; None for a model that runs here."""
    if url is None:
        if model is not None or key_file is not None or send_images:
            raise OptionError(
                "--model, --key-file and --send-images are for a model at an address. Give it with "
                "--url; a model that runs here is named by --set model=FOLDER."
            )
        return None

    if key_file is not None:
        # Workers open it by this path from other folders.
        key_file = key_file.resolve()
        endpoint_settings.read_key(key_file)
    return read_endpoint(url, model, key_file, timeout, send_images=send_images, at_once=at_once)


def _note_questions(
    run: "label_runs.AnnotationRun", annotator: str, host: str, at_once: int
) -> None:
    """Note how many images will leave the machine."""
    settings = label_settings.LabelSettings.read(run.settings)
    questions = settings.images
    # It asks of each image about each text, where others ask once.
    if annotator == "vlm":
        questions *= len(settings.texts)

    notes.print(
        f"{inflect(questions, 'questions')} with an image will be sent to "
        f"{host}, at most {at_once} at once."
    )


def extract(
    dataset: DatasetName,
    url: UrlOption = None,
    model: ModelOption = None,
    local: LocalOption = False,
    key_file: KeyFileOption = None,
    timeout: TimeoutOption = 120.0,
    at_once: AtOnceOption = 4,
    max_images: Annotated[Count, "Most images: the first, by id. Default: all."] = None,
) -> None:
    """Have a language model find concepts in the captions that were loaded with a dataset.

    A concept counts where its words stand in the caption; what the model infers is counted and
    left out. Every reply is kept, so that the same command again asks nothing twice. Nothing counts
    before `cobalance annotate accept`. Print the run's id.
    """
    folder = output_folder()
    captions = folders().captions
    chat = open_chat(url, model, key_file, timeout, local=local)
    with opened_store() as (store, progress):
        extraction = extracting.extract_concepts(
            store,
            folder,
            chat,
            dataset,
            captions,
            limit=max_images,
            at_once=at_a_time(at_once, local=local),
            progress=progress,
        )

    out.print(extraction.run)
    notes.print(
        f"{inflect(extraction.concepts, 'concepts')} in captions of "
        f"{inflect(extraction.images, 'images')}. {extraction.usage.describe()}"
    )
    if extraction.inferred:
        total = extraction.mentions + extraction.inferred
        notes.print(
            f"Inferred and left out, as their captions do not name them: {extraction.inferred:,} "
            f"of {total:,}, such as {', '.join(extraction.examples)}."
        )
    notes.print(f"Make it count: cobalance annotate accept {extraction.run}")
