"""Candidates of a job: added by workers, deduplicated, accepted or rejected by people.

A report may be repeated: a worker that was killed reports again what it may have reported before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cobalance.base import (
    Action,
    ConflictError,
    NotFoundError,
    OptionError,
    StaleError,
    check_known,
    group_pairs,
    require_one,
)
from cobalance.graph.database import CANDIDATE, GraphStore, json_text
from cobalance.graph.database.sync import batches
from cobalance.graph.jobs import reads, statements, verdict_statements
from cobalance.graph.jobs.lifecycle import VERDICTS, Verdict

DISPLACED = "Another candidate was chosen by hand."
"""Why a candidate that was chosen is no longer."""

_NONE_LEFT = (
    "People have rejected what was chosen, and no other candidate is left to choose. Queue the "
    "query again for more."
)


@dataclass(frozen=True)
class NewCandidate:
    """A generated image for a query, judged by the filters.

    Parameters
    ----------
    id : str
        Unique in the store; the same whenever the same image is made again, such as the query's
        id and a number.
    uri, ..., provenance
        As `cobalance.graph.database.job_nodes.CANDIDATE` says. The seed is a signed 64-bit number,
        the seconds are its part of the time of its batch; candidates of a query with nearly the
        same fingerprint look the same; scores and provenance are anything that JSON can hold.
    index : int or None
        Its number within the query. Where the best are chosen and the others are not kept, a report
        of one that has lost adds nothing.
    """

    id: str
    uri: str | None
    verdict: Verdict
    scores: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    source_image: str | None = None
    source_uri: str | None = None
    mask_uri: str | None = None
    seed: int | None = None
    seconds: float | None = None
    fingerprint: str | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    index: int | None = None
    rejected_by: Sequence[str] = ()
    not_found: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_known("verdict", [self.verdict], VERDICTS)
        if self.seconds is not None and not self.seconds >= 0:
            raise OptionError(f"Candidate {self.id!r} took {self.seconds} seconds.")


@dataclass(frozen=True)
class QueryCounts:
    """Images wanted of a query (`n`), and its accepted, rejected and pending candidates."""

    n: int
    accepted: int
    rejected: int
    pending: int = 0


@dataclass(frozen=True)
class Fingerprint:
    """Perceptual hash of an accepted or pending candidate."""

    query: str
    candidate: str
    fingerprint: str


def record_made(
    store: GraphStore,
    job: str,
    candidates: Mapping[str, Sequence[NewCandidate]],
    *,
    finish: bool = False,
) -> dict[str, QueryCounts]:
    """Write candidates of some queries in one transaction, and return the queries' counts.

    The candidates are given by the id of their query. One that exists stays as it is, with the
    decisions of people.

    Parameters
    ----------
    finish : bool
        Mark those queries as done that have enough accepted candidates, and none but these.

    Raises
    ------
    NotFoundError
        There is no such job: its dataset was dropped.
    """
    queries, candidate_rows = [], []
    for query, new_candidates in candidates.items():
        queries.append([query, len(new_candidates)])
        for candidate in new_candidates:
            row = {
                "query": query,
                "key": candidate.id,
                "index": candidate.index,
                "properties": _properties_of(candidate),
            }
            candidate_rows.append(row)

    rows = store.write(
        statements.ADD_CANDIDATES, job=job, finish=finish, queries=queries, rows=candidate_rows
    )
    if not rows and candidates:
        raise NotFoundError("job", job)

    return {row.pop("query"): QueryCounts(**row) for row in rows}


def fingerprints(store: GraphStore, queries: Sequence[str]) -> list[list[Fingerprint]]:
    """Read the fingerprints of accepted and pending candidates, by query and id."""
    rows = store.read(reads.FINGERPRINTS, queries=list(queries))
    return list(group_pairs((row["query"], Fingerprint(**row)) for row in rows).values())


def reject_made(store: GraphStore, job: str, reasons: Mapping[str, str]) -> None:
    """Reject candidates with a reason each, by id, except those decided by people."""
    for rows in batches([[candidate, reason] for candidate, reason in reasons.items()]):
        store.write(verdict_statements.REJECT_CANDIDATES, job=job, rows=rows)


def decide(store: GraphStore, candidate: str, verdict: Verdict, by: str) -> QueryCounts:
    """Accept or reject a candidate by hand, and return its query's counts.

    The filters' reason and scores stay. The query's state stays too: one that is done with too few
    accepted images is queued again by ``retry_job(..., short=True)``.

    Where the best of many was chosen, or an image is edited, so many stay accepted as the query
    wants: whoever accepts another candidate thereby rejects the one that was chosen, and whoever
    rejects that one accepts the next by rank that no person has rejected.

    Parameters
    ----------
    by : str
        Who decides; empty without a login.

    Raises
    ------
    NotFoundError
        There is no such candidate.
    ConflictError
        It is to be accepted, and has no file: none could be made, or it was not kept. Or it has
        lost, and its job does not keep the losers.
    """
    check_known("verdict", [verdict], VERDICTS)
    rows = store.write(
        verdict_statements.DECIDE,
        candidate=candidate,
        verdict=verdict,
        by=by,
        chosen=candidate,
        displaced=DISPLACED,
        short=_NONE_LEFT,
    )
    if rows:
        return QueryCounts(**rows[0])

    if store.read(reads.HAS_CANDIDATE, candidate=candidate):
        raise ConflictError(
            f"Candidate {candidate!r} has no file, and cannot be accepted. Accept another one, "
            "or queue its query again."
        )
    # A candidate's id begins with that of its query.
    for row in store.read(reads.DROPPED, query=candidate.rpartition("/")[0]):
        raise ConflictError(
            f"Candidate {candidate!r} was not kept: another one was chosen, and keep_losers of "
            "its job is false. To have more made, reject the one that was chosen, and ",
            Action("retry", row["job"], short=True),
            ".",
        )
    raise NotFoundError("candidate", candidate)


@dataclass(frozen=True)
class QueryDecisions:
    """The verdicts on a query's candidates at a moment, to come back to.

    Parameters
    ----------
    query, message : str
        The query's id, and what people should know of it.
    settled : int or None
        Among how many candidates the best were chosen; None before that.
    rows : tuple of tuple
        Id, verdict, moment of the decision in milliseconds, who decided, and reason, by id.
    """

    query: str
    message: str
    settled: int | None
    rows: tuple[tuple[Any, ...], ...]


def read_decisions(store: GraphStore, query: str) -> QueryDecisions:
    """Read the verdicts on a query's candidates; NotFoundError without such a query."""
    row = require_one(store.read(reads.DECISIONS, query=query), "query", query)

    return QueryDecisions(
        query=query,
        message=row["message"],
        settled=row["settled"],
        rows=tuple(map(tuple, row["rows"])),
    )


