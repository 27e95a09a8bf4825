"""Allocate a budget of images to a plan's queries: evenly, or to the largest gaps first."""

import numpy as np

from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.counting.subsets import SubsetIndex


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


def close_largest_gaps(cliques: Cliques, images: IntArray, budget: int, rows: IntArray) -> IntArray:
    """Spend the budget on a plan's largest gaps, one after the other.

    Where `share_budget` closes the same share of every gap, this closes some gaps as the whole plan
    does, the next one by a part, and leaves the others.

    Parameters
    ----------
    cliques : Cliques
        What the rows of `images` are.
    images : int array, shape (n_cliques, n_classes)
        Images wanted of each class that contain exactly each clique.
    budget : int
        Images in all, 0 or more.
    rows : int array
        The cliques whose gaps are to be closed.

    Returns
    -------
    int64 array, the same shape
        At most what was wanted; the sum is `budget`, or that of `images` where it is smaller.

    Notes
    -----
    What an image contains counts in all parts of it. So the gap of a clique is what the whole plan
    leaves of it as soon as all queries are kept that contain it, and a query that is kept later
    contains none of the cliques before. Equal gaps are in the order of the table.
    O(n_cliques x 2^max_size).

    Examples
    --------
    The cow's gap is the largest; the images with a cow and a road count in it.

    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[9, 1], [4, 3], [4, 1]]),
    ...     np.array([20, 20]), ("cow", "road"), ("country", "urban"))
    >>> images = np.array([[0, 5], [2, 0], [0, 3]])
    >>> close_largest_gaps(cliques, images, 9, np.arange(3)).tolist()
    [[0, 5], [1, 0], [0, 3]]
    >>> close_largest_gaps(cliques, images, 4, np.arange(3)).tolist()
    [[0, 3], [0, 0], [0, 1]]
    """
    wanted = np.asarray(images, dtype=np.int64)
    ranks = np.full(len(cliques), len(rows), dtype=np.int64)
    ranks[rows[np.argsort(-cliques.gaps()[rows], kind="stable")]] = np.arange(len(rows))
    # Of each query the largest gap that it helps to close.
    helped = ranks.copy()
    for positions, parts in SubsetIndex(cliques.members).subsets(cliques.members):
        np.minimum.at(helped, positions, ranks[parts])
    totals = np.zeros(len(rows) + 1, dtype=np.int64)
    np.add.at(totals, helped, wanted.sum(axis=1))
    spent = np.cumsum(totals)
    last = int(np.searchsorted(spent, budget, side="right"))  # of which a part is kept
    kept = np.where((helped < last)[:, None], wanted, 0)
    in_part = np.where((helped == last)[:, None], wanted, 0)
    return kept + share_budget(in_part, budget - int(kept.sum()))
