"""`cobalance mine`, `imbalances` and `plan`: find imbalances and plan the missing images."""

import math
from pathlib import Path
from shlex import quote
from typing import Annotated

import pandas as pd
import typer

from app.cli.common import (
    DatasetName,
    FormatOption,
    OutputOption,
    notes,
    opened_store,
    out,
)
from app.cli.tables import Format, check_output, write_frame, write_text
from app.services.plans import Planned, plan_dataset
from generation.planning.plan import Plan, PlanOptions
from generation.planning.plan_file import plan_to_json
from graph.dataset.mining import MiningOptions, mine_dataset
from graph.diagnosis.imbalance import COUNT
from graph.errors import OptionError
from graph.queries.comparison import (
    COUNT_AFTER,
    COUNT_BEFORE,
    STATUSES,
    Comparison,
    compare_imbalances,
)
from graph.queries.imbalances import Ranking, read_imbalances
from ingest.concepts.plurals import counted

BY = "gap"
"""The default column to rank by."""


def mine(
    dataset: DatasetName,
    max_size: Annotated[int, typer.Option(min=1, help="Concepts in the largest clique.")] = 4,
    min_support: Annotated[
        int,
        typer.Option(
            min=1, help="Least images that a clique must have in its most frequent class."
        ),
    ] = 1,
    common: Annotated[
        list[str] | None,
        typer.Option(
            help="Class that every concept must occur with; repeat it. Default: every class."
        ),
    ] = None,
    any_class: Annotated[
        bool,
        typer.Option("--any-class", help="Keep concepts that some class never shows, too."),
    ] = False,
    split: Annotated[str | None, typer.Option(help="Count only images of this split.")] = None,
    confidence: Annotated[float, typer.Option(help="Of the odds ratios' interval.")] = 0.95,
    max_cliques: Annotated[
        int, typer.Option(min=1, help="Stop rather than write more cliques than this.")
    ] = 1_000_000,
) -> None:
    """Find the dataset's concept cliques and measure how each leans to a class."""
    if any_class and common:
        raise OptionError("--common and --any-class contradict each other; give one of them.")
    classes = () if any_class else tuple(common) if common else None
    options = MiningOptions(max_size, min_support, classes, split, confidence)
    with opened_store() as (store, progress):
        report = mine_dataset(store, dataset, options, max_cliques=max_cliques, progress=progress)
    found = ", ".join(f"{n:,} of size {size}" for size, n in report.by_size.items()) or "none"
    notes.print(f"Cliques: {found}.", markup=False)
    for name in report.without_images:
        notes.print(
            f"Class {name!r} has no image in split {split!r} and was not compared.", markup=False
        )
    if report.left_out:
        notes.print(
            f"Left out: {counted(report.left_out, 'concepts')} that some class never shows. See "
            f"`cobalance cypher missing-concepts -d {quote(dataset)}`, or keep them with "
            "--any-class.",
            markup=False,
        )
    notes.print(
        f"In the graph: {report.created:,} new, {report.updated:,} changed, "
        f"{report.deleted:,} deleted, {report.unchanged:,} as before."
    )


def imbalances(
    dataset: DatasetName,
    by: Annotated[
        str, typer.Option(help="Column to rank by, such as gap, log_odds_ratio, q_value.")
    ] = BY,
    ascending: Annotated[bool, typer.Option("--ascending", help="Smallest first.")] = False,
    class_name: Annotated[
        str | None, typer.Option("--class", help="Only where this class is under-represented.")
    ] = None,
    concept: Annotated[
        list[str] | None, typer.Option(help="Only cliques with this concept; repeat it.")
    ] = None,
    min_size: Annotated[int | None, typer.Option(min=1, help="Smallest clique.")] = None,
    max_size: Annotated[int | None, typer.Option(min=1, help="Largest clique.")] = None,
    max_q_value: Annotated[
        float | None, typer.Option("--max-q", help="Largest q-value (false discovery rate).")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="OTHER",
            help="Compare with this dataset, such as a rebalanced one: each imbalance before and "
            "after, the largest change first.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many rows.")] = 20,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Show the cliques that lean to one class, the largest gap first."""
    if compare is not None:
        for option, given in (
            ("--by", by != BY),
            ("--ascending", ascending),
            ("--class", class_name is not None),
            ("--concept", bool(concept)),
            ("--max-q", max_q_value is not None),
        ):
            if given:
                raise OptionError(f"{option} does not go with --compare. Leave one of them out.")
        with opened_store() as (store, _):
            found = compare_imbalances(
                store, dataset, compare, min_size=min_size or 1, max_size=max_size, limit=limit
            )
        _write_comparison(found, format_, output)
        return
    ranking = Ranking(
        by, not ascending, class_name, tuple(concept or ()), min_size, max_size, max_q_value, limit
    )
    with opened_store() as (store, _):
        frame = read_imbalances(store, dataset, ranking)
    if format_ is Format.TABLE and output is None:
        if frame.empty:
            notes.print("No clique passes these filters.")
            return
        frame = imbalance_table(frame)
    write_frame(frame, format_, output, out)


def _write_comparison(found: Comparison, format_: Format, output: Path | None) -> None:
    """Write the largest changes as a table, and a summary of all in a sentence."""
    watched = format_ is Format.TABLE and output is None
    for note in found.notes:
        notes.print(note, markup=False)
    if not watched:
        write_frame(found.cliques, format_, output, out)
    elif not found.cliques.empty:
        write_frame(comparison_table(found), format_, None, out)
    (out if watched else notes).print(describe_comparison(found), markup=False)


def comparison_table(found: Comparison) -> pd.DataFrame:
    """The columns of a comparison that fit a terminal; other formats have all."""
    cliques = found.cliques

    def changed(before: str, after: str) -> list[str]:
        return [
            " \N{RIGHTWARDS ARROW} ".join("-" if pd.isna(n) else f"{n:,}" for n in pair)
            for pair in zip(cliques[before], cliques[after], strict=True)
        ]

    return pd.DataFrame(
        {
            "concepts": cliques["concepts"],
            **{
                name: changed(COUNT_BEFORE + name, COUNT_AFTER + name)
                for name in found.sizes_before
            },
            "gap": changed("gap_before", "gap_after"),
            "change": cliques["delta"],
            "imbalance": cliques["status"],
        }
    )


def describe_comparison(found: Comparison) -> str:
    """Summarize a comparison in a few sentences."""
    totals = found.summary.sum(numeric_only=True)
    counts = ", ".join(f"{int(totals[name]):,} {name}" for name in STATUSES)
    left_out = sum(found.left_out.values())
    more = f" Smaller changes not listed: {left_out:,} (see --limit)." if left_out else ""
    return (
        f"Imbalances: {counts}. Sum of gaps: {int(totals['total_gap_before']):,} "
        f"\N{RIGHTWARDS ARROW} {int(totals['total_gap_after']):,}.{more}"
    )


def imbalance_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of an imbalance table that fit a terminal; other formats have all."""
    counts = [str(name) for name in frame.columns if str(name).startswith(COUNT)]
    interval = [
        "-" if math.isnan(low) else f"{value:+.2f} [{low:.2f}, {high:.2f}]"
        for value, low, high in zip(
            frame["log_odds_ratio"],
            frame["log_odds_ratio_low"],
            frame["log_odds_ratio_high"],
            strict=True,
        )
    ]
    return pd.DataFrame(
        {
            "concepts": frame["concepts"],
            **{name.removeprefix(COUNT): frame[name] for name in counts},
            "gap": frame["gap"],
            "too few": frame["under_represented"],
            "log odds ratio": interval,
            "q-value": ["<0.001" if q < 0.001 else f"{q:.3f}" for q in frame["q_value"]],
        }
    )