def restore_decisions(store: GraphStore, before: QueryDecisions, after: QueryDecisions) -> None:
    """Take a decision back.

    Parameters
    ----------
    before, after : QueryDecisions
        The same query before and after the decision.

    Raises
    ------
    StaleError
        Somebody has decided otherwise since, or more candidates were made. Nothing is changed.
    """
    rows_by_id = {row[0]: row for row in before.rows}
    rows_before, rows_after = [], []
    for row in after.rows:
        row_before = rows_by_id.get(row[0], row)
        if row != row_before:
            rows_before.append(list(row_before))
            rows_after.append(list(row))

    rows = store.write(
        verdict_statements.RESTORE,
        query=before.query,
        message=before.message,
        settled=after.settled,
        before=rows_before,
        after=rows_after,
    )
    if not rows:
        raise StaleError(
            f"The decision on the query {before.query!r} cannot be undone: its candidates have "
            "changed since. Decide again."
        )


def read_verdicts(
    store: GraphStore, job: str, candidates: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Read ``verdict``, ``reason`` and ``decided_by`` of candidates of a job, by id.

    Those that were ranked have a ``rank``, too.
    """
    rows = store.read(reads.VERDICTS, job=job, candidates=list(candidates))
    for row in rows:
        if row["rank"] is None:
            del row["rank"]
    return {row.pop("id"): row for row in rows}


def _properties_of(candidate: NewCandidate) -> dict[str, Any]:
    """Convert a candidate to properties of its node, without its id, query and number."""
    properties = dict(vars(candidate))
    del properties["id"], properties["index"]
    for name in ("rejected_by", "not_found"):
        properties[name] = list(properties[name]) or None
    properties["scores"] = json_text(candidate.scores)
    properties["provenance"] = json_text(candidate.provenance)
    return CANDIDATE.check(properties)
