"""How much more cliques lean to a class in one set of images than in another, with evidence.

A clique's images form a table of presence by set by class. The model without the interaction of
all three says that the odds of the clique change from the first set to the second alike in all
classes; what it leaves is the difference. See `statistics.interaction` for fit and test.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cobalance.base import FloatArray, IntArray
from cobalance.statistics.association import largest_difference
from cobalance.statistics.imbalance import categorical
from cobalance.statistics.interaction import INTERACTION_TESTS, NONE, interaction
from cobalance.statistics.intervals import NORMAL_95
from cobalance.statistics.q_values import q_values


def differences(
    first: IntArray | FloatArray,
    first_sizes: IntArray | FloatArray,
    second: IntArray | FloatArray,
    second_sizes: IntArray | FloatArray,
    classes: Sequence[str],
) -> pd.DataFrame:
    """Return how the association of cliques with classes differs between two sets of images.

    Parameters
    ----------
    first, second : arrays, shape (n_cliques, n_classes)
        Images of each class with the clique, in either set.
    first_sizes, second_sizes : arrays, shape (n_classes,) or (n_cliques, n_classes)
        All images of each class, in either set; these and the counts as `Cliques.independent`.
    classes : sequence of str
        Names by code.

    Returns
    -------
    pandas.DataFrame
        - ``rises_in``, ``falls_in`` (category): the classes whose rates in the second set are
          furthest above and below what one change of the odds in all classes explains; missing
          where there is no difference, or none can be told
        - ``log_odds_difference``, ``_low``, ``_high``: the log odds ratio between these two classes
          in the second set less that in the first (natural logarithm), with Wald's interval of 95%;
          half an image is added to all eight cells where one is empty
        - ``p_value``, ``test`` (category): of no difference; ``q_value``: Benjamini-Hochberg over
          all rows

    Notes
    -----
    The two sets count as independent samples. Where they share images, as two versions of a dataset
    do, the test is cautious.

    Examples
    --------
    >>> sizes = np.array([100, 100])
    >>> found = differences(np.array([[50, 50]]), sizes, np.array([[60, 20]]), sizes, ("a", "b"))
    >>> print(found[["rises_in", "log_odds_difference", "test"]].round(2))
      rises_in  log_odds_difference              test
    0        a                 1.79  likelihood ratio
    """
    # The parts of the interaction are the set and the clique.
    both = [first_sizes - first, first, second_sizes - second, second]
    cells = np.stack(both, axis=1).astype(np.float64)
    fit = interaction(cells)
    is_tested = fit.tests != NONE

    # Classes without images in one of the sets take no part.
    with np.errstate(invalid="ignore", divide="ignore"):
        beyond: FloatArray = (second - fit.expected) / second_sizes
    beyond = np.where(np.isfinite(beyond) & (np.asarray(first_sizes) > 0), beyond, np.nan)
    beyond[~is_tested] = np.nan
    _, over, under = largest_difference(beyond)
    differs = over >= 0

    # Wald's interval of the two classes' log odds ratio in the second set less that in the first.
    rows = np.flatnonzero(differs)
    eight = np.concatenate([cells[rows, :, over[rows]], cells[rows, :, under[rows]]], axis=1)
    eight = eight + np.where(eight.min(axis=1, initial=1, keepdims=True) == 0, 0.5, 0.0)
    logs: FloatArray = np.full((len(first), 3), np.nan)
    estimate = np.log(eight) @ np.array([1, -1, -1, 1, -1, 1, 1, -1])
    margin = NORMAL_95 * np.sqrt((1 / eight).sum(axis=1))
    logs[rows] = np.stack([estimate, estimate - margin, estimate + margin], axis=1)
    logs[is_tested & ~differs, 0] = 0.0

    return pd.DataFrame(
        {
            "rises_in": categorical(over, classes),
            "falls_in": categorical(under, classes),
            "log_odds_difference": logs[:, 0],
            "log_odds_difference_low": logs[:, 1],
            "log_odds_difference_high": logs[:, 2],
            "p_value": fit.p_values,
            "q_value": q_values(fit.p_values),
            "test": categorical(fit.tests, INTERACTION_TESTS),
        }
    )
