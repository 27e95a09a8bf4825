"""Spend a budget of images on a plan's queries: evidence first, largest lean first."""

import numpy as np

from cobalance.base import IntArray
from cobalance.counting import Cliques
from cobalance.generation.planning.lean import Lean, match_cliques

# A round takes no query whose price of an image is less than this share of the best.
_SHARE_OF_BEST = 0.5
# A round takes a hundredth of the budget, and prices the rest anew.
_ROUNDS = 100
# A change of the statistic below this is a rounding error.
_STATISTIC_ERROR = 1e-9


def spend_budget(cliques: Cliques, chosen: IntArray, images: IntArray, budget: int) -> IntArray:
    """Take whole queries of a plan, those first that bring down most lean with each image.

    Cutting all queries to the same share would leave each clique a part of its gap, and cutting the
    plan off behind its first queries would go by the size of cliques. Those whose lean has evidence
    weigh most, and those behind the lowest lean that is reached are not taken at all.

    Parameters
    ----------
    cliques : Cliques
        All, with their counts.
    chosen : int array
        Rows of the cliques to balance.
    images : int64 array, shape (n_chosen, n_classes)
        Images wanted of each class that contain exactly each chosen clique.
    budget : int
        Images in all, 1 or more.

    Returns
    -------
    int64 array, the same shape
        At most what was wanted, and at most the budget in all; the last query may be cut.

    Notes
    -----
    Queries are priced anew after each hundredth of the budget, see
    `cobalance.generation.planning.lean.Lean`.

    Examples
    --------
    Images with both show the cow, which leans, and even out the pair as well.

    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[9, 1], [4, 3], [4, 1]]),
    ...     np.array([20, 20]), ("cow", "road"), ("country", "urban"))
    >>> spend_budget(cliques, np.arange(3), np.array([[0, 5], [2, 0], [0, 3]]), 6).tolist()
    [[0, 3], [0, 0], [0, 3]]
    """
    values = np.zeros(len(cliques))
    values[chosen] = 1.0
    lean = Lean(cliques, values)
    rows, codes = np.nonzero(images)
    sizes, queries = images[rows, codes], np.arange(len(rows))
    cliques_of_queries = match_cliques(cliques, cliques.members[chosen[rows]])
    is_pending, remaining = np.ones(len(rows), dtype=bool), budget

    # The statistic is compared with the weights of the start, which do not change with the plan.
    weights = lean.weights
    lowest = lean.statistic(weights)
    accepted_queries: list[int] = []
    n_best = 0
    while remaining > 0 and is_pending.any():
        prices = lean.price_sets(cliques_of_queries, sizes)[queries, codes] / sizes
        order = np.flatnonzero(is_pending)[np.argsort(prices[is_pending], kind="stable")]
        best = order[prices[order] <= _SHARE_OF_BEST * min(prices[order[0]], 0.0)]
        if not len(best):
            best = order[:1]

        images_before = np.cumsum(sizes[best]) - sizes[best]
        for query in best[images_before <= min(budget / _ROUNDS, remaining - 1)].tolist():
            n = sizes[query] = min(int(sizes[query]), remaining)
            lean.add(int(codes[query]), n, n * cliques_of_queries[query].toarray()[0])
            accepted_queries.append(query)
            is_pending[query] = False
            remaining -= n

        lean.weigh()
        statistic = lean.statistic(weights)
        if statistic <= lowest + _STATISTIC_ERROR:
            lowest, n_best = min(statistic, lowest), len(accepted_queries)

    # Queries after the lowest statistic would only raise it again.
    spent = np.zeros_like(images)
    accepted = np.array(accepted_queries[:n_best], dtype=np.int64)
    spent[rows[accepted], codes[accepted]] = sizes[accepted]
    return spent
