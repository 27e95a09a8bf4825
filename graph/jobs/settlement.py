"""Settlement of queries: the best of many candidates are chosen, the others rejected.

A job may make many candidates for each image that it wants. They are pending until all of their
query are made; then they are ranked, so many are accepted as the query wants, and the query ends.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from graph.database.store import GraphStore
from graph.database.sync import BATCH
from graph.jobs import reads, statements
from graph.jobs.candidates import DISPLACED


@dataclass(frozen=True)
class EligibleCandidate:
    """A candidate that may be chosen, with the filters' scores."""

    id: str
    scores: Mapping[str, float]


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


def read_eligible(store: GraphStore, queries: Sequence[str]) -> dict[str, list[EligibleCandidate]]:
    """Read the candidates that may be chosen, by query, each query's in order of id.

    They are those that the filters accept and no person has rejected, and those that people have
    accepted. A query without any is left out.
    """
    rows = store.read(reads.ELIGIBLE, queries=list(queries))
    return {
        query: [EligibleCandidate(row["id"], json.loads(row["scores"])) for row in of_query]
        for query, of_query in groupby(rows, key=lambda row: str(row["query"]))
    }


def settle_queries(store: GraphStore, job: str, settlements: Sequence[Settlement]) -> None:
    """Accept the best candidates of queries, reject the others, and end the queries.

    Accepted ones stay. A query that was settled meanwhile, or has more candidates by now, is left
    as it is, so that this may be repeated, by any number of workers.
    """
    for some in _in_batches(settlements):
        rows = [
            {
                "query": one.query,
                "made": one.made,
                "ranked": [[ranked.id, ranked.rank, ranked.reason] for ranked in one.ranked],
                "message": one.message,
                "short": one.short_message,
            }
            for one in some
        ]
        store.write(statements.SETTLE_QUERIES, job=job, rows=rows, chosen=None, displaced=DISPLACED)


def _in_batches(settlements: Sequence[Settlement]) -> Iterator[list[Settlement]]:
    """Transactions of a bounded number of candidates; a query is settled in one of them."""
    batch: list[Settlement] = []
    size = 0
    for one in settlements:
        if batch and size + len(one.ranked) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += len(one.ranked)
    if batch:
        yield batch
