"""Settlement of queries: the best of many candidates are chosen, the others rejected.

A job may make many candidates for each image that it wants. They are pending until all of their
query are made; then they are ranked, so many are accepted as the query wants, and the query ends.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from cobalance.graph.database import GraphStore, json_text
from cobalance.graph.database.sync import BATCH, batches
from cobalance.graph.jobs import reads, verdict_statements
from cobalance.graph.jobs.candidates import DISPLACED
from cobalance.graph.jobs.lifecycle import query_id


@dataclass(frozen=True)
class MadeCandidate:
    """A candidate of a query that is to be settled.

    Parameters
    ----------
    id, scores : str, mapping of str to float
        Its own name, and the filters' scores.
    eligible : bool
        Whether it may be chosen: the filters accept it and no person has rejected it, or a person
        has accepted it.
    reason, decided_by : str, str or None
        Why it is rejected; who has decided, None for the filters.
    """

    id: str
    scores: Mapping[str, float]
    eligible: bool = True
    reason: str = ""
    decided_by: str | None = None


@dataclass(frozen=True)
class RankedCandidate:
    """A candidate with its rank in its query, from 1, and why it is rejected if it is."""

    id: str
    rank: int
    reason: str


@dataclass(frozen=True)
class Settlement:
    """The order of preference of a query's candidates.

    Parameters
    ----------
    query : str
        The query's id.
    made : int
        How many candidates it had in all; one that has more by now is not settled.
    ranked : sequence of RankedCandidate
        Those that may be chosen.
    message, short_message : str
        What people should know of the query; the second one where it gets fewer images than it
        wants.
    """

    query: str
    made: int
    ranked: Sequence[RankedCandidate]
    message: str = ""
    short_message: str = ""


def read_made(store: GraphStore, queries: Sequence[str]) -> dict[str, list[MadeCandidate]]:
    """Read all candidates of queries, by query, each query's in order of id.

    A query without any is left out.
    """
    candidates: dict[str, list[MadeCandidate]] = {}
    for row in store.read(reads.MADE, queries=list(queries)):
        row["scores"] = json.loads(row["scores"])
        candidates.setdefault(row.pop("query"), []).append(MadeCandidate(**row))
    return candidates


def judge_made(
    store: GraphStore, job: str, judged: Mapping[str, tuple[Mapping[str, float], str]]
) -> None:
    """Give candidates other scores, by id, and reject those pending ones that have a reason.

    May be repeated. What people have decided stays.
    """
    rows = [
        [candidate, json_text(scores), reason] for candidate, (scores, reason) in judged.items()
    ]

    for batch in batches(rows):
        store.write(verdict_statements.JUDGE_CANDIDATES, job=job, rows=batch)


def settle_queries(
    store: GraphStore, job: str, settlements: Sequence[Settlement], *, keep_losers: bool = True
) -> None:
    """Accept the best candidates of queries, reject the others, and end the queries.

    Accepted ones stay. A query that was settled meanwhile, or has more candidates by now, is left
    as it is, so that this may be repeated, by any number of workers.

    Parameters
    ----------
    keep_losers : bool
        Keep the nodes of rejected candidates. Without, a query that has enough accepted ones keeps
        these alone, and how many others there were.
    """
    for batch in _in_batches(settlements):
        store.write(
            verdict_statements.SETTLE_QUERIES,
            job=job,
            rows=[asdict(settlement) for settlement in batch],
            keep_losers=keep_losers,
            chosen=None,
            displaced=DISPLACED,
        )


@dataclass(frozen=True)
class KeptCandidates:
    """Remaining candidates of a query that dropped the others.

    Parameters
    ----------
    query : int
        Its position in the job.
    settled : int
        Of how many candidates the best were chosen, the first ones.
    kept : frozenset of str
        Ids of its candidates.
    """

    query: int
    settled: int
    kept: frozenset[str]


def read_kept(store: GraphStore, job: str, queries: Sequence[int]) -> list[KeptCandidates]:
    """Read the remaining candidates of queries that dropped some, by position."""
    remaining = []
    for batch in batches([query_id(job, query) for query in queries]):
        for row in store.read(reads.KEPT, job=job, queries=batch):
            ids = frozenset(row["kept"])
            remaining.append(KeptCandidates(row["position"], row["settled"], ids))
    return remaining


def _in_batches(settlements: Sequence[Settlement]) -> Iterator[list[Settlement]]:
    """Transactions of a bounded number of candidates; a query is settled in one of them."""
    batch: list[Settlement] = []
    size = 0

    for settlement in settlements:
        if batch and size + settlement.made > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(settlement)
        size += settlement.made
    if batch:
        yield batch