def plan(
    dataset: DatasetName,
    planner: Annotated[
        str, typer.Option(help="`conbias`: Algorithm 1. `published`: as its authors ran it.")
    ] = "conbias",
    min_size: Annotated[
        int, typer.Option(min=1, help="Smallest clique to balance; 2 as the paper prints it.")
    ] = 2,
    max_size: Annotated[
        int | None, typer.Option(min=1, help="Largest clique to balance. Default: as mined.")
    ] = None,
    max_per_query: Annotated[
        int | None, typer.Option(min=1, help="Most images of one query.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="Most images in all; every query gives up the same share."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the plan in the graph. Default: the planner's.")
    ] = None,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Plan the images that close the gaps, and show the gaps that remain.

    The plan is kept in the graph under its name. As JSON it is a file that workers read.
    """
    check_output(format_, output)
    with opened_store() as (store, progress):
        options = PlanOptions(min_size, max_size, max_per_query, budget)
        planned = plan_dataset(store, dataset, planner, options, name, progress)
    if format_ is Format.JSON:
        write_text(plan_to_json(planned.plan).decode(), output)
    elif format_ is Format.TABLE and output is None:
        write_frame(plan_table(planned), format_, None, out)
        out.print(describe_plan(planned.plan), markup=False)
    else:
        write_frame(planned.queries(), format_, output, out)
    if not planned.plan.images:
        notes.print(_why_nothing(planned, dataset), markup=False)


def _why_nothing(planned: Planned, dataset: str) -> str:
    """Explain why a plan has no images, and which option would give some."""
    smallest, summary = planned.plan.options.min_size, planned.summary.reset_index()
    if not summary.loc[summary["size"] < smallest, "total_gap_after"].any():
        return "There is no gap to close."
    left_alone = "single concepts" if smallest == 2 else f"cliques of less than {smallest} concepts"
    return (
        "There is no gap of its sizes to close. To balance "
        f"{left_alone} too: cobalance plan {quote(dataset)} --min-size 1"
    )


def plan_table(planned: Planned) -> pd.DataFrame:
    """What a plan achieves per clique size, in the columns that fit a terminal."""
    summary = planned.summary.reset_index().query("cliques > 0")
    return pd.DataFrame(
        {
            "size": summary["size"],
            "cliques": summary["cliques"],
            **{
                label: [
                    f"{before:,} \N{RIGHTWARDS ARROW} {after:,}"
                    for before, after in zip(
                        summary[f"{name}_before"], summary[f"{name}_after"], strict=True
                    )
                ]
                for label, name in (("imbalanced", "imbalanced"), ("sum of gaps", "total_gap"))
            },
            **{
                f"make {name.removeprefix('images_')}": summary[name]
                for name in planned.summary.columns
                if name.startswith("images_")
            },
        }
    )


def describe_plan(plan: Plan) -> str:
    """Summarize a plan in one sentence."""
    by_class = ", ".join(f"{n:,} {name}" for name, n in plan.images_by_class().items())
    images = counted(plan.images, "images") + (f" ({by_class})" if by_class else "")
    return f"The plan asks for {images} in {counted(len(plan.queries), 'queries')}."
