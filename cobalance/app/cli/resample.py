"""`cobalance resample`: a list of the real images that repeats, drops or weights them."""

from typing import Annotated

import typer

from cobalance.app.cli.plan import MaxSize, MinSize
from cobalance.app.cli.shared import Count, DatasetName, TableOutput, notes, opened_store
from cobalance.generation.planning import plan as plans
from cobalance.workflows.plan import resample as resampling


def resample(
    to: TableOutput,
    dataset: DatasetName,
    how: Annotated[
        str,
        typer.Argument(
            help="`over-sampling` repeats images of smaller groups, `sub-sampling` drops images "
            "of larger ones, `weights` weighs all, `pruning` drops the images that lean most."
        ),
    ],
    min_size: MinSize = None,
    max_size: MaxSize = None,
    max_images: Annotated[Count, "Most images: those pruned. Default: a tenth."] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed, of the images that are repeated or dropped.")
    ] = 0,
) -> None:
    """Repeat, drop or weight real images instead of making new ones, and show the effect on gaps.

    In every other format this writes the list of images, for a trainer.
    """
    options = plans.PlanOptions(min_size, max_size, budget=max_images)
    with opened_store() as (store, progress):
        images, effect = resampling.resample_dataset(store, dataset, how, options, seed, progress)

    if not to.is_shown:
        to.write(images)
    else:
        columns = ["dataset", "leaning_before", "leaning", "difference_before", "difference"]
        columns += ["imbalanced", "remaining", "gap_before", "gap_after", "widened"]
        to.write(effect[columns].reset_index())
        notes.print("The list of images: add -f csv -o FILE.")

    splits = sorted({name for name in images["split"] if name is not None})
    if len(splits) > 1:
        notes.print(
            f"The images are of the splits {', '.join(splits)} together. Mine one with --split "
            "for a list of that alone."
        )
