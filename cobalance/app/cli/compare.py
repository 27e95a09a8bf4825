"""`cobalance compare`: compare two datasets or splits, counts with published ones, or planners."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobalance.app.cli.plan import Budget, MaxPerQuery, MaxSize, MinSize
from cobalance.app.cli.shared import (
    Assignments,
    Count,
    DatasetName,
    LimitOption,
    TableOutput,
    assigned,
    clean_names,
    in_shell,
    note_limit,
    notes,
    opened_store,
    out,
)
from cobalance.base import OptionError, render
from cobalance.generation.planning import plan as plans, planners
from cobalance.graph.queries import comparison
from cobalance.statistics import MAX_Q_VALUE
from cobalance.workflows import compare, published as published_files
from cobalance.workflows.diagnose import mine as mining_flow
from cobalance.workflows.plan import compare as planner_comparison, proof

if TYPE_CHECKING:
    from cobalance.statistics import Measure

app = typer.Typer(no_args_is_help=True)


@app.command("datasets")
def compare_datasets(
    to: TableOutput,
    before: DatasetName,
    after: Annotated[
        str,
        typer.Argument(
            metavar="OTHER", help="The dataset to compare it with.", callback=clean_names
        ),
    ],
    min_size: Annotated[int, typer.Option(min=1, help="Smallest clique.")] = 1,
    max_size: Annotated[Count, "Largest clique. Default: as both were mined."] = None,
    counts: Annotated[
        bool | None,
        typer.Option(
            "--as-counts/--as-rates",
            help="Compare gaps in images, as ConBias counts, or what leans to a class beyond "
            "chance. Default: counts where a plan of counts made the other, else what leans.",
        ),
    ] = None,
    limit: LimitOption = 20,
) -> None:
    """Compare with another dataset, such as a rebalanced one: the largest changes first."""
    by: Measure | None = None
    if counts is not None:
        by = "counts" if counts else "rates"
    with opened_store() as (store, _):
        compared = proof.compare_datasets(
            store,
            before,
            after,
            by=by,
            min_size=min_size,
            max_size=max_size,
            limit=limit,
        )
        warnings = [
            warn(store, name)
            for name in dict.fromkeys((before, after))
            for warn in (mining_flow.warn_left_out, mining_flow.warn_waiting_tags)
        ]

    for note in filter(None, [*compared.notes, *warnings]):
        notes.print(render(note, in_shell))
    if not to.is_shown:
        to.write(compared.cliques)
    elif not compared.cliques.empty:
        to.write(compare.comparison_table(compared))
    # Below a table it is part of the result; beside CSV and the like it is a note.
    console = out if to.is_shown else notes
    console.print(compare.describe_comparison(compared))


@app.command("splits")
def compare_splits(
    to: TableOutput,
    dataset: DatasetName,
    first: Annotated[str, typer.Argument(metavar="SPLIT", help="Such as train.")],
    second: Annotated[str, typer.Argument(metavar="SPLIT", help="Such as val.")],
    max_size: Annotated[Count, "Largest clique. Default: as mined."] = None,
    max_q_value: Annotated[
        float, typer.Option("--max-q", help="Largest q-value: of an imbalance that holds.")
    ] = MAX_Q_VALUE,
    limit: LimitOption = 20,
) -> None:
    """Compare two splits: which imbalances hold in both, and which differ, the surest first."""
    with opened_store() as (store, _):
        compared = comparison.compare_dataset_splits(
            store, dataset, first, second, max_size=max_size, max_q_value=max_q_value
        )
    # The description counts all of them, the table has the surest.
    notes.print(compare.describe_splits(compared))
    compared = replace(compared, cliques=compared.cliques.head(limit))
    to.write(compare.splits_table(compared) if to.is_shown else compared.cliques)


@app.command("published")
def compare_published(
    to: TableOutput,
    dataset: DatasetName,
    published: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A co-occurrence CSV, or the JSON of a clique dictionary, of common cliques or of "
            "generation queries.",
        ),
    ],
    limit: LimitOption = 20,
) -> None:
    """Compare a mined dataset with a file that the authors of ConBias published for it.

    Counts and generation queries that differ come first, then those of one side, then equal ones.
    Queries are compared with those of the planner published. Names that letter case alone tells
    apart are the same where that is unique. Where nothing is equal, the exit code is 1.
    """
    with opened_store() as (store, _):
        frame, theirs = published_files.compare_dataset(store, dataset, published)

    to.write(frame[:limit] if to.is_shown else frame)
    if to.is_shown and len(frame) > limit:
        note_limit(limit)
    notes.print(published_files.describe_published(frame, theirs) + ".")
    if not (frame["result"] == "equal").any():
        raise typer.Exit(1)


@app.command("planners")
def compare_planners(
    to: TableOutput,
    dataset: DatasetName,
    setting: Annotated[
        Assignments, "An option of a planner, such as minimal.tolerance=0.1. Repeat it."
    ] = None,
    min_size: MinSize = None,
    max_size: MaxSize = None,
    max_per_query: MaxPerQuery = None,
    budget: Budget = None,
) -> None:
    """Compare all planners and baselines, and planners within several budgets and tolerances.

    No plan is kept.
    """
    options_by_planner = assigned(setting)
    for planner, options in options_by_planner.items():
        if planner in planners.PLANNERS and not isinstance(options, dict):
            raise OptionError(
                f"--set {planner} is no option of a planner. Name one, such as "
                f"{planner}.OPTION=VALUE."
            )
        planners.PLANNERS.check(planner, options)

    limits = plans.PlanOptions(min_size, max_size, max_per_query, budget)
    with opened_store() as (store, progress):
        table = planner_comparison.compare_dataset(
            store, dataset, limits, options_by_planner, progress, in_shell
        )
    to.write(table)
    for left_out, why in table.attrs["left_out"].items():
        notes.print(f"{left_out} is left out: {why}")
