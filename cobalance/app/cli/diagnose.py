"""`cobalance mine`, `imbalances`, `summary`, `cooccurrences`: count a dataset's concepts."""

from collections.abc import Iterator, Mapping
from shlex import quote
from typing import Annotated

import typer

from cobalance.app.cli.shared import (
    Count,
    DatasetName,
    LimitOption,
    TableOutput,
    full_id,
    given,
    in_shell,
    listed_names,
    notes,
    opened_store,
    output_folder,
)
from cobalance.base import OptionError, Progress, agree, inflect, pandas as pd, records, render
from cobalance.counting import Engine, MiningOptions
from cobalance.graph import EVALUATION, MAX_CLIQUES, PER_CLASS
from cobalance.graph.database import store as stores
from cobalance.graph.dataset import cliques as kept_cliques, mining as minings, state as states
from cobalance.graph.queries import cooccurrences as pairings, imbalances as rankings, own_effects
from cobalance.ingest import ReadOptions
from cobalance.statistics import EVIDENCE, MAX_Q_VALUE
from cobalance.workflows.diagnose import findings, mine as mining_flow, tables as diagnose_tables
from cobalance.workflows.evaluate import failures
from cobalance.workflows.in_files import loading as in_files
from cobalance.workflows.load import dataset as loading
from cobalance.workflows.panel import verdicts

# A narrow table keeps the counts of so many classes.
_FEW_CLASSES = 4


def mine(
    dataset: DatasetName,
    max_size: Annotated[Count, "Largest clique, in concepts; at first 4."] = None,
    min_support: Annotated[
        Count, "Minimum images of a clique in its most frequent class; at first 1."
    ] = None,
    common: Annotated[
        list[str] | None,
        "Class that every concept must occur with; repeat it. At first every class.",
    ] = None,
    any_class: Annotated[
        bool | None,
        typer.Option("--any-class/--every-class"),
        "Keep concepts that some class never shows, too, or only those that all show.",
    ] = None,
    split: Annotated[
        str | None, "Only images of this split are counted; '' for all, as at first."
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(metavar="CONCEPT,..."),
        "Concepts to compare by, with commas between or repeat it: each with the images that do "
        "not show it; `imbalances` shows the first. '' for the dataset's classes, as at first.",
    ] = None,
    confidence: Annotated[
        float | None, "Confidence level of intervals, of odds ratios; at first 0.95."
    ] = None,
    max_cliques: Annotated[
        int, typer.Option(min=1, help="Maximum number of cliques; mining stops at more.")
    ] = MAX_CLIQUES,
    engine: Annotated[
        Engine,
        "Where to count: in memory, out of core, or on Apache Spark; auto is where `ingest` did.",
    ] = "auto",
    master: Annotated[
        str | None, "Spark's master, such as local[4]; by default all cores here."
    ] = None,
    out_of_core: Annotated[
        bool,
        "DATASET is a Parquet file or a folder of them: load its counts and a sample of its "
        "images first, part by part.",
    ] = False,
) -> None:
    """Find the dataset's concept cliques and measure how each leans to a class.

    What is counted, and how, is as the dataset was mined last, but for the options given.

    With --out-of-core, files that memory does not hold are loaded and mined at once, as a dataset
    of the file's name: `cobalance ingest FILE --engine out-of-core --keep-images sample` first
    takes more options.
    """
    if any_class is not None and common:
        raise OptionError("--common contradicts --any-class and --every-class; give one of them.")
    chosen = given(
        max_size=max_size,
        min_support=min_support,
        common=common or (() if any_class else None),
        split=split,
        confidence=confidence,
    )
    # None is every class, and `given` has left it out as an option that is not given.
    if any_class is False:
        chosen["common"] = None

    compared = listed_names(classes)
    if compared is not None:
        # '' is no concept, and alone it stands for the dataset's classes.
        compared = tuple(filter(None, compared))
    with opened_store() as (store, progress):
        if out_of_core:
            dataset = _load_file(store, dataset, progress)
        options = states.dataset_state(store, dataset).mining_options(**chosen)
        if options != MiningOptions(**chosen):
            notes.print(
                f"Options not given are as mined last. {diagnose_tables.describe_mining(options)}"
            )
        report = mining_flow.mine(
            store,
            dataset,
            options,
            max_cliques=max_cliques,
            engine=engine,
            master=master,
            classes=compared,
            progress=progress,
        )
        state = states.dataset_state(store, dataset)
        leaning = kept_cliques.count_leaning(store, state)

    for name, combinations in leaning.items():
        count = inflect(combinations, "combinations")
        verb = agree(combinations, "differs", "differ")
        notes.print(f"Between images with {name!r} and without it {count} {verb} (q ≤ 0.05).")

    sizes = dict(state.mined_classes)
    for note in _mining_notes(dataset, options, report, sizes):
        notes.print(note)
    if set(sizes) == {records.ALL_IMAGES}:
        notes.print(f"Next: cobalance cooccurrences {quote(dataset)}")


