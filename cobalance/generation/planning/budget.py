"""Spend a budget of images on a plan's queries: evidence first, largest lean first."""

import numpy as np

from cobalance.base.arrays import IntArray
from cobalance.counting.cliques import Cliques
from cobalance.generation.planning.lean import Lean, match_cliques

_SHARE_OF_BEST = 0.5  # of the best price of an image, the last that a round takes
_ROUNDS = 100


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
    wanted, places = images[rows, codes], np.arange(len(rows))
    shown = match_cliques(cliques, cliques.members[chosen[rows]])
    pending, left = np.ones(len(rows), dtype=bool), budget
    taken: list[int] = []
    weights, kept = lean.weights, 0
    lowest = lean.statistic(weights)
    while left > 0 and pending.any():
        prices = lean.price_sets(shown, wanted)[places, codes] / wanted
        order = np.flatnonzero(pending)[np.argsort(prices[pending], kind="stable")]
        best = order[prices[order] <= _SHARE_OF_BEST * min(prices[order[0]], 0.0)]
        best = best if len(best) else order[:1]
        before = np.cumsum(wanted[best]) - wanted[best]
        for at in best[before <= min(budget / _ROUNDS, left - 1)].tolist():
            n = wanted[at] = min(int(wanted[at]), left)
            lean.add(int(codes[at]), n, n * shown[at].toarray()[0])
            taken.append(at)
            pending[at] = False
            left -= n
        lean.weigh()
        if (now := lean.statistic(weights)) <= lowest + 1e-9:
            lowest, kept = min(now, lowest), len(taken)
    found = np.zeros_like(images)
    chosen_places = np.array(taken[:kept], dtype=np.int64)
    found[rows[chosen_places], codes[chosen_places]] = wanted[chosen_places]
    return found
