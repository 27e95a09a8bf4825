"""Candidates of a job page by page, or by the images that they edit; their provenance."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from operator import attrgetter
from typing import Any

from cobalance.base import check_known, group_pairs, require_one
from cobalance.graph.database import CANDIDATE, GraphStore, Row
from cobalance.graph.jobs import reads
from cobalance.graph.jobs.lifecycle import CANDIDATE_STATES, CandidateState, query_id


@dataclass(frozen=True)
class Candidate:
    """A candidate, as `cobalance.graph.database.job_nodes.CANDIDATE` says.

    Parameters
    ----------
    class_name, concepts
        Requested class and concepts.
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
    if verdict is not None:
        check_known("verdict", [verdict], CANDIDATE_STATES)

    (row,) = store.read(
        reads.CANDIDATES_OF_JOB if query is None else reads.CANDIDATES_OF_QUERY,
        job=job,
        query=query,
        verdict=verdict,
        since=decided_since and int(decided_since.timestamp() * 1000),
        skip=(page - 1) * per_page,
        limit=per_page,
    )
    candidates = tuple(_candidate(stored) for stored in row["candidates"])
    return CandidatePage(candidates, row["total"])


def count_decided(store: GraphStore, job: str, query: str | None = None) -> int:
    """Count a job's candidates that a person has decided on, of one query or of all."""
    (row,) = store.read(reads.COUNT_DECIDED, job=job, query=query)
    return int(row["candidates"])


def read_provenance(store: GraphStore, candidate: str) -> dict[str, Any]:
    """Read a candidate's provenance as its worker recorded it; NotFoundError without one."""
    row = require_one(store.read(reads.PROVENANCE, candidate=candidate), "candidate", candidate)
    return json.loads(row["provenance"])


def _candidate(stored: Row) -> Candidate:
    return Candidate(**CANDIDATE.parse(stored) | {"concepts": tuple(stored["concepts"])})


MOST_CANDIDATES = 60
"""Of a group that are read at once, unless told otherwise."""
# Queries that are looked at together.
_FIRST_WINDOW, _LARGEST_WINDOW = 64, 4096


@dataclass(frozen=True)
class EditedGroup:
    """Candidates that show an image edited for one group.

    Parameters
    ----------
    query, class_name, message : str
        Id of the query; the group; what people should know of the query.
    position : int
        Of the query in its job.
    made, pending, ranked, dropped : int
        All its candidates; those that wait for the best to be chosen; those with a rank, of those
        that are kept; those that are not kept.
    candidates : tuple of Candidate
        The accepted ones and the best others, by rank, then those without a rank.
    """

    query: str
    position: int
    class_name: str
    message: str
    made: int
    pending: int
    ranked: int
    dropped: int
    candidates: tuple[Candidate, ...]

    @property
    def chosen(self) -> tuple[Candidate, ...]:
        """The accepted candidates."""
        return tuple(candidate for candidate in self.candidates if candidate.verdict == "accepted")


@dataclass(frozen=True)
class EditedImage:
    """An image that a job edits.

    Parameters
    ----------
    position : int
        Of its first query in the job.
    source_image, concepts : str, tuple of str
        Its id, and its own concepts.
    uri : str or None
        Where its file is; None where the annotations do not say so and nothing was made of it.
    groups : tuple of EditedGroup
        In the order of the job's queries.
    """

    position: int
    source_image: str
    uri: str | None
    concepts: tuple[str, ...]
    groups: tuple[EditedGroup, ...]

    @property
    def mask_uri(self) -> str | None:
        """URI of the edit mask, from the first candidate that has one."""
        return _first_uri(self.groups, attrgetter("mask_uri"))


def count_edited(store: GraphStore, job: str) -> int:
    """How many images a job edits; it never changes once the job is written."""
    (row,) = store.read(reads.COUNT_EDITED, job=job)
    return int(row["images"])


def count_reviewed(store: GraphStore, job: str) -> int:
    """How many of them have a person's decision in each group that has candidates."""
    (row,) = store.read(reads.COUNT_REVIEWED, job=job)
    return int(row["images"])


def find_edited(
    store: GraphStore,
    job: str,
    start: int,
    n: int,
    *,
    queries: int,
    backwards: bool = False,
    unreviewed: bool = False,
) -> list[int]:
    """Find the images whose first queries come next, and return these queries' positions.

    The queries in between are looked at a window at a time, so that no job is read as a whole.

    Parameters
    ----------
    start : int
        The first position to look at; backwards the last one.
    n : int
        At most so many images.
    queries : int
        How many queries the job has.
    unreviewed : bool
        Only those of which a group has candidates, and no decision of a person's.
    """
    positions: list[int] = []
    statement = reads.UNREVIEWED_OF_EDITED if unreviewed else reads.FIRST_OF_EDITED
    for window in _windows(start, queries, backwards=backwards):
        ids = [query_id(job, position) for position in window]
        in_window = [row["position"] for row in store.read(statement, ids=ids)]
        positions += sorted(in_window, reverse=backwards)
        if len(positions) >= n:
            break
    return positions[:n]


def read_edited(
    store: GraphStore, job: str, positions: Sequence[int], *, most: int = MOST_CANDIDATES
) -> list[EditedImage]:
    """Read the images that the queries at some positions edit, in this order.

    Parameters
    ----------
    most : int
        At most so many candidates of each group.
    """
    ids = [query_id(job, position) for position in positions]

    rows = store.read(reads.EDITED_IMAGES, ids=ids, most=most)
    rows_by_position = group_pairs((row["asked"], row) for row in rows)
    return [
        _image(rows_by_position[position]) for position in positions if position in rows_by_position
    ]


def _image(rows: Sequence[Row]) -> EditedImage:
    """The image that some queries edit, one row for each of them."""
    groups = tuple(_group(row) for row in rows)
    return EditedImage(
        position=groups[0].position,
        source_image=rows[0]["source_image"],
        uri=rows[0]["uri"] or _first_uri(groups, attrgetter("source_uri")),
        concepts=tuple(rows[0]["concepts"]),
        groups=groups,
    )


def _first_uri(
    groups: Sequence[EditedGroup], uri_of: Callable[[Candidate], str | None]
) -> str | None:
    """A URI of the first candidate that has one; None if none has."""
    candidates = chain.from_iterable(group.candidates for group in groups)
    return next(filter(None, map(uri_of, candidates)), None)


def _group(row: Row) -> EditedGroup:
    candidates = sorted(map(_candidate, row["candidates"]), key=_place)
    return EditedGroup(
        query=row["query"],
        position=row["position"],
        class_name=row["class_name"],
        message=row["message"],
        made=row["made"],
        pending=row["pending"],
        ranked=row["ranked"],
        dropped=row["dropped"],
        candidates=tuple(candidates),
    )


def _place(candidate: Candidate) -> tuple[bool, int, bool, str]:
    """Place of a candidate in its group, which no decision changes once it is ranked."""
    rank = candidate.rank
    return rank is None, rank or 0, candidate.verdict == "rejected", candidate.id


def _windows(start: int, queries: int, *, backwards: bool) -> Iterator[range]:
    """Ranges of positions from one on, in either direction, each twice as long as the last."""
    size = _FIRST_WINDOW
    while 0 <= start < queries:
        if backwards:
            yield range(max(0, start + 1 - size), start + 1)
            start -= size
        else:
            yield range(start, min(start + size, queries))
            start += size
        size = min(2 * size, _LARGEST_WINDOW)
