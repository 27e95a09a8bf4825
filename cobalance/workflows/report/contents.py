"""Contents of a report, read from the graph."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import pandas as pd

from cobalance.base import NO_LIMIT, Progress, Text, silent
from cobalance.counting import MiningOptions
from cobalance.generation import Plan, PlanOptions
from cobalance.graph import (
    CATALOGUE,
    CliqueTotals,
    DatasetState,
    Evaluation,
    GraphStore,
    Job,
    Overview,
    Ranking,
    Statement,
    bind_named,
    class_sizes,
    clique_totals,
    dataset_state,
    has_accepted,
    list_datasets,
    load_cliques,
    load_named_images,
    mining_of,
    read_evaluation,
    read_imbalances,
    read_overview,
    read_plan,
    read_scores,
    read_summary,
    split_sizes,
)
from cobalance.graph.dataset import statements
from cobalance.graph.evaluations import statements as of_evaluations
from cobalance.graph.jobs import reads
from cobalance.statistics import MAX_Q_VALUE, Comparison, first_of_summary
from cobalance.workflows.cells import change_text
from cobalance.workflows.diagnose.mine import warn_left_out, warn_waiting_tags
from cobalance.workflows.panel import read_corrections
from cobalance.workflows.plan import (
    Planned,
    balances_rates,
    compare_datasets,
    describe_balance,
    describe_worth,
    plan_table,
)
from cobalance.workflows.report.making import JOBS_READ, QUERIES_READ, read_making

MOST = 20
"""Imbalances of a table."""
MAX_CONCEPTS, MAX_EDGES = 40, 80
"""Of the picture of the concept graph."""
OWN = ["group", "about", "own_over", "own_effect", "explained", "own_q_value"]
"""Columns that tell what of an imbalance is its own."""


@dataclass(frozen=True)
class ReportOptions:
    """Optional parts of a report.

    `compare` is another version of the dataset, `plan` a plan of it, `evaluation` an id; `date` is
    the one that the report bears, by default today's in UTC.
    """

    compare: str | None = None
    plan: str | None = None
    evaluation: str | None = None
    date: str | None = None


@dataclass(frozen=True)
class Source:
    """The Cypher behind numbers of a report.

    `name` is of the saved query; empty for an internal statement. `text` is Cypher.
    """

    numbers: str
    name: str
    text: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class PlanContents:
    """A plan: its planner, images of each class, and effect.

    `effect` says whether counts or rates are balanced, and what of them remains; `by_size` is the
    table of `cobalance.workflows.plan.summaries.plan_table` and `coverage` the rows of the saved
    query ``plan-coverage``, of a plan of counts. All are empty for a plan that edits images. `jobs`
    are the newest ones that make it, `job_queries` those of the first with their acceptance.
    """

    name: str
    planner: str
    queries: int
    images: Mapping[str, int]
    by_size: pd.DataFrame
    coverage: pd.DataFrame
    effect: str = ""
    jobs: Sequence[Job] = ()
    job_queries: pd.DataFrame = field(default_factory=pd.DataFrame)


@dataclass(frozen=True, eq=False)
class Contents:
    """Contents of a report, in order.

    Parameters
    ----------
    sizes, splits : mapping of str to int
        All images of each class, and of each split.
    mined_sizes : mapping of str to int
        Images of each class that were mined.
    concepts, pairs : int
        Of the concept graph.
    left_out, waiting_tags : Text
        Warnings of concepts that were left out of mining, and of tags that the counts do not
        follow; or empty.
    standing : int
        Imbalances that stand on their own.
    own, largest : pandas.DataFrame
        The largest of these, with the columns `OWN`, and the first by evidence,
        with the columns of `cobalance.graph.queries.imbalances.read_imbalances`; both with
        ``audit`` where labels of models are audited.
    corrections : pandas.DataFrame or None
        Counts corrected by audits.
    by_models : bool
        Whether models labelled some concepts.
    """

    dataset: str
    options: ReportOptions
    date: str
    source: str
    sizes: Mapping[str, int]
    splits: Mapping[str | None, int]
    concepts: int
    pairs: int
    mining: MiningOptions
    mined_sizes: Mapping[str, int]
    totals: CliqueTotals
    left_out: Text
    waiting_tags: Text
    standing: int
    own: pd.DataFrame
    largest: pd.DataFrame
    overview: Overview
    comparison: Comparison | None
    plan: PlanContents | None
    evaluation: Evaluation | None
    scores: pd.DataFrame
    corrections: pd.DataFrame | None
    by_models: bool
    versions: Mapping[str, str]
    sources: Sequence[Source]

    @property
    def strongest(self) -> pd.DataFrame:
        """Imbalances that stand on their own, else the first by evidence."""
        return self.largest if self.own.empty else self.own


def read_contents(
    store: GraphStore, dataset: str, options: ReportOptions, progress: Progress = silent
) -> Contents:
    """Read the contents of a report on a mined dataset.

    Raises
    ------
    NotFoundError, UnknownNameError
        There is no such dataset or evaluation, or no such plan.
    StaleError
        A dataset has not been mined, or has changed since.
    DataError
        The other dataset has different classes.
    """
    progress("read the dataset", 0, None)
    log = _QueryLog(store, dataset)
    state = dataset_state(store, dataset)
    mining = mining_of(state)

    plan = None if options.plan is None else _read_plan(log, state, options.plan)
    evaluation, scores = _read_evaluation(log, options.evaluation)
    comparison = None
    if options.compare is not None:
        comparison = compare_datasets(store, dataset, options.compare, limit=MOST)

    progress("read the imbalances", 0, None)
    largest = read_imbalances(store, dataset, Ranking(limit=MOST))
    summary = read_summary(store, dataset, limit=NO_LIMIT, max_q_value=MAX_Q_VALUE)
    own_imbalances = _read_own_imbalances(store, dataset, first_of_summary(summary, MOST))
    corrections = read_corrections(store, dataset)
    if corrections is not None:
        largest["audit"] = corrections.verdicts(largest)
        own_imbalances["audit"] = corrections.verdicts(own_imbalances)

    size = log.rows("Concepts and pairs of the concept graph", "graph-size")[0]
    _note_counts(log, own_imbalances, options.compare)

    progress("read the concept graph", 0, None)
    overview = read_overview(store, dataset, max_concepts=MAX_CONCEPTS, max_edges=MAX_EDGES)
    _note_picture(log, overview)

    source = list_datasets(store).set_index("dataset")["source"].get(dataset)
    return Contents(
        dataset=dataset,
        options=options,
        date=options.date or datetime.now(UTC).date().isoformat(),
        source=str(source or ""),
        sizes=class_sizes(store, dataset),
        splits=split_sizes(store, dataset),
        concepts=int(size["concepts"]),
        pairs=int(size["edges"]),
        mining=mining,
        mined_sizes=dict(state.mined_classes),
        totals=clique_totals(store, dataset),
        left_out=warn_left_out(store, dataset),
        waiting_tags=warn_waiting_tags(store, dataset),
        standing=len(summary),
        own=own_imbalances,
        largest=largest,
        overview=overview,
        comparison=comparison,
        plan=plan,
        evaluation=evaluation,
        scores=scores,
        corrections=None if corrections is None else corrections.counts,
        by_models=has_accepted(store, dataset),
        versions={
            "cobalance": version("cobalance"),
            "Python": platform.python_version(),
            "Neo4j": store.server()[0],
        },
        sources=tuple(log.sources),
    )


class _QueryLog:
    """Runs the report's queries and records their Cypher."""

    def __init__(self, store: GraphStore, dataset: str) -> None:
        self.store, self.dataset = store, dataset
        self.sources: list[Source] = []

    def query(self, numbers: str, name: str, **values: Any) -> Source:
        """Note a saved query."""
        query, parameters = CATALOGUE[name], {"dataset": self.dataset, **values}
        self.sources.append(Source(numbers, name, query.text, parameters))
        return self.sources[-1]

    def statement(self, numbers: str, statement: Statement, **values: Any) -> None:
        """Note a statement that has no name for people."""
        self.sources.append(Source(numbers, "", statement.text.strip(), values))

    def rows(self, numbers: str, name: str, **values: Any) -> list[dict[str, Any]]:
        """Note a saved query, and ask it."""
        source = self.query(numbers, name, **values)
        query, bound = bind_named(self.store, name, source.parameters)
        return self.store.read(query, **bound)


