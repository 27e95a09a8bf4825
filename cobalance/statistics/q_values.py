"""q-values: p-values adjusted for the number of cliques that are tested."""

from typing import TYPE_CHECKING

from cobalance.base import OptionError

if TYPE_CHECKING:
    from cobalance.base import FloatArray

MAX_Q_VALUE = 0.05
"""The largest q-value of a clique that leans to a class."""


def q_values(p_values: "FloatArray", n_tests: int | None = None) -> "FloatArray":
    """Adjust p-values for multiple testing (Benjamini-Hochberg).

    Benjamini and Hochberg's procedure over all cliques given, those that cannot be tested
    included. Cliques that share concepts are not independent: the procedure is proven for
    independent and for positively dependent tests, and widely used beyond.

    Parameters
    ----------
    n_tests : int, optional
        How many were tested, if more than these: the p-values of the others are 1.
    """
    # Commands take the limit above from this module before they need any array.
    import numpy as np

    n, order = len(p_values), np.argsort(p_values)
    scaled = p_values[order] * ((n if n_tests is None else n_tests) / np.arange(1, n + 1))
    adjusted = np.empty(n)
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.clip(adjusted, 0.0, 1.0)


def check_q_value(limit: float | None) -> None:
    """Raise OptionError unless a limit on q-values is from 0 to 1, or None."""
    if limit is not None and not 0 <= limit <= 1:
        raise OptionError(f"The largest q-value is {limit}; give one from 0 to 1.")
