"""Lower bound on the lean after images of given concept sets."""

from dataclasses import dataclass

import numpy as np

from cobalance.base import FloatArray, IntArray, sparse

# Rounds of moving images between sets, and the most moves of a class in a round.
_ROUNDS, _MOVES = 50, 10
# The bound is not raised further once the gap is this share of the lean.
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class _Mix:
    """Images of each class and set, and the counts of cliques that they give."""

    images: FloatArray
    counts: FloatArray
    sizes: FloatArray
    total: float
    weights: FloatArray
    shown: "sparse.csr_matrix"

    def move(self, code: int, to: int, away: int) -> None:
        """Move images of a class from a set to another, as many as lower the lean most."""
        add, drop = self._cliques_of(to), self._cliques_of(away)
        changed = np.concatenate([add, drop])
        rates = self.counts[code, changed] / self.sizes[code]
        rates_of_all = self.counts[:, changed].sum(axis=0) / self.total
        slopes = self.weights[changed] * (rates - rates_of_all)
        slope = 2 * (slopes[: len(add)].sum() - slopes[len(add) :].sum())

        # Cliques that both sets have keep their counts.
        shared = np.intersect1d(add, drop, assume_unique=True)
        weight = self.weights[changed].sum() - 2 * self.weights[shared].sum()
        curve = 2 * weight * (1 / self.sizes[code] - 1 / self.total)
        if slope < 0 < curve:
            moved = min(self.images[code, away], -slope / curve)
            self.images[code, away] -= moved
            self.images[code, to] += moved
            self.counts[code, add] += moved
            self.counts[code, drop] -= moved

    def _cliques_of(self, place: int) -> IntArray:
        start, end = self.shown.indptr[place : place + 2]
        return self.shown.indices[start:end]


def bound_lean(
    counts: FloatArray,
    weights: FloatArray,
    shown: "sparse.csr_matrix",
    images: FloatArray,
    sizes: FloatArray,
) -> float:
    """Bound the lean from below, over all real numbers of images of each set and class.

    Parameters
    ----------
    counts : float array, shape (n_classes, n_cliques)
        Before.
    weights : float array, shape (n_cliques,)
        As `cobalance.generation.planning.lean.Lean` has them.
    shown : sparse matrix, shape (n_sets, n_cliques)
        The cliques that each set contains.
    images : array, shape (n_classes, n_sets)
        A plan to start from. As many images of each class are made of any of the sets.
    sizes : int array, shape (n_classes,)
        Images of each class afterwards.

    Returns
    -------
    float
        No plan leaves less; 0 or more.

    Notes
    -----
    With class sizes fixed the lean, rates of all images following, is a convex quadratic: the sum
    over classes of k^2 / n less K^2 / N. So from any point x with gradient g no other is below
    f(x) - (g x - min g x'), the duality gap of Frank and Wolfe (Naval Research Logistics Quarterly
    1956). Images move from the worst sets of a class to the best (pairwise steps, with exact line
    search) for a fixed number of rounds; the best of the bounds is returned. A round costs the
    cliques of all sets times the classes.
    """
    # A class without images has no rates, and takes no part.
    has = sizes > 0
    x, n = images[has].astype(np.float64), sizes[has].astype(np.float64)
    weights_n, total = weights / n[:, None], n.sum()
    shown = shown.astype(np.float64)
    k = counts[has] + np.asarray((shown.T @ x.T).T)
    mix = _Mix(images=x, counts=k, sizes=n, total=total, weights=weights, shown=shown)
    most = min(_MOVES, shown.shape[0])

    bound = 0.0
    for _ in range(_ROUNDS):
        all_images = k.sum(axis=0)
        gradient = 2 * (weights_n * k - weights * all_images / total)
        worth = np.asarray(shown @ gradient.T).T
        lean = float((weights_n * k**2).sum() - weights @ all_images**2 / total)
        gap = float((x * worth).sum() - x.sum(axis=1) @ worth.min(axis=1))
        bound = max(bound, lean - gap)
        if gap <= _CLOSE * max(lean, 1.0):
            break

        # Pairwise steps change `x` and `k` in place.
        for code, of_class in enumerate(worth):
            used = np.flatnonzero(x[code])
            best = np.argpartition(of_class, most - 1)[:most]
            best = best[np.argsort(of_class[best], kind="stable")]
            worst = used[np.argsort(-of_class[used], kind="stable")]
            for to, away in zip(best.tolist(), worst.tolist(), strict=False):
                mix.move(code, to, away)
    return bound
