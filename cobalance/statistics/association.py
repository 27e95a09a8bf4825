"""Effect sizes, confidence intervals and tests of the association of cliques with classes.

Everything here is a function of the counts alone: ``counts``, int array, shape (n_cliques,
n_classes), the images of each class that contain the clique, and ``class_sizes``, int array,
shape (n_classes,), all images of each class. A value that the counts do not define, such as the
rate in a class of no images, is NaN.
"""

import numpy as np
import numpy.typing as npt

from cobalance.base import FloatArray, IntArray, OptionError, special
from cobalance.statistics.exact_tests import fisher, fisher_many
from cobalance.statistics.intervals import normal_quantile

TESTS = ("none", "fisher", "chi-square", "fisher each class")
"""By the codes that `homogeneity_test` returns."""
NONE, FISHER, CHI_SQUARE, FISHER_EACH_CLASS = range(len(TESTS))

DISAGREEMENTS = (
    "",
    "fewer images, higher rate",
    "fewer images, same rate",
    "lowest rate elsewhere",
    "as many images, different rates",
    "the class has no images",
)
"""Of the under-represented class, by the codes that `disagreements` returns; empty for none."""
# Images: with fewer expected in any cell, the chi-square approximation is not trusted.
MIN_EXPECTED = 5.0
# Counts tested at a time: it bounds the memory, to some 500 MB.
BLOCK = 1 << 22


