"""Rounds of a job: which images to generate next, decided by one worker for all.

Without a pilot the first round asks for all wanted images of each query, each further one for as
many as were rejected. A round is recorded before any of its images is generated, in a transaction
that only one process wins, so that all workers generate the same images in the same chunks, also
after an interruption.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from cobalance.base import Edit, PlannedQuery
from cobalance.graph.database import GraphStore
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import edit_properties, read_edit
from cobalance.graph.jobs import reads, statements
from cobalance.graph.jobs.lifecycle import QueryState, query_id

_EDITED = edit_properties(None).keys()


@dataclass(frozen=True)
class Span:
    """Images of the query at a position of the job: `count` of them, numbered from `first` on."""

    query: int
    first: int
    count: int


@dataclass(frozen=True)
class Round:
    """A round of a job.

    Parameters
    ----------
    number : int
        From 0.
    attempt : int
        How many times people have queued the job again, before or in this round.
    spans : tuple of Span
        Images to generate, in order.
    """

    number: int
    attempt: int
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class QueryProgress:
    """Progress of a query for workers, as `cobalance.graph.database.job_nodes.JOB_QUERY` says.

    Parameters
    ----------
    state : QueryState
        As in `cobalance.graph.jobs.lifecycle`.
    accepted, made : int
        Its candidates: those accepted, and all.
    edit, sources : Edit or None, tuple of str
        As in `cobalance.base.records.PlannedQuery`.
    settled : int
        0 before the best are chosen.
    surplus : int
        Of the rejected ones, those that the filters accept.
    """

    position: int
    class_name: str
    concepts: tuple[str, ...]
    n: int
    state: QueryState
    accepted: int
    made: int
    retries: int = 0
    edit: Edit | None = None
    sources: tuple[str, ...] = ()
    more: int = 0
    settled: int = 0
    surplus: int = 0

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state in ("queued", "running")

    def to_plan(self, n: int) -> PlannedQuery:
        """The query as it is planned, for `n` images."""
        return PlannedQuery(self.class_name, self.concepts, n, self.edit, self.sources)


def read_round(store: GraphStore, job: str) -> Round | None:
    """Read a job's current round; None before the first, and for a job that was dropped."""
    rows = store.read(reads.ROUND, job=job)
    if not rows:
        return None

    (row,) = rows
    spans = tuple(Span(*span) for span in json.loads(row["spans"]))
    return Round(row["number"], row["attempt"], spans)


def begin_round(
    store: GraphStore,
    job: str,
    number: int,
    spans: Sequence[Span],
    *,
    best_of: int = 1,
    expected: tuple[int, int, int] | None = None,
) -> Round | None:
    """Begin round `number` of a job if it is the next; return the current one.

    Returns None for a job that was dropped.

    Parameters
    ----------
    best_of : int
        Candidates of each wanted image, of which one is chosen. Above 1 those that the filters
        accept are pending until `cobalance.graph.jobs.settlement.settle_queries` chooses.
    expected : tuple of int or None
        Candidates that the job will have at its end, and both limits of that, if known.
    """
    store.write(
        statements.BEGIN_ROUND,
        job=job,
        number=number,
        best_of=best_of,
        expected=expected or (None, None, None),
        spans=json.dumps([[span.query, span.first, span.count] for span in spans]),
    )

    return read_round(store, job)


def read_query_progress(store: GraphStore, job: str) -> list[QueryProgress]:
    """Read all queries of a job, by position."""
    progress = []
    for row in store.read(reads.QUERY_PROGRESS, job=job):
        values = {name: value for name, value in row.items() if name not in _EDITED}
        values["concepts"] = tuple(row["concepts"] or ())
        values["sources"] = tuple(row["sources"] or ())
        progress.append(QueryProgress(**values, edit=read_edit(row)))
    return progress


def missing_numbers(
    store: GraphStore, job: str, progress: Sequence[QueryProgress]
) -> dict[int, list[int]]:
    """Numbers of candidates that lack while later ones of their query are there, by query.

    A query that fails leaves such gaps, as several workers are on it; a retry is to fill them.

    Parameters
    ----------
    progress : sequence of QueryProgress
        Queries of the job; only those that are open and were queued again are looked at.
    """
    retried = [query for query in progress if query.is_open and query.retries and query.made]
    ids = [query_id(job, query.position) for query in retried]

    missing = {}
    for batch in batches(ids):
        for row in store.read(reads.NUMBERS, queries=batch):
            present = {int(candidate.rpartition("/")[2]) for candidate in row["ids"]}
            # Of the candidates that were dropped the numbers are no gap.
            present.update(range(row["dropped"]))
            if gaps := sorted(set(range(max(present, default=0))) - present):
                missing[row["position"]] = gaps
    return missing


def find_shared_reasons(
    store: GraphStore, job: str, progress: Sequence[QueryProgress], least: int
) -> dict[int, str]:
    """Find the one reason why no candidate of a query has a file, by the position of the query.

    Parameters
    ----------
    progress : sequence of QueryProgress
        Queries of the job; only those that are open and edit an image are looked at.
    least : int
        Candidates that a query must have had, each time that people have queued it.
    """
    ids = []
    for query in progress:
        is_without_image = query.is_open and query.edit is not None and query.accepted == 0
        if is_without_image and query.made >= least * (query.retries + 1):
            ids.append(query_id(job, query.position))

    reasons = {}
    for batch in batches(ids):
        for row in store.read(reads.SHARED_REASONS, queries=batch):
            reasons[row["position"]] = row["reason"]
    return reasons


def active_jobs(store: GraphStore) -> dict[str, str | None]:
    """The queued and running jobs, oldest first, each with its workers' needs if known."""
    return {row["job"]: row["extra"] for row in store.read(reads.ACTIVE_JOBS)}
