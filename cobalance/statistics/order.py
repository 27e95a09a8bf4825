"""Orders of imbalances: by evidence, by own effect, by count gap, by a column."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

EVIDENCE = "evidence"
"""Name of the order that `by_evidence` gives."""
OWN = "own_effect"
"""Name of the order by what is a clique's own, beyond its parts."""
GAP = "gap"
"""Name of the order of ConBias, by the difference of counts."""
SMALLEST_FIRST = ("p_value", "q_value")
"""Columns of which the smallest values say most."""


def by_evidence(table: "pd.DataFrame", *, ascending: bool = False) -> "pd.DataFrame":
    """Sort an imbalance table: rows that lean first, each part by its difference of rates.

    Rows that are equal in both stay in their order; `ascending` reverses all but that.
    """
    return table.sort_values(["leans", "effect"], ascending=ascending, kind="stable")