def _read_own_imbalances(store: GraphStore, dataset: str, summary: pd.DataFrame) -> pd.DataFrame:
    """Imbalances that stand on their own, with all their statistics."""
    if summary.empty:
        return read_imbalances(store, dataset, Ranking(limit=1)).head(0)

    tables = []
    for names in summary["concepts"]:
        size = len(names)
        ranking = Ranking(concepts=names, min_size=size, max_size=size, limit=1)
        tables.append(read_imbalances(store, dataset, ranking))
    return pd.concat(tables, ignore_index=True).join(summary[OWN])


def _read_evaluation(
    log: _QueryLog, evaluation: str | None
) -> tuple[Evaluation | None, pd.DataFrame]:
    """An evaluation and its scores; None and an empty table without one."""
    if evaluation is None:
        return None, pd.DataFrame()
    run = read_evaluation(log.store, evaluation)
    scores = read_scores(log.store, [run.id])
    log.statement("Scores of the evaluation", of_evaluations.SCORES, evaluations=[run.id])
    return run, scores


def _note_counts(log: _QueryLog, own_imbalances: pd.DataFrame, compare: str | None) -> None:
    """Note the queries of sizes and imbalances."""
    dataset = log.dataset
    log.query("Images of each class", "classes")
    log.statement("Images of each split", statements.SPLIT_SIZES, dataset=dataset)
    log.statement("How many combinations were counted", statements.CLIQUE_TOTALS, dataset=dataset)
    log.query("Imbalances by evidence", "imbalances", limit=MOST)

    for names in own_imbalances["concepts"]:
        log.query(f"Counts of {' + '.join(names)}", "clique", concepts=list(names))
    if compare is not None:
        for name in (dataset, compare):
            log.query(f"Gaps of {name}", "imbalances-by-gap", dataset=name, limit=NO_LIMIT)