def _load_file(store: "stores.GraphStore", file: str, progress: Progress) -> str:
    """Load the counts of a Parquet file, or a folder of them; the dataset's name."""
    dataset = loading.default_dataset_name(file)
    sample = states.Sample(PER_CLASS, 0)
    _, remarks = in_files.load_files(
        store, dataset, file, ReadOptions(), sample, engine="out-of-core", progress=progress
    )
    for remark in remarks:
        notes.print(f"Note: {remark}")
    return dataset


def _mining_notes(
    dataset: str, options: MiningOptions, report: "minings.MiningReport", sizes: Mapping[str, int]
) -> Iterator[str]:
    """Describe mined cliques, left-out concepts, and changes in the graph."""
    by_size = ", ".join(f"{n:,} of size {size}" for size, n in report.by_size.items()) or "none"
    yield f"Cliques: {by_size}; {findings.describe_leaning(report.leaning, report.unproven)}."
    for name in report.without_images:
        yield f"Class {name!r} has no image in split {options.split!r} and was not compared."
    yield from findings.mining_warnings(sizes, options)

    if report.left_out:
        who = " or ".join(map(repr, options.common or ())) or "some class"
        query = f"cobalance cypher missing-concepts -d {quote(dataset)}"
        query += "".join(f" -p {quote(f'classes={name}')}" for name in options.common or ())
        # The saved query reads all images, whatever the split.
        see = f"See `{query}`, or keep" if options.split is None else "Keep"
        yield (
            f"Left out: {inflect(report.left_out, 'concepts')} that {who} never shows. {see} them "
            "with --any-class."
        )

    yield report.describe()
    yield (
        f"In the graph: {report.created:,} new, {report.updated:,} changed, "
        f"{report.deleted:,} deleted, {report.unchanged:,} as before."
    )