def leading_classes(counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return each clique's over- and under-represented class, as two int64 arrays of class codes.

    Over is the class with the largest count, under the one with the smallest (the paper's argmin,
    section 3.3), the first in class order among equals. Where all counts are equal neither class
    leads: over is then the first class and under the last, so that there are two to compare.
    """
    over, under = counts.argmax(axis=1), counts.argmin(axis=1)
    return over, np.where(over == under, counts.shape[1] - 1, under)


def class_rates(counts: IntArray | FloatArray, class_sizes: IntArray) -> FloatArray:
    """Return the share of each class that contains the clique: shape (n_cliques, n_classes).

    Examples
    --------
    >>> class_rates(np.array([[1, 0]]), np.array([4, 0]))
    array([[0.25,  nan]])
    """
    return _divide(counts, class_sizes)


def rate_differences(
    counts: IntArray, class_sizes: IntArray
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return each clique's largest rate less its smallest, and the classes that have these.

    Classes without images take no part. The differences are exact to the last bit: equal ones
    compare as equal, and with classes of one size they are in the order of the gaps.

    Parameters
    ----------
    counts : int array, shape (n_cliques, n_classes)
        Images of each class that contain the clique.
    class_sizes : int array, shape (n_classes,)
        All images of each class.

    Returns
    -------
    differences : float64 array, shape (n_cliques,)
        As a share of a class, from 0 to 1; 0 where fewer than two classes have images.
    highest, lowest : int64 array, shape (n_cliques,)
        Class codes, the first in class order among equals. Ties are exact: in classes of up to
        2**26 images rates differ as float64 where they differ as fractions. Where all are equal
        neither class leads: highest is then the first class with images and lowest the last.

    Examples
    --------
    >>> found = rate_differences(np.array([[30, 20], [5, 5]]), np.array([100, 50]))
    >>> [part.tolist() for part in found]
    [[0.1, 0.05], [1, 1], [0, 0]]
    """
    rates = class_rates(counts, class_sizes)
    has_images = class_sizes > 0
    highest = np.where(has_images, rates, -1.0).argmax(axis=1)
    lowest = np.where(has_images, rates, 2.0).argmin(axis=1)
    last_class = len(has_images) - 1 - has_images[::-1].argmax()
    lowest = np.where(highest == lowest, last_class, lowest)

    # The difference of two fractions has a whole numerator: it is exact, and divided once.
    rows = np.arange(len(counts))
    high_sizes, low_sizes = class_sizes[highest], class_sizes[lowest]
    numerator = counts[rows, highest] * low_sizes - counts[rows, lowest] * high_sizes
    return numerator / np.maximum(high_sizes * low_sizes, 1), highest, lowest


def disagreements(counts: IntArray, class_sizes: IntArray) -> npt.NDArray[np.int8]:
    """Return where rates contradict the class that counts call under-represented.

    Counts and rates can only disagree where classes have different numbers of images.

    Returns
    -------
    int8 array, shape (n_cliques,)
        Positions in `DISAGREEMENTS`. A rate is higher or the same beside that of the
        over-represented class; ``"lowest rate elsewhere"`` only occurs with three or more classes.

    Examples
    --------
    >>> counts = np.array([[30, 20], [30, 10], [20, 10], [5, 5]])
    >>> [DISAGREEMENTS[code] for code in disagreements(counts, np.array([100, 50]))]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['fewer images, higher rate', '', 'fewer images, same rate',
     'as many images, different rates']
    """
    rates = class_rates(counts, class_sizes)
    difference, _, lowest = rate_differences(counts, class_sizes)
    over, under = leading_classes(counts)
    rows = np.arange(len(counts))
    over_rate, under_rate = rates[rows, over], rates[rows, under]
    lowest_rate = rates[rows, lowest]

    # The first condition that holds gives the code.
    balanced = np.ptp(counts, axis=1) == 0
    conditions = [
        balanced & (difference > 0),
        balanced,
        np.isnan(under_rate),
        under_rate > over_rate,
        under_rate == over_rate,
        under_rate > lowest_rate,
    ]
    return np.select(conditions, [4, 0, 5, 1, 2, 3], 0).astype(np.int8)


def largest_difference(values: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return each row's largest value less its smallest, and the columns that have these.

    NaN takes no part. Where values differ by rounding alone the difference is 0, and without any
    value NaN; both columns are then -1.
    """
    difference = np.full(len(values), np.nan)
    highest, lowest = np.full(len(values), -1), np.full(len(values), -1)
    rows = np.flatnonzero(~np.isnan(values).all(axis=1))
    highest[rows] = np.nanargmax(values[rows], axis=1)
    lowest[rows] = np.nanargmin(values[rows], axis=1)
    difference[rows] = values[rows, highest[rows]] - values[rows, lowest[rows]]

    equal = difference <= 1e-9
    difference[equal] = 0.0
    highest[equal], lowest[equal] = -1, -1
    return difference, highest, lowest


def class_lift(counts: IntArray, class_sizes: IntArray, classes: IntArray) -> FloatArray:
    """Return P(clique and class) / (P(clique) P(class)) for one class a clique.

    Parameters
    ----------
    classes : int array, shape (n_cliques,)
        The class to measure for each clique, by code.

    Returns
    -------
    float64 array, shape (n_cliques,)
        1 where the clique says nothing about the class, 2 where an image with the clique is
        twice as likely to be of the class as any image. NaN where no image has the clique.
    """
    in_class = np.take_along_axis(counts, classes[:, None], axis=1)[:, 0]
    by_chance = counts.sum(axis=1) * class_sizes[classes].astype(np.float64)
    return _divide(in_class * float(class_sizes.sum()), by_chance)


def log_odds_ratio(
    counts: IntArray | FloatArray,
    class_sizes: IntArray | FloatArray,
    over: IntArray,
    under: IntArray,
    *,
    confidence: float = 0.95,
) -> FloatArray:
    """Return log odds ratios between two classes, with Woolf's confidence interval.

    Positive means that the clique is more frequent in `over`. The imbalance table compares the
    classes with the highest and the lowest rate, and is never below 0 but where the half image
    added to an empty cell outweighs a higher rate, of too few images to tell.

    Parameters
    ----------
    class_sizes : array, shape (n_classes,) or (n_cliques, n_classes)
        All images of each class. By cluster, it and `counts` are divided by their design effects.
    over, under : int arrays, shape (n_cliques,)
        The classes to compare, by code.
    confidence : float
        Of the interval, between 0 and 1.

    Returns
    -------
    float64 array, shape (n_cliques, 3)
        The natural logarithm of the odds ratio, and its lower and upper confidence limit. Half an
        image is added to all four cells of a table with an empty cell (Haldane and Anscombe).
        NaN where the two classes are one and the same or one of them has no images.

    Notes
    -----
    The figures of ``statsmodels.stats.contingency_tables.Table2x2``, for all cliques at once. Its
    own ``shift_zeros`` adds the half to the empty cells alone, against its documentation
    (https://github.com/statsmodels/statsmodels/issues/7011), and is not what happens here.

    Examples
    --------
    >>> counts, sizes = np.array([[30, 10]]), np.array([100, 100])
    >>> log_odds_ratio(counts, sizes, np.array([0]), np.array([1])).round(3)
    array([[1.35 , 0.569, 2.131]])
    """
    if not 0 < confidence < 1:
        raise OptionError(f"confidence is {confidence}; give a value between 0 and 1, such as 0.95")

    rows = np.arange(len(counts))
    in_over, in_under = counts[rows, over], counts[rows, under]
    sizes = np.broadcast_to(class_sizes, counts.shape)
    over_size, under_size = sizes[rows, over], sizes[rows, under]

    # The table of two classes, with and without the clique; half an image more in each cell of a
    # table with an empty cell (Haldane and Anscombe).
    smallest = np.minimum.reduce([in_over, over_size - in_over, in_under, under_size - in_under])
    half = np.where(smallest == 0, 0.5, 0.0)
    showing = np.stack([in_over + half, in_under + half])
    lacking = np.stack([over_size - in_over + half, under_size - in_under + half])

    # Woolf's interval: the variance of the log odds ratio is the sum of the cells' reciprocals.
    estimate = np.log(showing[0] * lacking[1] / (showing[1] * lacking[0]))
    margin = normal_quantile(confidence) * np.sqrt((1 / showing + 1 / lacking).sum(axis=0))
    result = np.stack([estimate, estimate - margin, estimate + margin], axis=1)
    result[(over == under) | (over_size == 0) | (under_size == 0)] = np.nan
    return result


def homogeneity_test(
    counts: IntArray, class_sizes: IntArray, *, quick: bool = False
) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Test for each clique whether its rate is the same in all classes.

    Pearson's chi-square over all classes, without continuity correction; with fewer than five
    images expected in some cell an exact test, see `cobalance.statistics.exact_tests`; `quick` as
    of `fisher_many` there. Classes without images take no part.

    Returns
    -------
    p_values : float64 array, shape (n_cliques,)
        1 where there is nothing to test: the clique is in no image, in every image, or there are
        not two classes with images.
    tests : int8 array, shape (n_cliques,)
        Which test it was, a position in `TESTS`. ``"fisher each class"``: of three or more
        classes, where tables are too many, each against the others, with Bonferroni's correction.

    Notes
    -----
    Equal to ``scipy.stats.chi2_contingency(correction=False)`` and ``scipy.stats.fisher_exact``
    row by row. Time grows with n_cliques x n_classes, and for exact tests with the different
    totals among their cliques times the smaller class, or times the tables, of which 50,000 are
    listed at most.
    """
    counts, class_sizes = counts[:, class_sizes > 0], class_sizes[class_sizes > 0]
    totals = counts.sum(axis=1)
    p_values, tests = np.ones(len(counts)), np.full(len(counts), NONE, dtype=np.int8)
    testable = np.flatnonzero((totals > 0) & (totals < class_sizes.sum()))
    if len(class_sizes) < 2 or not len(testable):
        return p_values, tests

    for rows in np.array_split(testable, 1 + len(testable) * len(class_sizes) // BLOCK):
        p_values[rows], tests[rows] = _test_block(counts[rows], class_sizes, quick)
    return p_values, tests


def _test_block(
    counts: IntArray, class_sizes: IntArray, quick: bool
) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Test cliques with a positive number of images both with and without them."""
    n_classes, n_images = len(class_sizes), class_sizes.sum()
    totals = counts.sum(axis=1, keepdims=True)
    observed = np.hstack([counts, class_sizes - counts])
    shares = class_sizes / n_images
    expected = np.hstack([totals * shares, (n_images - totals) * shares])

    chi_square = ((observed - expected) ** 2 / expected).sum(axis=1)

    sparse = (expected < MIN_EXPECTED).any(axis=1)
    tests = np.where(sparse, FISHER, CHI_SQUARE).astype(np.int8)

    # Of cliques with an exact test, of which large tables mostly are, this one is not needed.
    p_values = np.empty(len(counts))
    p_values[~sparse] = special.chdtrc(n_classes - 1, chi_square[~sparse])
    if n_classes == 2 and sparse.any():
        p_values[sparse] = fisher(counts[sparse], class_sizes)
    elif sparse.any():
        p_values[sparse], by_class = fisher_many(counts[sparse], class_sizes, quick=quick)
        tests[np.flatnonzero(sparse)[by_class]] = FISHER_EACH_CLASS
    return p_values, tests


def _divide(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Divide; 0 / 0 is NaN."""
    with np.errstate(invalid="ignore"):
        return np.true_divide(a, b)
