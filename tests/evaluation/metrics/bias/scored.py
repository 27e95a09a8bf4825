"""What tests of metrics read from tables of scores."""

import pandas as pd


def value(scores: pd.DataFrame, metric: str, group: str = "", column: str = "value") -> float:
    """The one score of a metric and group."""
    rows = scores[(scores["metric"] == metric) & (scores["group"] == group)]
    assert len(rows) == 1, scores
    return float(rows[column].iloc[0])
