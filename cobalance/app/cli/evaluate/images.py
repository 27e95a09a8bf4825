"""`cobalance evaluate artefact` and `cam`: what a model makes of edited images, where it looks."""

from typing import Annotated

import typer

from cobalance.app.cli.shared.ids import EvaluationId, JobId
from cobalance.app.cli.shared.options import FormatOption, OutputOption, notes, opened_store, out
from cobalance.app.cli.shared.tables import Format, check_output, write_frame
from cobalance.graph.errors import needs_extra
from cobalance.graph.wording import inflect
from cobalance.workflows.settings import Settings


def artefact(
    evaluation: EvaluationId,
    job: JobId,
    first: Annotated[
        str,
        typer.Option(help="One of the two predicted groups, such as man. Not needed for two."),
    ] = "",
    second: Annotated[str, typer.Option(help="The other, such as woman.")] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of the interval's bootstrap.")] = 0,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Predict test images and a job's edits of them: a model that shifts sees the painter's traces.

    The job paints regions of test images anew with their own captions: `cobalance plan-edits
    DATASET --recipe resampled-control`, then `enqueue` with any backend, and `work`. Scores are
    kept.
    """
    check_output(format_, output)
    with needs_extra("Predicting images", "evaluate"):
        from cobalance.workflows.evaluate.artefacts import run_artefact_test
    with opened_store() as (store, progress):
        done = run_artefact_test(
            store,
            Settings.from_environment().folders(),
            evaluation,
            job,
            first,
            second,
            seed=seed,
            progress=progress,
        )
    frame = done.scores.drop(columns=["method", "seed"])
    write_frame(frame, format_, output, out)
    notes.print(f"Of {inflect(len(done.edited), 'test images')} that were edited.", markup=False)


def cam(
    evaluation: EvaluationId,
    images: Annotated[
        int, typer.Option("--images", "-n", min=1, help="Test images to map, drawn at random.")
    ] = 200,
    objects: Annotated[
        list[str] | None,
        typer.Option(
            "--object",
            help="A concept whose regions are the object, or * for any. Repeat it. Default: the "
            "class's own name.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Map where a network sees each image's class (GradCAM), and how much of it is on the object.

    The page Evaluate shows the kept maps. A large object has much of a map by itself: compare
    cam_energy with mask_share, its area.
    """
    check_output(format_, output)
    with needs_extra("Class activation maps", "train"):
        from cobalance.workflows.evaluate.maps import map_activations
    with opened_store() as (store, progress):
        done = map_activations(
            store,
            Settings.from_environment().folders(),
            evaluation,
            most=images,
            objects=tuple(objects or ()),
            seed=seed,
            progress=progress,
        )
    write_frame(done.scores.drop(columns=["method", "seed"]), format_, output, out)
    if done.without_regions:
        notes.print(
            f"{inflect(done.without_regions, 'images')} of {len(done.images):,} have no regions of "
            "their object, and no share. Name it with --object.",
            markup=False,
        )
