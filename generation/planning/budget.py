"""Allocate a budget of images to a plan's queries."""

import numpy as np

from graph.arrays import IntArray


def share_budget(images: IntArray, budget: int) -> IntArray:
    """Scale all queries down in proportion so that their sum is the budget.

    A gap changes by what the queries make, so that cutting all of them to the same share closes
    that share of every gap: half the images of a plan that balances everything leave half of each
    gap, up to rounding. Cutting the plan off behind its first queries, which are those of the
    largest cliques, would balance some of these and leave the rest as it is.

    Whole images are given by the largest remainder method (Hamilton's): each query gets its share
    rounded down, and what is left goes one by one to the queries that were cut most by it.

    Parameters
    ----------
    images : int array, any shape
        Images wanted, none below 0.
    budget : int
        Images in all, 0 or more.

    Returns
    -------
    int64 array, the same shape
        At most what was wanted; the sum is `budget`, or that of `images` where it is smaller.

    Notes
    -----
    Among equal remainders, the query that asks for more goes first, then the earlier one in the
    array, so that the result depends on nothing else. O(n log n).

    Examples
    --------
    >>> share_budget(np.array([6, 3, 1]), 5).tolist()
    [3, 2, 0]
    """
    wanted = np.asarray(images, dtype=np.int64)
    total = int(wanted.sum())
    if total <= budget:
        return wanted.copy()
    if total * budget >= 2**63:
        # Exact in Python's integers; one query may ask for the whole.
        shares = [divmod(n * budget, total) for n in wanted.ravel().tolist()]
        given = np.array([share for share, _ in shares], dtype=np.int64)
        left_over = np.array([rest for _, rest in shares], dtype=np.int64)
    else:
        given, left_over = np.divmod(wanted.ravel() * budget, total)
    order = np.lexsort((-wanted.ravel(), -left_over))
    given[order[: budget - int(given.sum())]] += 1
    return given.reshape(wanted.shape)
