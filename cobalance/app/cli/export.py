"""`cobalance rebalance` and `export`: use a job's accepted images."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Annotated, Literal

import typer

from cobalance.annotation import ANNOTATORS
from cobalance.app.cli.shared import (
    Assignments,
    JobId,
    assigned,
    clean_names,
    folders,
    given,
    notes,
    opened_store,
    out,
)
from cobalance.base import OptionError, Progress, inflect, needs_extra
from cobalance.generation import EXPORTERS, export as exports
from cobalance.graph.database import store as stores
from cobalance.graph.jobs import status as jobs
from cobalance.workflows import export as exporting, rebalance as rebalancing

_REAL = Annotated[
    Literal["all", "unedited", "none"] | None,
    "Of a job that edits images, which real images stay: all with the other groups beside "
    "them; unedited ones, with every group in place of the others; or none. Default: as the "
    "recipe's paper has it.",
]
_RECIPE = Annotated[
    str | None,
    "The recipe: of a job that edits images, take those that its paper takes. Default: "
    "the job's recipe.",
]
_SHARE = Annotated[
    float | None,
    typer.Option(min=0, max=1),
    "With --real unedited, the share of edited images that give way.",
]
_INCOMPLETE = Annotated[
    Literal["drop", "keep"] | None,
    "Edited images that lack a group: drop them with what was made of them, or keep what "
    "there is. Default: drop.",
]


def export(
    job: JobId,
    folder: Annotated[Path, typer.Argument(help="The folder to write.")],
    format_: Annotated[
        str, typer.Option("--as", help=f"The format: {', '.join(EXPORTERS)}.")
    ] = "folder",
    generated_only: Annotated[bool, "Without the real images."] = False,
    reference: Annotated[bool, "Name real images by their addresses; do not copy them."] = False,
    skip_missing: Annotated[bool, "Leave out images that cannot be read."] = False,
    overwrite: Annotated[bool, "Replace what is there: all in the folder."] = False,
    split: Annotated[
        str | None,
        typer.Option("--assign-split", callback=clean_names),
        "Split to give images: generated ones whose source image has none. Default: train, if any "
        "other image has a split.",
    ] = None,
    option: Annotated[
        Assignments,
        "An option of the format's own, such as shard_images=1000 of webdataset. Repeat it.",
    ] = None,
    recipe: _RECIPE = None,
    real: _REAL = None,
    share: _SHARE = None,
    incomplete: _INCOMPLETE = None,
) -> None:
    """Export the dataset with a job's accepted images for training, with a data card."""
    with needs_extra("Exporting images", "worker"):
        import fsspec  # noqa: F401
    format_options = assigned(option)
    exports.EXPORTERS.check(format_, format_options)

    options = exports.ExportOptions(
        reference=reference,
        skip_missing=skip_missing,
        overwrite=overwrite,
        split=split,
        format_options=format_options,
    )

    with _open_job(job) as (store, status, progress):
        report = exporting.export_job(
            store,
            folders(),
            status,
            format_,
            folder,
            options,
            real=not generated_only,
            result=given(recipe=recipe, real=real, share=share, incomplete=incomplete),
            progress=progress,
        )

    # Numbers of images are told even where there are none.
    counts = ", ".join(
        inflect(count, name)
        for name, count in report.counts.items()
        if count or name in ("real images", "generated images")
    )
    written = f"{inflect(report.files, 'files')}, {report.bytes:,} bytes"
    out.print(f"{folder}: {counts}; {written}.")


@contextmanager
def _open_job(job: str) -> "Iterator[tuple[stores.GraphStore, jobs.Job, Progress]]":
    """Open the store and read a job; note whether it is done, and its remarks."""
    with opened_store() as (store, progress):
        status = jobs.read_job(store, job)
        if status.state != "done":
            so_far = f"{status.covered:,} of {inflect(status.wanted, 'images')} so far."
            # Candidates are made before any of them is chosen.
            if status.is_active and status.best_of > 1:
                so_far += " {:,} of {:,} candidates are made.".format(*status.steps)
            notes.print(f"Job {status.id} is {status.state}: {so_far}")
        for remark in status.remarks:
            notes.print(remark)

        yield store, status, progress


def rebalance(
    job: JobId,
    into: Annotated[
        str | None, "The new dataset's name. Default: the old one's with -rebalanced."
    ] = None,
    annotator: Annotated[
        str | None,
        f"The annotator: {', '.join(ANNOTATORS)}. Take the "
        "concepts that it finds in the images, not those that they were made for.",
    ] = None,
    model: Annotated[
        str | None, "The model: a folder, or owner/name of the hub, of the annotator."
    ] = None,
    setting: Annotated[
        Assignments, "An option of the annotator, such as threshold=0.4. Repeat it."
    ] = None,
    recipe: _RECIPE = None,
    real: _REAL = None,
    share: _SHARE = None,
    incomplete: _INCOMPLETE = None,
) -> None:
    """Add a job's accepted images to a copy of its dataset, and mine that with the same options."""
    with needs_extra("Reading generated images", "worker"):
        import fsspec  # noqa: F401
    options = assigned(setting) | given(model=model)
    if options and annotator is None:
        raise OptionError("--model and --set are for an annotator. Name it with --annotator.")

    with _open_job(job) as (store, status, progress):
        merged = rebalancing.rebalance_job(
            store,
            folders(),
            status,
            into,
            annotator=annotator,
            annotator_options=options,
            result=given(recipe=recipe, real=real, share=share, incomplete=incomplete),
            progress=progress,
        )

    for remark in filter(None, (*merged.remarks, merged.counted)):
        notes.print(remark)
    real_images = "the images" if merged.real is None else inflect(merged.real, "images")
    notes.print(
        f"{merged.dataset}: {real_images} of {status.dataset} and "
        f"{inflect(merged.generated, 'generated ones')}.\n"
        f"Next: cobalance compare datasets {quote(status.dataset)} {quote(merged.dataset)}"
    )
