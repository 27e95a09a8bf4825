"""Candidates of a job page by page, and their provenance."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cobalance.graph.database.job_nodes import CANDIDATE
from cobalance.graph.database.store import GraphStore, Row
from cobalance.graph.errors import OptionError, check_known, require_one
from cobalance.graph.jobs import reads
from cobalance.graph.jobs.lifecycle import CANDIDATE_STATES, CandidateState


@dataclass(frozen=True)
class Candidate:
    """A candidate in the graph.

    Parameters
    ----------
    id, query : str
        Its own name and its query's.
    class_name, concepts
        Requested class and concepts.
    uri, source_image, source_uri, mask_uri, scores, reason, seed, seconds
        As the worker reported them, see `cobalance.graph.jobs.candidates.NewCandidate`.
    verdict : CandidateState
        Of the filters, or of the person who decided since; pending until the best are chosen.
    rank : int or None
        Among its query's candidates, from 1; None where it was not ranked.
    decided_by : str or None
        Who decided; None for the filters, empty without a login.
    created_at, decided_at : datetime or None
        In UTC.
    """

    id: str
    query: str
    class_name: str
    concepts: tuple[str, ...]
    uri: str | None
    source_image: str | None
    source_uri: str | None
    mask_uri: str | None
    scores: Mapping[str, float]
    verdict: CandidateState
    rank: int | None
    reason: str
    seed: int | None
    seconds: float | None
    decided_by: str | None
    created_at: datetime | None
    decided_at: datetime | None


@dataclass(frozen=True)
class CandidatePage:
    """A page of a job's candidates, the first reported first, and the total of all pages."""

    candidates: tuple[Candidate, ...]
    total: int


def list_candidates(
    store: GraphStore,
    job: str,
    *,
    query: str | None = None,
    verdict: CandidateState | None = None,
    decided_since: datetime | None = None,
    page: int = 1,
    per_page: int = 12,
) -> CandidatePage:
    """Read a page of a job's candidates.

    Parameters
    ----------
    query, verdict : str or None
        Only those of this query, only those with this verdict.
    decided_since : datetime or None
        With a verdict: and those that people have decided on since, so that pages stay as they are
        while somebody decides.
    page : int
        From 1.
    """
    check_known("verdict", [] if verdict is None else [verdict], CANDIDATE_STATES)
    if page < 1 or per_page < 1:
        raise OptionError(f"Page {page} of {per_page} candidates; give 1 or more of both.")
    (found,) = store.read(
        reads.CANDIDATES_OF_JOB if query is None else reads.CANDIDATES_OF_QUERY,
        job=job,
        query=query,
        verdict=verdict,
        since=decided_since and int(decided_since.timestamp() * 1000),
        skip=(page - 1) * per_page,
        limit=per_page,
    )
    return CandidatePage(tuple(map(candidate_of, found["candidates"])), found["total"])


def count_decided(store: GraphStore, job: str, query: str | None = None) -> int:
    """Count a job's candidates that a person has decided on, of one query or of all."""
    (row,) = store.read(reads.COUNT_DECIDED, job=job, query=query)
    return int(row["candidates"])


def read_provenance(store: GraphStore, candidate: str) -> dict[str, Any]:
    """Read a candidate's provenance as its worker recorded it; NotFoundError without one."""
    row = require_one(store.read(reads.PROVENANCE, candidate=candidate), "candidate", candidate)
    found: dict[str, Any] = json.loads(row["provenance"])
    return found


def candidate_of(stored: Row) -> Candidate:
    """Convert a stored candidate."""
    return Candidate(**CANDIDATE.parse(stored) | {"concepts": tuple(stored["concepts"])})
