"""Interaction of a combination with the class, beyond the effects of its parts.

The images of a dataset form a table of 2^k cells a class: presence or absence of each of the k
concepts of a clique. The hierarchical log-linear model with every interaction but the highest
order one (of all k concepts with the class) reproduces how often each smaller combination occurs
in each class, and how often the clique occurs in all classes together. What it expects of the
clique in a class is what the clique's parts explain; what is observed beyond is the clique's own.
For single concepts the model is independence of class and concept.

Bishop, Fienberg and Holland, "Discrete Multivariate Analysis" (1975), sections 3.4-3.5 (fitted
tables, iterative proportional fitting) and 4.2 (G²); Agresti, "Categorical Data Analysis" (3rd ed.
2013), chapter 9 (log-linear models) and section 16.5 (exact conditional inference).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cobalance.base import FloatArray, IntArray, special
from cobalance.statistics.association import MIN_EXPECTED
from cobalance.statistics.exact_tests import SAME_PROBABILITY

INTERACTION_TESTS = ("none", "exact", "exact pair", "likelihood ratio")
"""By the codes of `Interaction.tests`."""
NONE, EXACT, EXACT_PAIR, LIKELIHOOD_RATIO = range(len(INTERACTION_TESTS))

# Steps of Newton's method: ten are usual.
STEPS = 200
# A step is the last where it changes no cell by a larger share of it.
CLOSE = 1e-10
# Nor by a larger share of the largest cell: smaller steps change nothing.
ROUNDING = 1e-14
# Images: a fitted cell with fewer is taken for this.
FLOOR = 1e-9
# The longest step, as a share of the way to the first cell that would be empty.
STAY = 0.95
# Tables on either side of the observed and the likeliest one; the rest are below 1e-20.
TAIL = 48
# Images between observed and expected: beyond, G² decides, with a p-value near 0.
FAR = 2000
# Cells at a time: it bounds the memory.
BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class Interaction:
    """Expected images by the parts of combinations, and tests of the difference.

    Parameters
    ----------
    expected : float64 array, shape (n, n_classes)
        Images of each class with the combination, as its parts explain them.
    p_values : float64 array, shape (n,)
        Of no interaction; 1 where the parts leave one table alone.
    tests : int8 array, shape (n,)
        Which test it was, a position in `INTERACTION_TESTS`.
    """

    expected: FloatArray
    p_values: FloatArray
    tests: npt.NDArray[np.int8]


def signs(k: int) -> IntArray:
    """Return the sign of each cell in the highest interaction, +1 where all are present.

    Examples
    --------
    >>> signs(2).tolist()
    [1, -1, -1, 1]
    """
    absent = np.array([k - mask.bit_count() for mask in range(1 << k)])
    return np.where(absent % 2, -1, 1)


def interaction(cells: IntArray | FloatArray, design: FloatArray | None = None) -> Interaction:
    """Fit the model without the highest interaction to tables, and test that interaction.

    Parameters
    ----------
    cells : int array, shape (n, 2^k, n_classes)
        Images of each class by presence: bit i of the second index says whether part i is present.
    design : float array, shape (n, n_classes), or None
        Design effects, by which counts are divided for the test; whole ones for an exact test.

    Notes
    -----
    All tables with the same margins differ from the observed one by an amount for each class,
    added to its cells with the signs of `signs`, and these amounts add up to 0. So the fit has one
    unknown a class, found by Newton's method on the likelihood; it is what iterative proportional
    fitting converges to. A class with an empty cell of either sign has no freedom, and counts in
    no degree of freedom.

    The test is G² with as many degrees of freedom as free classes less one. Where a fitted cell of
    a free class is below five images: with two free classes the exact conditional test, two-sided
    as Fisher's (which it is for single parts); with more, that test between the two classes whose
    log odds differ most in standard errors, times the number of pairs (Bonferroni).
    """
    n, n_cells, n_classes = cells.shape
    expected, p_values = np.empty((n, n_classes)), np.ones(n)
    tests = np.full(n, NONE, dtype=np.int8)
    for rows in np.array_split(np.arange(n), 1 + n * n_cells * n_classes // BLOCK):
        if len(rows):
            row_design = None if design is None else design[rows]
            expected[rows], p_values[rows], tests[rows] = _block(cells[rows], row_design)
    return Interaction(expected, p_values, tests)


def _block(
    cells: IntArray | FloatArray, design: FloatArray | None
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int8]]:
    """Expected images, p-values and tests of some combinations."""
    sign = signs(cells.shape[1].bit_length() - 1)
    amounts, free, testable = _amounts(cells, sign)
    expected = np.asarray(cells[:, -1] + amounts, dtype=np.float64)
    if design is not None:
        cells = cells / design[:, None]
        amounts, free, testable = _amounts(cells, sign)

    # G², with as many degrees of freedom as free classes less one.
    fitted = cells + sign[:, None] * amounts[:, None]
    logs = special.xlogy(cells, cells) - special.xlogy(cells, np.maximum(fitted, 1e-300))
    g2 = 2 * logs.sum(axis=(1, 2))
    n_free = free.sum(axis=1)
    p_values = np.where(testable, special.chdtrc(np.maximum(n_free - 1, 1), np.maximum(g2, 0)), 1.0)
    tests = np.where(testable, LIKELIHOOD_RATIO, NONE)

    # Where a fitted cell of a free class is small, the exact test between the two classes that
    # differ most surely: of all classes a tiny one may have the rate furthest from the expected.
    sparse = testable & (np.where(free, fitted.min(axis=1), np.inf).min(axis=1) < MIN_EXPECTED)
    first, last = np.zeros(len(cells), int), np.zeros(len(cells), int)
    first[sparse], last[sparse] = _surest_pair(amounts[sparse], fitted[sparse], free[sparse])
    far = np.abs(np.take_along_axis(amounts, np.stack([first, last], 1), 1)).max(axis=1) > FAR
    exact = np.flatnonzero(sparse & ~far & (first != last))
    pair = np.stack([cells[exact, :, first[exact]], cells[exact, :, last[exact]]], axis=2)
    pair_p_values = exact_interaction(np.rint(pair).astype(np.int64))
    n_pairs = n_free[exact] * (n_free[exact] - 1) // 2
    p_values[exact] = np.minimum(1.0, pair_p_values * n_pairs)
    tests[exact] = np.where(n_pairs == 1, EXACT, EXACT_PAIR)

    # No two classes differ where the observed is as expected everywhere.
    even = sparse & ~far & (first == last)
    p_values[even], tests[even] = 1.0, np.where(n_free[even] == 2, EXACT, EXACT_PAIR)
    return expected, p_values, tests.astype(np.int8)


def _surest_pair(
    amounts: FloatArray, fitted: FloatArray, free: npt.NDArray[np.bool_]
) -> tuple[IntArray, IntArray]:
    """The two free classes whose log odds differ most in standard errors; twice one if none do."""
    # The variance of a log odds ratio is the sum of the cells' reciprocals (Woolf 1955), and an
    # amount moves it by as much for each image.
    variance = np.where(free, (1 / np.maximum(fitted, FLOOR)).sum(axis=1), np.inf)
    shift = np.where(free, amounts, 0.0) * np.where(free, variance, 0.0)
    distance = np.abs(shift[:, :, None] - shift[:, None])
    distance /= np.sqrt(variance[:, :, None] + variance[:, None])
    n, n_classes = amounts.shape
    surest = distance.reshape(n, n_classes * n_classes).argmax(axis=1)
    return np.divmod(surest, n_classes)


def fit_cells(cells: IntArray) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return the fitted cells of `interaction`, and in which classes they can differ."""
    sign = signs(cells.shape[1].bit_length() - 1)
    amounts, free, testable = _amounts(cells, sign)
    return cells + sign[:, None] * amounts[:, None], free & testable[:, None]


