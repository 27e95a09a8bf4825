"""Lock of a dataset's writer: claim it, release it, and detect a concurrent writer."""

import uuid

from graph.database.store import GraphStore
from graph.dataset import statements
from graph.errors import StoreError


def claim(store: GraphStore, name: str) -> str:
    """Claim the dataset for writing, and return the token that each write of nodes presents.

    The latest claim wins: an older writer's next batch fails, whether its process lives or not.
    """
    token = uuid.uuid4().hex
    store.write(statements.UPDATE_DATASET, dataset=name, values={"writer": token})
    return token


def finish(store: GraphStore, name: str, writer: str, *, guards: str, **values: object) -> None:
    """Record a completed write, and release the claim.

    Parameters
    ----------
    guards : str
        The digest to clear if another process wrote at the same time: ``digest`` or
        ``cliques_digest``.
    **values
        Properties of the dataset to set.

    Raises
    ------
    StoreError
        Another process has claimed or dropped the dataset meanwhile. What they both wrote is then
        marked as incomplete, so that no count of it is shown before it is written again.
    """
    finished = store.write(statements.FINISH, dataset=name, writer=writer, values=values)
    if not finished:
        raise invalidate(store, name, guards)


def invalidate(store: GraphStore, name: str, digest: str) -> StoreError:
    """Clear a digest after concurrent writes, and return the error to raise."""
    store.write(statements.UPDATE_DATASET, dataset=name, values={digest: None})
    return StoreError(
        f"Another process has written or dropped {name!r} at the same time. Try again "
        "when the other one has ended."
    )
