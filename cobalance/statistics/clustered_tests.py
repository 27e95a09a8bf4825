"""Test of one rate in all classes, by cluster where images are not independent."""

import numpy as np
import numpy.typing as npt

from cobalance.base import FloatArray, special
from cobalance.counting import Cliques
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

    # Rao and Scott (Biometrics 48, 1992): counts and sizes are divided by their design effects, and
    # then tested as those of independent images are.
    has_images = cliques.class_sizes > 0
    counts, class_sizes = cliques.independent()
    shown, sizes = counts[:, has_images], class_sizes[:, has_images]
    absent, n_classes = sizes - shown, sizes.shape[1]
    n_shown, n_absent = shown.sum(axis=1, keepdims=True), absent.sum(axis=1, keepdims=True)
    share = sizes / (n_shown + n_absent)
    testable = (n_shown[:, 0] > 0) & (n_absent[:, 0] > 0) & (n_classes > 1)

    # Pearson's chi-square over all classes.
    spread = np.maximum(share * n_shown * n_absent / (n_shown + n_absent), 1e-300)
    degrees = max(n_classes - 1, 1)
    chi_square = ((shown - n_shown * share) ** 2 / spread).sum(axis=1)
    p_values = np.where(testable, special.chdtrc(degrees, chi_square), 1.0)

    # With few images expected, the exact test; of three or more classes each against the others,
    # with Bonferroni's correction.
    few = testable & (np.minimum(n_shown, n_absent) * share < MIN_EXPECTED).any(axis=1)
    cells = np.stack([absent[few], shown[few]], axis=1)
    compared = range(n_classes) if n_classes > 2 else range(1)
    exact_p_values = [_test_one_class(cells, code) for code in compared]
    p_values[few] = np.minimum(1.0, len(exact_p_values) * np.min(exact_p_values, axis=0))
    exact_test = FISHER if n_classes == 2 else FISHER_EACH_CLASS
    tests = np.select([few, testable], [exact_test, CHI_SQUARE], NONE).astype(np.int8)

    # Where pairs within clusters count, the clusters that vary are what there is to tell from: with
    # no more than one of them nothing can be told.
    freedom = cliques.clustering.freedom
    f_p_values = special.fdtrc(degrees, np.maximum(freedom, 1), chi_square / degrees)
    least = np.select([~testable | (freedom < 0), freedom > 0], [0.0, f_p_values], 1.0)
    return np.maximum(p_values, least), tests


def _test_one_class(cells: FloatArray, code: int) -> FloatArray:
    """Exact p-values of the nearest whole counts, of one class against all others."""
    in_class = cells[:, :, code]
    pair = np.stack([in_class, cells.sum(axis=2) - in_class], axis=2)
    return exact_interaction(np.rint(pair).astype(np.int64))