def _amounts(
    cells: IntArray | FloatArray, sign: IntArray
) -> tuple[FloatArray, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The fitted amount of each class, which classes are free, and which rows can be tested."""
    low = -cells[:, sign > 0].min(axis=1)
    high = cells[:, sign < 0].min(axis=1)
    free = low < high
    # With all classes at their bound on the same side, amounts add up to 0 in this table alone.
    testable = (low.sum(axis=1) < 0) & (high.sum(axis=1) > 0) & (free.sum(axis=1) > 1)
    amounts = np.zeros(low.shape)
    amounts[testable] = _fit(cells[testable], sign, low[testable], high[testable])
    return amounts, free, testable


def _fit(
    cells: IntArray | FloatArray, sign: IntArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """The amount of each class, shape (n, n_classes), by Newton's method from an inner point."""
    room = (high - low).astype(np.float64)
    amounts = low - room * (low.sum(axis=1) / room.sum(axis=1))[:, None]
    rows = np.arange(len(cells))
    for _ in range(STEPS):
        if not len(rows):
            break
        current, is_free = amounts[rows], room[rows] > 0
        table = cells[rows] + sign[:, None] * current[:, None]
        table = np.where(is_free[:, None], np.maximum(table, FLOOR), 1.0)

        # Newton's step for amounts that go on to add up to 0: Lagrange's multiplier is the mean of
        # the slopes, by the reciprocals of their own slopes.
        slope = (sign[:, None] * np.log(table)).sum(axis=1)
        give = np.where(is_free, 1 / (1 / table).sum(axis=1), 0.0)
        multiplier = (slope * give).sum(axis=1) / give.sum(axis=1)
        step = (multiplier[:, None] - slope) * give

        # The step is cut short where it would empty a cell.
        relative = sign[:, None] * step[:, None] / table
        shrink = np.minimum(1.0, STAY / np.maximum(-relative.min(axis=(1, 2)), 1e-300))
        amounts[rows] = np.clip(current + step * shrink[:, None], low[rows], high[rows])

        moving = np.abs(relative).max(axis=(1, 2)) > CLOSE
        moving &= np.abs(step).max(axis=1) > ROUNDING * cells[rows].max(axis=(1, 2))
        rows = rows[moving]
    return np.asarray(amounts)


def exact_interaction(cells: IntArray) -> FloatArray:
    """Return two-sided exact p-values of no highest interaction in tables of two classes.

    Parameters
    ----------
    cells : int array, shape (n, 2^k, 2)

    Notes
    -----
    The probability, given all margins of the model, of all tables no more probable than the
    observed one: ``scipy.stats.fisher_exact`` for k = 1, the exact test of no three-factor
    interaction of Bartlett (1935) for k = 2.
    """
    sign = signs(cells.shape[1].bit_length() - 1)
    direction = (sign[:, None] * [1, -1]).ravel()
    flat = cells.reshape(len(cells), len(direction))

    # Tables with the same margins differ by a shift of all cells. Beyond the tail on either side of
    # the observed one (a shift of 0) and of the likeliest one, they are too rare to count.
    low = -flat[:, direction > 0].min(axis=1)
    high = flat[:, direction < 0].min(axis=1)
    center = np.rint(_amounts(cells, sign)[0][:, 0]).astype(np.int64)
    start = np.maximum(low, np.minimum(0, center) - TAIL)
    end = np.minimum(high, np.maximum(0, center) + TAIL)

    # Tables with tails of similar lengths are computed together.
    p_values = np.ones(len(cells))
    order = np.argsort(end - start)
    for rows in np.array_split(order, 1 + len(order) // 256):
        if not len(rows):
            continue
        shifts = start[rows, None] + np.arange((end - start)[rows].max() + 1)
        inside = shifts <= end[rows, None]
        shifts = np.where(inside, shifts, 0)

        # Logarithms of the probabilities, as shares of that of the observed table.
        weights = np.zeros(shifts.shape)
        for cell, way in zip(flat[rows].T, direction.tolist(), strict=True):
            observed = special.gammaln(cell + 1.0)
            weights -= special.gammaln(cell[:, None] + way * shifts + 1.0) - observed[:, None]
        weights = np.where(inside, weights, -np.inf)

        most = weights.max(axis=1, keepdims=True)
        weights = np.exp(weights - most)
        limit = np.exp(-most[:, 0]) * SAME_PROBABILITY
        rare = np.where(weights <= limit[:, None], weights, 0.0).sum(axis=1)
        p_values[rows] = np.minimum(1.0, rare / weights.sum(axis=1))
    return p_values
