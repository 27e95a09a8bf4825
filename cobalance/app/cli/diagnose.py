"""`cobalance mine` and `imbalances`: count a dataset's concepts, and find imbalances."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import pandas as pd
import typer

from cobalance.app.cli.shared.ids import evaluation_id
from cobalance.app.cli.shared.options import (
    DatasetName,
    FormatOption,
    OutputOption,
    cleaned,
    notes,
    opened_store,
    out,
)
from cobalance.app.cli.shared.tables import Format, write_frame
from cobalance.app.cli.shared.words import in_shell
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import clique_totals, mining_of
from cobalance.graph.dataset.mining import MAX_CLIQUES
from cobalance.graph.dataset.mining_options import MiningOptions
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.diagnosis.comparison import Comparison
from cobalance.graph.diagnosis.evidence import EVIDENCE
from cobalance.graph.diagnosis.splits import MAX_Q_VALUE as SPLITS_MAX_Q_VALUE
from cobalance.graph.diagnosis.summary import MAX_Q_VALUE
from cobalance.graph.errors import OptionError, render
from cobalance.graph.queries.comparison import compare_dataset_splits, compare_imbalances
from cobalance.graph.queries.imbalances import Ranking, read_imbalances
from cobalance.graph.queries.own_effects import read_own_imbalances, read_summary
from cobalance.graph.wording import inflect
from cobalance.workflows.compare import (
    comparison_table,
    describe_comparison,
    describe_splits,
    splits_table,
)
from cobalance.workflows.diagnose.findings import (
    describe_disagreements,
    describe_leaning,
    describe_order,
    no_clique,
    not_compared,
    small_classes,
)
from cobalance.workflows.diagnose.mine import mine as mine_on
from cobalance.workflows.diagnose.tables import (
    describe_mining,
    describe_summary,
    imbalance_table,
    summary_table,
)
from cobalance.workflows.evaluate.failures import accuracy_by_clique, accuracy_texts
from cobalance.workflows.settings import Settings


class Engine(StrEnum):
    """Where cliques are counted."""

    AUTO = "auto"
    MEMORY = "memory"
    SPARK = "spark"


BY = EVIDENCE
"""The default column to rank by."""


def mine(
    dataset: DatasetName,
    max_size: Annotated[
        int | None, typer.Option(min=1, help="Concepts in the largest clique; at first 4.")
    ] = None,
    min_support: Annotated[
        int | None,
        typer.Option(
            min=1, help="Minimum images of a clique in its most frequent class; at first 1."
        ),
    ] = None,
    common: Annotated[
        list[str] | None,
        typer.Option(
            help="Class that every concept must occur with; repeat it. At first every class."
        ),
    ] = None,
    any_class: Annotated[
        bool | None,
        typer.Option(
            "--any-class/--every-class",
            help="Keep concepts that some class never shows, too, or only those that all show.",
        ),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Count only images of this split; '' for all, as at first.")
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="Confidence level of the odds ratios' intervals; at first 0.95."),
    ] = None,
    max_cliques: Annotated[
        int, typer.Option(min=1, help="Maximum number of cliques; mining stops at more.")
    ] = MAX_CLIQUES,
    engine: Annotated[
        Engine,
        typer.Option(
            help="Count here, or on Apache Spark; auto is Spark where `ingest` used that."
        ),
    ] = Engine.AUTO,
    master: Annotated[
        str | None,
        typer.Option(help="Spark's master, such as local[4]; by default all cores here."),
    ] = None,
) -> None:
    """Find the dataset's concept cliques and measure how each leans to a class.

    What is counted, and how, is as the dataset was mined last, but for the options given.
    """
    if any_class is not None and common:
        raise OptionError("--common contradicts --any-class and --every-class; give one of them.")
    chosen = {
        "max_size": max_size,
        "min_support": min_support,
        "common": common or (() if any_class else None),
        "split": split,
        "confidence": confidence,
    }
    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if any_class is False:
        given["common"] = None
    with opened_store() as (store, progress):
        options = dataset_state(store, dataset).mining_options(**given)
        if options != MiningOptions(**given):
            notes.print(
                f"Options not given are as mined last. {describe_mining(options)}", markup=False
            )
        report = mine_on(
            store,
            dataset,
            options,
            max_cliques=max_cliques,
            engine=engine.value,
            master=master,
            progress=progress,
        )
        sizes = dict(dataset_state(store, dataset).mined_classes)
    found = ", ".join(f"{n:,} of size {size}" for size, n in report.by_size.items()) or "none"
    leaning = describe_leaning(report.leaning, report.unproven)
    notes.print(f"Cliques: {found}; {leaning}.", markup=False)
    for name in report.without_images:
        notes.print(
            f"Class {name!r} has no image in split {options.split!r} and was not compared.",
            markup=False,
        )
    for warning in (not_compared(sizes, options.split), small_classes(sizes, options)):
        if warning:
            notes.print(warning, markup=False)
    if report.left_out:
        who = " or ".join(map(repr, options.common)) if options.common else "some class"
        listed = f"cobalance cypher missing-concepts -d {quote(dataset)}"
        listed += "".join(f" -p {quote(f'classes={name}')}" for name in options.common or ())
        see = f"See `{listed}`, or keep" if options.split is None else "Keep"
        notes.print(
            f"Left out: {inflect(report.left_out, 'concepts')} that {who} never shows. {see} them "
            "with --any-class.",
            markup=False,
        )
    notes.print(report.describe())
    notes.print(
        f"In the graph: {report.created:,} new, {report.updated:,} changed, "
        f"{report.deleted:,} deleted, {report.unchanged:,} as before."
    )


def imbalances(
    dataset: DatasetName,
    by: Annotated[
        str,
        typer.Option(
            help="`evidence`: q-values of at most 0.05 first, by the difference of rates. `gap`: "
            "the count gap of ConBias. Or another column, such as log_odds_ratio, q_value."
        ),
    ] = BY,
    ascending: Annotated[
        bool, typer.Option("--ascending", help="Smallest first, as p_value and q_value are.")
    ] = False,
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
            callback=cleaned,
        ),
    ] = None,
    own: Annotated[
        bool,
        typer.Option(
            "--own", help="Add what of each gap smaller cliques explain, and what is its own."
        ),
    ] = False,
    closed: Annotated[
        bool,
        typer.Option(
            "--closed", help="Leave out cliques of which a larger one has the same counts."
        ),
    ] = False,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="SPLIT SPLIT",
            help="Compare two splits, such as train val: which imbalances hold in both, and which "
            "differ, the surest first, at --max-q or 0.05.",
        ),
    ] = None,
    evaluation: Annotated[
        str | None,
        typer.Option(
            help="Show this evaluation's accuracy on the test images of each clique: where the "
            "model fails.",
            callback=evaluation_id,
        ),
    ] = None,
    summary: Annotated[
        bool,
        typer.Option(
            "--summary",
            help="Show only cliques that stand on their own: not explained by smaller ones, at "
            "--max-q or 0.05, in groups of concepts that occur together.",
        ),
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of rows.")] = 20,
    format_: FormatOption = Format.TABLE,
    output: OutputOption = None,
) -> None:
    """Show the cliques that lean to one class, those with evidence first.

    By default cliques with a q-value of at most 0.05 come first, by the difference of their rates.

    Where labels of models are audited, the last column says which imbalances are supported.
    """
    ranking_options = {
        "--by": by != BY,
        "--ascending": ascending,
        "--class": class_name is not None,
        "--concept": bool(concept),
        "--evaluation": evaluation is not None,
        "--own": own,
        "--closed": closed,
    }
    if summary:
        sizes_given = {"--min-size": min_size is not None, "--max-size": max_size is not None}
        others = {"--compare": compare is not None, "--between": between is not None}
        _refuse("--summary", ranking_options | sizes_given | others)
        _write_summary(dataset, limit, max_q_value, format_, output)
        return
    if between is not None:
        others = {"--min-size": min_size is not None, "--compare": compare is not None}
        _refuse("--between", ranking_options | others)
        most = SPLITS_MAX_Q_VALUE if max_q_value is None else max_q_value
        with opened_store() as (store, _):
            splits = compare_dataset_splits(
                store, dataset, *between, max_size=max_size, max_q_value=most
            )
        notes.print(describe_splits(splits), markup=False)
        splits = replace(splits, cliques=splits.cliques.head(limit))
        watched = format_ is Format.TABLE and output is None
        write_frame(splits_table(splits) if watched else splits.cliques, format_, output, out)
        return
    if compare is not None:
        _refuse("--compare", ranking_options | {"--max-q": max_q_value is not None})
        with opened_store() as (store, _):
            found = compare_imbalances(
                store, dataset, compare, min_size=min_size or 1, max_size=max_size, limit=limit
            )
        _write_comparison(found, format_, output)
        return
    ranking = Ranking(
        by,
        False if ascending else None,
        class_name,
        tuple(concept or ()),
        min_size,
        max_size,
        max_q_value,
        limit,
    )
    with opened_store() as (store, _):
        if own or closed:
            frame = read_own_imbalances(store, dataset, ranking, own=own, closed=closed)
        else:
            frame = read_imbalances(store, dataset, ranking)
        state = dataset_state(store, dataset)
        mined = clique_totals(store, dataset).cliques if frame.empty else len(frame)
        accuracy = None if evaluation is None else _accuracy(store, evaluation, frame)
        audited = _audited(store, dataset, frame)
    if format_ is Format.TABLE and output is None:
        sizes, mining = dict(state.mined_classes), mining_of(state)
        if frame.empty:
            why = no_clique(dataset, mining, sizes)
            said = "No clique passes these filters." if mined else render(why, in_shell)
            notes.print(said, markup=False)
            return
        said = f"{describe_order(by, ranking.descending)} {describe_disagreements(frame)}"
        frame = imbalance_table(frame, sizes)
        if accuracy is not None:
            frame["accuracy % [95%]"] = accuracy_texts(accuracy)
            frame["test images"] = accuracy["test_images"]
        if audited is not None:
            frame["audit"] = audited
        notes.print(describe_mining(mining), markup=False)
        for warning in (not_compared(sizes, mining.split), small_classes(sizes, mining)):
            if warning:
                notes.print(warning, markup=False)
        notes.print(said.strip(), markup=False)
    else:
        frame = frame if accuracy is None else frame.join(accuracy)
        frame = frame if audited is None else frame.assign(audit=audited)
    write_frame(frame, format_, output, out)


def _refuse(mode: str, others: Mapping[str, bool]) -> None:
    """Raise OptionError if an option is given that does not go with `mode`."""
    for option, given in others.items():
        if given:
            raise OptionError(f"{option} does not go with {mode}. Leave one of them out.")


def _write_summary(
    dataset: str, limit: int, max_q_value: float | None, format_: Format, output: Path | None
) -> None:
    """Write the cliques that stand on their own."""
    most = MAX_Q_VALUE if max_q_value is None else max_q_value
    with opened_store() as (store, _):
        frame = read_summary(store, dataset, limit=limit, max_q_value=most)
        sizes = dict(dataset_state(store, dataset).mined_classes)
        mined = clique_totals(store, dataset).cliques
    if format_ is Format.TABLE and output is None:
        notes.print(describe_summary(len(frame), mined), markup=False)
        if frame.empty:
            return
        frame = summary_table(frame, sizes)
    write_frame(frame, format_, output, out)


def _audited(store: GraphStore, dataset: str, frame: pd.DataFrame) -> "pd.Series[str] | None":
    """What audits say of each imbalance of a table; None where no accepted run is audited."""
    from cobalance.workflows.panel.verdicts import imbalance_verdicts

    found = imbalance_verdicts(store, dataset, frame)
    return None if found is None else pd.Series(found, index=frame.index, dtype=object)


def _accuracy(store: GraphStore, evaluation: str, frame: pd.DataFrame) -> pd.DataFrame:
    """An evaluation's accuracy on the test images of each clique of a table."""
    from cobalance.ingest.stored.output_folder import OutputFolder

    folder = OutputFolder(Settings.from_environment().folders().output)
    return accuracy_by_clique(store, folder, evaluation, frame["concepts"].tolist())


def _write_comparison(found: Comparison, format_: Format, output: Path | None) -> None:
    """Write the largest changes as a table, and a summary of all in a sentence."""
    watched = format_ is Format.TABLE and output is None
    for note in found.notes:
        notes.print(render(note, in_shell), markup=False)
    if not watched:
        write_frame(found.cliques, format_, output, out)
    elif not found.cliques.empty:
        write_frame(comparison_table(found), format_, None, out)
    (out if watched else notes).print(describe_comparison(found), markup=False)
