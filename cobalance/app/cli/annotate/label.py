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
    open_chat,
    read_endpoint,
)
from cobalance.app.cli.shared.assignments import assigned
from cobalance.app.cli.shared.declared import listed
from cobalance.app.cli.shared.options import Count, DatasetName, Name, cleaned
from cobalance.app.cli.shared.stores import environment, folders, opened_store, output_folder
from cobalance.app.cli.shared.terminal import notes, out
from cobalance.base import plugins
from cobalance.base.errors import OptionError, needs_extra
from cobalance.base.installation import install_command
from cobalance.base.plurals import inflect
from cobalance.graph.annotations import runs as label_runs
from cobalance.workflows.label import extract as extracting, order as label_orders


def label(
    dataset: DatasetName,
    annotator: Annotated[str, f"The annotator: {listed('annotation.annotators.ANNOTATORS')}."],
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
        typer.Option(callback=cleaned),
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
    endpoint = None
    if url is not None:
        if key_file is not None:
            key_file = key_file.resolve()
            endpoint_settings.read_key(key_file)
        more: dict[str, object] = {"send_images": send_images, "at_once": at_once}
        endpoint = read_endpoint(url, model, key_file, timeout, **more)
    elif model is not None or key_file is not None or send_images:
        raise OptionError(
            "--model, --key-file and --send-images are for a model at an address. Give it with "
            "--url; a model that runs here is named by --set model=FOLDER."
        )
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
    if here:
        with needs_extra("Labelling images", "worker"):
            from cobalance.workflows.work.run import run_here
    folder = output_folder()
    with opened_store() as (store, progress):
        run = label_orders.order_labels(store, folder, order)
        out.print(run)
        found = label_runs.read_run(store, run)
        if order.endpoint is not None:
            asked = label_settings.LabelSettings.read(found.settings)
            calls = asked.images * (len(asked.texts) if annotator == "vlm" else 1)
            notes.print(
                f"{inflect(calls, 'questions')} with an image will be sent to "
                f"{order.endpoint.host}, at most {at_once} at once."
            )
        if here:
            settings = environment()
            tasks = [f"{run}-{at}" for at in range(found.chunks)]
            run_here(settings, tasks, settings.queue_url(), progress)
            found = label_runs.read_run(store, run)
    if here and found.state != "done":
        notes.print(f"The run is {found.state}. {found.error}")
        raise typer.Exit(1)
    if here:
        notes.print(f"The run is done. What it finds: cobalance annotate runs {run}")
        notes.print(f"Make it count: cobalance annotate accept {run}")
        return
    notes.print(
        f"{inflect(found.chunks, 'chunks')} ordered. Label them: cobalance work --until-idle; "
        f"then: cobalance annotate runs {run}"
    )
    extra = "annotate" if url is not None else annotators.ANNOTATORS[annotator].extra or "worker"
    if not plugins.is_installed(extra):
        notes.print(f"Workers need it installed: {install_command(extra)}")


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
        at_once = 1 if local else at_once
        done = extracting.extract_concepts(
            store,
            folder,
            chat,
            dataset,
            captions,
            limit=max_images,
            at_once=at_once,
            progress=progress,
        )
    out.print(done.run)
    notes.print(
        f"{inflect(done.concepts, 'concepts')} in captions of {inflect(done.images, 'images')}. "
        f"{done.usage.describe()}"
    )
    total = done.mentions + done.inferred
    if done.inferred:
        notes.print(
            f"Inferred and left out, as their captions do not name them: {done.inferred:,} of "
            f"{total:,}, such as {', '.join(done.examples)}."
        )
    notes.print(f"Make it count: cobalance annotate accept {done.run}")
