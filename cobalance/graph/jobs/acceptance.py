"""Why candidates of a query are rejected, and which are more than it wants."""

from collections.abc import Sequence
from dataclasses import dataclass

from cobalance.graph.database import GraphStore
from cobalance.graph.database.sync import batches
from cobalance.graph.jobs import reads, verdict_statements

SURPLUS = "Its query has the images that it wants without it."
"""Why a candidate that the filters accept is rejected."""

# Queries that are read or written at once; each has some dozens of candidates.
_QUERIES = 200


@dataclass(frozen=True)
class Rejections:
    """Why the candidates of a query are rejected.

    Parameters
    ----------
    made : int
        All its candidates.
    filters : sequence of sequence of str
        Of each candidate that filters reject, their names in the order of the job.
    not_found : sequence of sequence of str
        Of each of these, the requested concepts that a filter did not find.
    reasons : sequence of str
        Why each of the others is rejected, such as one without an image.
    """

    made: int
    filters: Sequence[Sequence[str]]
    not_found: Sequence[Sequence[str]]
    reasons: Sequence[str]


def read_rejections(store: GraphStore, queries: Sequence[str]) -> dict[str, Rejections]:
    """Read why candidates of queries are rejected, by the query's id."""
    rejections = {}
    for batch in batches(list(queries), _QUERIES):
        for row in store.read(reads.REJECTIONS, queries=batch):
            query = row.pop("query")
            rejections[query] = Rejections(**row)
    return rejections


def reject_surplus(store: GraphStore, job: str, queries: Sequence[str]) -> None:
    """Reject accepted candidates beyond the number that their queries want, the last first.

    What people have accepted stays, and takes no place. May be repeated.
    """
    for batch in batches(list(queries), _QUERIES):
        store.write(verdict_statements.REJECT_SURPLUS, job=job, queries=batch, reason=SURPLUS)
