"""One writer of a dataset at a time: claim it, finish, and notice another one."""

import uuid

from graph.database.store import GraphStore
from graph.errors import StoreError


def claim(store: GraphStore, name: str) -> str:
    """Become the dataset's writer, and return the token that every write of nodes shows.

    The latest claim wins: an older writer's next batch fails, whether its process lives or not.
    """
    token = uuid.uuid4().hex
    store.write("MATCH (d:Dataset {name: $name}) SET d.writer = $token", name=name, token=token)
    return token


def finish(store: GraphStore, name: str, writer: str, *, spoils: str, **values: object) -> None:
    """Record what a writer has completed, and let go of the claim.

    Parameters
    ----------
    spoils : str
        The digest that two writers at once make meaningless: ``digest`` or ``cliques_digest``.
    **values
        Properties of the dataset to set.

    Raises
    ------
    StoreError
        Another process has claimed or dropped the dataset meanwhile. What they both wrote is then
        marked, so that no number is shown before a run that nobody disturbs.
    """
    finished = store.write(
        "MATCH (d:Dataset {name: $name, writer: $writer}) SET d += $values, d.writer = null "
        "RETURN d.name",
        name=name,
        writer=writer,
        values=values,
    )
    if not finished:
        raise invalidate(store, name, spoils)


def invalidate(store: GraphStore, name: str, spoils: str) -> StoreError:
    """Mark what two writers at once have spoilt, and give the error to raise."""
    store.write(
        "MATCH (d:Dataset {name: $name}) SET d += $spoiled", name=name, spoiled={spoils: None}
    )
    return StoreError(
        f"Another process has written or dropped {name!r} at the same time. Try again "
        "when the other one has ended."
    )
