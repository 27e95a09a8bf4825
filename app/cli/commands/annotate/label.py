"""`cobalance annotate label`: have a model label a dataset's images."""

from typing import Annotated

import typer

from app.cli.annotations import output_folder
from app.cli.common import DatasetName, assignments_option, cleaned, notes, opened_store, out
from app.cli.job_settings import assigned
from app.settings import Settings
from graph.annotations.runs import read_run
from graph.errors import needs_extra
from graph.names import clean_name
from graph.plugins import is_installed
from ingest.annotators import ANNOTATORS
from ingest.concepts.plurals import counted


def _names(names: list[str] | None) -> list[str]:
    return [clean_name(name) for name in names or []]


def label(
    dataset: DatasetName,
    annotator: Annotated[
        str, typer.Option("--with", help=f"The annotator: {', '.join(ANNOTATORS)}.")
    ],
    setting: Annotated[
        list[str] | None,
        assignments_option("--set", "An option of the annotator, such as model=FOLDER."),
    ] = None,
    level: Annotated[
        str,
        typer.Option(
            help="The attributes to look for: image, told from the whole image, or object."
        ),
    ] = "image",
    base: Annotated[
        str,
        typer.Option(
            help='The caption that names the domain alone, such as "a photo of a bird": an '
            "attribute of the whole image is present where it fits better."
        ),
    ] = "",
    concept: Annotated[
        list[str] | None,
        typer.Option(
            help="Look for this concept instead of the accepted attributes. Repeat it.",
            callback=_names,
        ),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="When an attribute is present: base, above the base caption, or threshold. "
            "Default: base for images, threshold for objects."
        ),
    ] = None,
    multi: Annotated[
        bool,
        typer.Option("--multi", help="Every attribute above the base caption, not the best alone."),
    ] = False,
    threshold: Annotated[float, typer.Option(help="The lowest score that counts.")] = 0.3,
    split: Annotated[
        str | None, typer.Option(help="Only images of this split.", callback=cleaned)
    ] = None,
    chunk: Annotated[int, typer.Option(min=1, help="Images that a worker takes at once.")] = 1000,
    here: Annotated[
        bool, typer.Option("--here", help="Label them now, in this process, until it has ended.")
    ] = False,
) -> None:
    """Have a model label a dataset's images with its accepted attributes, or with concepts.

    Workers score the images in chunks; every score is kept. Nothing counts before `cobalance
    annotate accept`. Print the run's id.
    """
    from app.services.annotations.labelling import LabelOrder, order_labels

    order = LabelOrder(
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
    )
    if here:
        with needs_extra("Labelling images", "worker"):
            from app.services.workers import run_here
    folder = output_folder()
    with opened_store() as (store, progress):
        run = order_labels(store, folder, order)
        out.print(run, markup=False)
        if here:
            settings = Settings.from_environment()
            tasks = [f"{run}-{at}" for at in range(read_run(store, run).chunks)]
            run_here(settings, tasks, settings.queue_url(), progress)
            found = read_run(store, run)
            if found.error:
                notes.print(found.error, markup=False)
                raise typer.Exit(1)
        else:
            found = read_run(store, run)
    extra = ANNOTATORS[annotator].extra or "worker"
    if here:
        notes.print(f"The run is {found.state}. What it finds: cobalance annotate runs {run}")
        notes.print(f"Make it count: cobalance annotate accept {run}", markup=False)
        return
    notes.print(
        f"{counted(found.chunks, 'chunks')} ordered. Label them: cobalance work --until-idle; "
        f"then: cobalance annotate runs {run}",
        markup=False,
    )
    if not is_installed(extra):
        notes.print(f'Workers need it installed: pip install "cobalance[{extra}]"', markup=False)
