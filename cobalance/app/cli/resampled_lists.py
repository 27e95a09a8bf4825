"""`cobalance plan --planner over-sampling`: lists of images for a trainer."""

from collections.abc import Mapping
from pathlib import Path

from cobalance.app.cli.common import notes, opened_store, out
from cobalance.app.cli.tables import Format, write_frame
from cobalance.generation.planning.plan import PlanOptions
from cobalance.graph.errors import OptionError
from cobalance.workflows.plan.resample import resample_dataset


def write_list(
    dataset: str,
    baseline: str,
    options: PlanOptions,
    seed: int,
    others: Mapping[str, object],
    format_: Format,
    output: Path | None,
) -> None:
    """Write the images as a baseline takes them, or as a table what that does.

    Parameters
    ----------
    others : mapping
        Options of planners by flag, with None for those that were not given.

    Raises
    ------
    OptionError
        One of them was given.
    """
    given = [flag for flag, value in others.items() if value is not None]
    if given:
        raise OptionError(
            f"{given[0]} is of planners that ask for images, and {baseline} makes none. Leave it "
            "out."
        )
    with opened_store() as (store, progress):
        found = resample_dataset(store, dataset, baseline, options, seed, progress)
    if format_ is not Format.TABLE or output is not None:
        write_frame(found.images, format_, output, out)
    else:
        columns = ["dataset", "imbalanced", "remaining", "gap_before", "gap_after", "widened"]
        write_frame(found.effect[columns].reset_index(), format_, None, out)
        notes.print("The list of images: add -f csv -o FILE.", markup=False)
    splits = sorted({name for name in found.images["split"] if name is not None})
    if len(splits) > 1:
        notes.print(
            f"The images are of the splits {', '.join(splits)} together. Mine one with --split "
            "for a list of that alone.",
            markup=False,
        )
