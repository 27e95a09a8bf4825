"""How the rates of cliques change from one set of images to another, and whether by chance."""

import numpy as np

from cobalance.base import FloatArray, IntArray, special
from cobalance.counting import Cliques
from cobalance.statistics.association import homogeneity_test


def change_p_values(
    before: Cliques, after: Cliques, classes: IntArray, *, extends: bool = False
) -> FloatArray:
    """Test for each clique whether its rates in some classes are as they were.

    Parameters
    ----------
    before, after : Cliques
        The same cliques, with the same classes.
    classes : int array, shape (n_cliques, n_compared)
        The classes whose rates are compared, by code.
    extends : bool
        Whether `after` counts all images of `before` and further ones. Then these are what can
        tell a change, and images that both share are taken once.

    Returns
    -------
    float64 array, shape (n_cliques,)
        Of no change in any of the classes: the smallest p-value of theirs, times their number
        (Bonferroni).

    Notes
    -----
    In each class the rate is tested to be one in both sets by Pearson's chi-square, or by Fisher's
    exact test where fewer than five images are expected in a cell. Where images are shared, those
    that are not are compared with the earlier ones: given the rate in all images, the earlier ones
    are a random part of them (hypergeometric) if nothing changed, so that some hundred random
    images more are no change, however rare a clique is. By cluster, counts are divided by their
    design effects (Rao and Scott, Biometrics 48, 1992).

    Examples
    --------
    >>> one, names, classes = np.array([[0]]), ("sea",), ("gull", "owl")
    >>> was = Cliques(one, np.array([[50, 10]]), np.array([100, 100]), names, classes)
    >>> becomes = Cliques(one, np.array([[50, 40]]), np.array([100, 130]), names, classes)
    >>> change_p_values(was, becomes, np.array([[0, 1]]), extends=True) < 1e-9
    array([ True])
    """
    if before.clustering is None and after.clustering is None:
        by_class = _test_whole_counts(before, after, np.unique(classes), extends)
    else:
        by_class = _test_effective_counts(before, after, extends)
    compared = np.take_along_axis(by_class, classes, axis=1)
    return np.minimum(1.0, classes.shape[1] * compared.min(axis=1, initial=1.0))


def growth_p_values(
    before: Cliques, after: Cliques, classes: IntArray, shared: float
) -> FloatArray:
    """Test for each clique whether the rate difference of two classes has grown.

    Parameters
    ----------
    before, after : Cliques
        The same cliques, with the same classes.
    classes : int array, shape (n_cliques, 2)
        The classes by code: that of the higher rate afterwards, and that of the lower one.
    shared : float
        The share of the earlier images that are among the later ones, with the same contents; 0
        where the two are independent samples.

    Returns
    -------
    float64 array, shape (n_cliques,)
        One-sided, of no growth; times the number of ordered pairs of classes, as the two were
        chosen by their rates (Bonferroni).

    Notes
    -----
    The z-test of proportions in two samples that share a part of their images (Derrick, Dobson-
    McKittrick, Toher and White, Journal of Applied Quantitative Methods 10, 2015): of m shared
    images the variance of a rate's change is p (1 - p) (1/n + 1/N - 2 m / n N). That is the one of
    two independent samples where m is 0, and 0 where nothing was added or taken away. To p one
    image with the clique and one without are added, which matters for rare ones alone. By cluster,
    variances are multiplied by the design effect of the later images.

    Examples
    --------
    >>> one, names, of = np.array([[0]]), ("sea",), ("gull", "owl")
    >>> was = Cliques(one, np.array([[100, 50]]), np.array([1000, 1000]), names, of)
    >>> more = Cliques(one, np.array([[102, 50]]), np.array([1010, 1010]), names, of)
    >>> twice = Cliques(one, np.array([[150, 50]]), np.array([1000, 1000]), names, of)
    >>> pair = np.array([[0, 1]])
    >>> growth_p_values(was, more, pair, shared=0.99) > 0.1
    array([ True])
    >>> growth_p_values(was, twice, pair, shared=0.95) < 1e-6
    array([ True])
    """
    rows = np.arange(len(after))[:, None]
    counts, later_counts = before.counts[rows, classes], after.counts[rows, classes]
    sizes, later_sizes = before.class_sizes[classes], after.class_sizes[classes]

    rates, later_rates = counts / np.maximum(sizes, 1), later_counts / np.maximum(later_sizes, 1)
    growth = (later_rates - rates) @ np.array([1.0, -1.0])
    rate = (counts + later_counts + 1) / (sizes + later_sizes + 2)
    n_shared = np.minimum(shared * sizes, later_sizes)
    inverse = 1 / np.maximum(sizes, 1) + 1 / np.maximum(later_sizes, 1)
    inverse -= 2 * n_shared / np.maximum(sizes * later_sizes, 1)
    variance = (rate * (1 - rate) * np.maximum(inverse, 0.0)).sum(axis=1)
    if after.clustering is not None:
        variance = variance * after.clustering.tests[:, 0]

    is_testable = (sizes > 0).all(axis=1) & (later_sizes > 0).all(axis=1) & (growth > 0)
    p_values = special.ndtr(-growth / np.sqrt(np.maximum(variance, 1e-300)))
    n_classes = len(after.classes)
    return np.where(is_testable, np.minimum(1.0, n_classes * (n_classes - 1) * p_values), 1.0)


def _test_whole_counts(
    before: Cliques, after: Cliques, codes: IntArray, extends: bool
) -> FloatArray:
    """p-values of one rate in both sets, in each of some classes: (n_cliques, n_classes)."""
    p_values = np.ones(before.counts.shape)
    later_counts, later_sizes = after.counts, after.class_sizes
    if extends:
        later_counts = later_counts - before.counts
        later_sizes = later_sizes - before.class_sizes

    for code in codes.tolist():
        counts = np.stack([before.counts[:, code], later_counts[:, code]], axis=1)
        sizes = np.array([before.class_sizes[code], later_sizes[code]])
        p_values[:, code] = homogeneity_test(counts, sizes)[0]
    return p_values


def _test_effective_counts(before: Cliques, after: Cliques, extends: bool) -> FloatArray:
    """The same by chi-square, of images as many as there are independent ones."""
    first, first_sizes = map(np.asarray, before.independent())
    second, second_sizes = map(np.asarray, after.independent())
    if extends:
        # With design effects of its own, a set can seem smaller than a part of it.
        second = np.maximum(second - first, 0.0)
        second_sizes = np.maximum(second_sizes - first_sizes, second)

    shown, total = first + second, first_sizes + second_sizes
    rate = shown / np.maximum(total, 1e-9)
    spread = rate * (1 - rate)
    testable = (spread > 0) & (first_sizes > 0) & (second_sizes > 0)
    variance = spread * total / np.maximum(first_sizes * second_sizes, 1e-9)

    difference = first / np.maximum(first_sizes, 1e-9) - second / np.maximum(second_sizes, 1e-9)
    chi_square = difference**2 / np.maximum(variance, 1e-300)
    return np.where(testable, special.chdtrc(1, chi_square), 1.0)
