"""Lower bound on the lean after images of given concept sets."""

import numpy as np

from cobalance.base.arrays import FloatArray
from cobalance.base.libraries import sparse

_ROUNDS, _MOVES = 50, 10


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
    has = sizes > 0
    x, n = images[has].astype(np.float64), sizes[has].astype(np.float64)
    weights_n, total = weights / n[:, None], n.sum()
    shown = shown.astype(np.float64)
    k = counts[has] + np.asarray((shown.T @ x.T).T)
    bound = 0.0
    most = min(_MOVES, shown.shape[0])
    for _ in range(_ROUNDS):
        all_images = k.sum(axis=0)
        gradient = 2 * (weights_n * k - weights * all_images / total)
        worth = np.asarray(shown @ gradient.T).T
        left = float((weights_n * k**2).sum() - weights @ all_images**2 / total)
        gap = float((x * worth).sum() - x.sum(axis=1) @ worth.min(axis=1))
        bound = max(bound, left - gap)
        if gap <= 1e-6 * max(left, 1.0):
            break
        for code, of_class in enumerate(worth):
            used = np.flatnonzero(x[code])
            best = np.argpartition(of_class, most - 1)[:most]
            best = best[np.argsort(of_class[best], kind="stable")]
            worst = used[np.argsort(-of_class[used], kind="stable")]
            for to, away in zip(best.tolist(), worst.tolist(), strict=False):
                add, drop = (shown.indices[slice(*shown.indptr[at : at + 2])] for at in (to, away))
                both = np.concatenate([add, drop])
                slopes = weights[both] * (k[code, both] / n[code] - k[:, both].sum(axis=0) / total)
                slope = 2 * (slopes[: len(add)].sum() - slopes[len(add) :].sum())
                shared = np.intersect1d(add, drop, assume_unique=True)
                changed = weights[both].sum() - 2 * weights[shared].sum()
                curve = 2 * changed * (1 / n[code] - 1 / total)
                if slope < 0 < curve:
                    moved = min(x[code, away], -slope / curve)
                    x[code, away] -= moved
                    x[code, to] += moved
                    k[code, add] += moved
                    k[code, drop] -= moved
    return bound
