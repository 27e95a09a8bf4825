"""Count the images that servers are asked for, within a job's budget."""

from cobalance.graph.database import GraphStore
from cobalance.graph.jobs import statements


def reserve_image(store: GraphStore, job: str, most: int | None) -> bool:
    """Count an image before a server is asked for it; False where the budget is spent.

    Of any number of workers at once, no more are let through than the budget allows. An image whose
    worker dies stays counted, as nobody knows whether the server has made it.

    Parameters
    ----------
    most : int or None
        The budget in images; None for any number.
    """
    rows = store.write(statements.RESERVE_IMAGE, job=job, most=most)

    # A job that is gone has no row.
    return bool(rows and rows[0]["reserved"])


def release_image(store: GraphStore, job: str) -> None:
    """Take an image back that was counted and that the server has surely not made.

    To be called once: a second call would allow one image above the budget.
    """
    store.write(statements.RELEASE_IMAGE, job=job)