def imbalances(
    to: TableOutput,
    dataset: DatasetName,
    by: Annotated[
        str,
        "`evidence`: q-values of at most 0.05 first, by the difference of rates. "
        "`gap`: the count gap of ConBias. Or another column, such as log_odds_ratio, q_value.",
    ] = EVIDENCE,
    ascending: Annotated[bool, "Smallest first, as p_value and q_value are."] = False,
    class_name: Annotated[
        str | None, typer.Option("--class", help="Only where this class is under-represented.")
    ] = None,
    concept: Annotated[
        list[str] | None, "Only this concept: cliques that have it; repeat it."
    ] = None,
    min_size: Annotated[Count, "Smallest clique."] = None,
    max_size: Annotated[Count, "Largest clique."] = None,
    max_q_value: Annotated[
        float | None, typer.Option("--max-q", help="Largest q-value: the false discovery rate.")
    ] = None,
    own: Annotated[
        bool, "Add what of each gap smaller cliques explain, and what is its own."
    ] = False,
    closed: Annotated[bool, "Leave out cliques of which a larger one has the same counts."] = False,
    evaluation: Annotated[
        str | None,
        typer.Option(callback=full_id(EVALUATION)),
        "An evaluation: its accuracy on the test images of each clique: where the model fails.",
    ] = None,
    limit: LimitOption = 20,
) -> None:
    """Show the cliques that lean to one class, those with evidence first.

    By default cliques with a q-value of at most 0.05 come first, by the difference of their rates.

    Where labels of models are audited, the last column says which imbalances are supported.
    """
    ranking = rankings.Ranking(
        by=by,
        # None is the usual order, which depends on the column.
        descending=False if ascending else None,
        class_name=class_name,
        concepts=tuple(concept or ()),
        min_size=min_size,
        max_size=max_size,
        max_q_value=max_q_value,
        limit=limit,
    )

    accuracy = None
    with opened_store() as (store, _):
        if own or closed:
            frame = own_effects.read_own_imbalances(store, dataset, ranking, own=own, closed=closed)
        else:
            frame = rankings.read_imbalances(store, dataset, ranking)
        state = states.dataset_state(store, dataset)
        has_cliques = not frame.empty or kept_cliques.clique_totals(store, dataset).cliques > 0
        if evaluation is not None:
            cliques = frame["concepts"].tolist()
            accuracy = failures.accuracy_by_clique(store, output_folder(), evaluation, cliques)
        audited = verdicts.imbalance_verdicts(store, dataset, frame)
        left_out = mining_flow.warn_left_out(store, dataset)
        waiting = mining_flow.warn_waiting_tags(store, dataset)

    images = dict(state.mined_classes)
    if to.is_shown:
        mining = kept_cliques.mining_of(state)
        if frame.empty:
            if has_cliques:
                notes.print("No clique passes these filters.")
            else:
                notes.print(render(findings.no_clique(dataset, mining, images), in_shell))
            return
        compared = diagnose_tables.describe_compared(state.compared, images)
        notes.print(compared or diagnose_tables.describe_mining(mining))
        warnings = [*findings.mining_warnings(images, mining), left_out, waiting]
        for warning in filter(None, warnings):
            notes.print(render(warning, in_shell))
        order = findings.describe_order(by, ranking.descending)
        notes.print(f"{order} {findings.describe_disagreements(frame)}".strip())

        frame = diagnose_tables.imbalance_table(frame, images)
        if accuracy is not None:
            frame["accuracy % [95%]"] = failures.accuracy_texts(accuracy)
            frame["test images"] = accuracy["test_images"]
    elif accuracy is not None:
        frame = frame.join(accuracy)

    if audited is not None:
        frame = frame.assign(audit=pd.Series(audited, frame.index, dtype=object))
    to.write(frame, spare=_spare_columns(images))


def summary(
    to: TableOutput,
    dataset: DatasetName,
    max_q_value: Annotated[
        float, typer.Option("--max-q", help="Largest q-value: of a clique's own effect.")
    ] = MAX_Q_VALUE,
    limit: LimitOption = 20,
) -> None:
    """Show the cliques that stand on their own, in groups of concepts that occur together.

    What smaller cliques explain of an imbalance is not counted.
    """
    with opened_store() as (store, _):
        frame = own_effects.read_summary(store, dataset, limit=limit, max_q_value=max_q_value)
        sizes = dict(states.dataset_state(store, dataset).mined_classes)
        mined = kept_cliques.clique_totals(store, dataset).cliques

    if to.is_shown:
        notes.print(diagnose_tables.describe_summary(len(frame), mined))
        if frame.empty:
            return
        frame = diagnose_tables.summary_table(frame, sizes)
    to.write(frame, spare=_spare_columns(sizes))


def cooccurrences(
    to: TableOutput,
    dataset: DatasetName,
    concept: Annotated[
        list[str] | None, "Only this concept: cliques that have it; repeat it."
    ] = None,
    max_size: Annotated[
        int | None, typer.Option(min=2, help="Largest clique, of two concepts or more.")
    ] = None,
    max_q_value: Annotated[
        float | None, typer.Option("--max-q", help="Largest q-value: the false discovery rate.")
    ] = None,
    limit: LimitOption = 20,
) -> None:
    """Show concepts that occur together more or less often than their frequencies say.

    Classes play no part. A combination of three or more has evidence only beyond each of its parts.
    """
    ranking = rankings.Ranking(
        concepts=tuple(concept or ()), max_size=max_size, max_q_value=max_q_value, limit=limit
    )
    with opened_store() as (store, _):
        frame = pairings.read_cooccurrences(store, dataset, ranking)

    if to.is_shown:
        if frame.empty:
            notes.print("No combination passes these filters.")
            return
        notes.print(diagnose_tables.COOCCURRENCES)
        frame = diagnose_tables.cooccurrence_table(frame)
    to.write(frame)


def _spare_columns(sizes: Mapping[str, int]) -> list[str]:
    """Columns that a narrow table of many classes leaves out first: the images of each."""
    if len(sizes) <= _FEW_CLASSES:
        return []
    return [*sizes, *(f"% of {name}" for name in sizes), "log odds ratio", "most"]