def _note_picture(log: _QueryLog, overview: Overview) -> None:
    """Note the queries of the picture of the concept graph."""
    log.query("Concepts of the picture", "frequent-concepts", limit=MAX_CONCEPTS)
    concepts = overview.concepts["concept"].tolist()
    if concepts:
        name = "edges-between-concepts"
        log.query("Links of the picture", name, concepts=concepts, limit=MAX_EDGES)


def _read_plan(log: _QueryLog, state: DatasetState, name: str) -> PlanContents:
    """A plan with its effect on the imbalances."""
    store, dataset = log.store, log.dataset
    queries = read_plan(store, dataset, name)
    plans = log.rows("The plan", "plans")
    (row,) = (row for row in plans if row["plan"] == name)
    log.query("Queries of the plan", "plan-queries", plan=name, limit=NO_LIMIT)

    options = PlanOptions(row["min_size"] or 1)
    plan = Plan(row["planner"], options, tuple(queries), json.loads(row["planner_options"]))

    effect, by_size, coverage = "", pd.DataFrame(), pd.DataFrame()
    # What edits leave of an imbalance is known only once they are made.
    if not any(query.edit for query in queries):
        cliques = load_cliques(store, dataset)
        images, _ = load_named_images(store, dataset, mining_of(state).split) or (None, ())
        planned = Planned(plan, state, cliques, plan.options.rows(cliques), images=images)
        effect = f"{describe_balance(plan, cliques)} {describe_worth(planned.measures)}"
        by_size = plan_table(planned)

        if not balances_rates(plan):
            gaps = planned.summary[["total_gap_before", "total_gap_after"]].sum()
            effect += f" Sum of gaps: {change_text(*gaps)}, if all images are made."
            rows = log.rows(
                "Gaps before and after the plan", "plan-coverage", plan=name, limit=MOST
            )
            coverage = pd.DataFrame(rows, columns=list(CATALOGUE["plan-coverage"].columns))

    jobs, job_queries = read_making(store, dataset, name)
    if jobs:
        log.statement("Jobs of the plan", reads.JOBS_OF_DATASET, **JOBS_READ, dataset=dataset)
        log.statement("Queries of its newest job", reads.QUERIES, **QUERIES_READ, job=jobs[0].id)
    return PlanContents(
        jobs=jobs,
        job_queries=job_queries,
        name=name,
        planner=plan.planner,
        queries=len(queries),
        images=plan.images_by_class(),
        by_size=by_size,
        coverage=coverage,
        effect=effect,
    )
