"""Test of one rate in all classes, by cluster where images are not independent."""

import numpy as np
import numpy.typing as npt

from cobalance.base.arrays import FloatArray
from cobalance.base.libraries import stats
from cobalance.counting.cliques import Cliques
from cobalance.statistics.association import (
    CHI_SQUARE,
    FISHER,
    FISHER_EACH_CLASS,
    MIN_EXPECTED,
    NONE,
    homogeneity_test,
)
from cobalance.statistics.interaction import exact_interaction


def clustered_p_values(cliques: Cliques) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Return a p-value and test of each clique: one rate in all classes, by cluster if there are.

    As `homogeneity_test`, on counts divided by their design effects; the exact test is of the
    nearest whole counts, each class against the others where there are three or more. Where pairs
    within clusters count, the p-value is at least that of an F distribution, whose denominator has
    as many degrees of freedom as clusters vary in the clique, less one.
    """
    if cliques.clustering is None:
        return homogeneity_test(cliques.counts, cliques.class_sizes)
    shown, sizes = (part[:, cliques.class_sizes > 0] for part in cliques.independent())
    absent, n_classes = sizes - shown, sizes.shape[1]
    total, others = shown.sum(axis=1, keepdims=True), absent.sum(axis=1, keepdims=True)
    share = sizes / (total + others)
    testable = (total[:, 0] > 0) & (others[:, 0] > 0) & (n_classes > 1)
    few = testable & (np.minimum(total, others) * share < MIN_EXPECTED).any(axis=1)
    spread = np.maximum(share * total * others / (total + others), 1e-300)
    degrees = max(n_classes - 1, 1)
    square = ((shown - total * share) ** 2 / spread).sum(axis=1)
    p_values = np.where(testable, stats.chi2.sf(square, degrees), 1.0)
    exact = FISHER if n_classes == 2 else FISHER_EACH_CLASS
    tests = np.select([few, testable], [exact, CHI_SQUARE], NONE).astype(np.int8)
    cells = np.stack([absent[few], shown[few]], axis=1)
    pairs = [
        np.stack([cells[:, :, code], cells.sum(axis=2) - cells[:, :, code]], axis=2)
        for code in range(n_classes if n_classes > 2 else 1)
    ]
    each = [exact_interaction(np.rint(pair).astype(np.int64)) for pair in pairs]
    p_values[few] = np.minimum(1.0, len(each) * np.min(each, axis=0))
    freedom = cliques.clustering.freedom
    limit = stats.f.sf(square / degrees, degrees, np.maximum(freedom, 1))
    least = np.select([~testable | (freedom < 0), freedom > 0], [0.0, limit], 1.0)
    return np.maximum(p_values, least), tests
