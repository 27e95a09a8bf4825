"""`cobalance properties`: which properties of image files tell the classes apart."""

from typing import Annotated

import typer

from cobalance.app.cli.embeddings import run_or_announce
from cobalance.app.cli.shared import DatasetName, TableOutput, folders, notes, opened_store
from cobalance.workflows import properties as workflow


def properties(
    to: TableOutput,
    dataset: DatasetName,
    measure: Annotated[
        bool, typer.Option("--by-worker", help="Have a worker measure the files; print the task.")
    ] = False,
    here: Annotated[bool, "Work now, in this process: measure them."] = False,
    concept: Annotated[
        list[str] | None,
        typer.Option("--as-concept", metavar="PROPERTY"),
        "Have images show this property as concepts, no others; repeat it. all or none.",
    ] = None,
    extremes: Annotated[
        str | None,
        typer.Option(metavar="PROPERTY", help="List each class's images with the least and most."),
    ] = None,
) -> None:
    """List how far brightness, sharpness, file type and the like tell the classes apart.

    The image files are measured first, and again where images have come since.
    """
    with opened_store() as (store, progress):
        if measure or here:
            task = workflow.order_properties(store, dataset)
            run_or_announce(store, task, progress, here=here)
            if not here:
                return

        if concept:
            names = {"all": workflow.PROPERTIES, "none": ()}.get(concept[0], tuple(concept))
            workflow.show_properties(store, folders(), dataset, names, progress)
            notes.print(f"Count them: cobalance mine {dataset}")

        images = workflow.read_properties(store, folders(), dataset)

    if extremes is not None:
        frame = workflow.extreme_images(images, extremes)
    else:
        frame = workflow.compare_classes(images)
    to.write(frame, spare=("p_value", "in_others"))
