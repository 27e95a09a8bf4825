"""Shares of papers give what the rankings that they are of give."""

import pandas as pd
import pytest

from cobalance.base.errors import InputError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.bias.rankings import max_skew, ndkl
from cobalance.evaluation.metrics.metric import Inputs


def score(name: str, table: pd.DataFrame, **options: object) -> pd.Series:
    return METRICS.open(name, options)(Inputs(table=table)).set_index(["metric", "group"])["value"]


def test_shares_give_what_rankings_give() -> None:
    ranked = [list("mmwm"), list("wmmm")]
    rows = [
        {"query": name, "k": k, "group": group, "share": query[:k].count(group), "parity": fair}
        for name, query in zip("ab", ranked, strict=True)
        for k in range(1, 5)
        for group, fair in (("m", 3), ("w", 1))
    ]
    table = pd.DataFrame(rows)
    assert score("ndkl", table)["ndkl", ""] == pytest.approx(ndkl(ranked)["value"].item())
    skews = score("max_skew", table)
    for k in range(1, 5):
        expected = max_skew(ranked, k)["value"].item()
        assert skews[f"max_skew@{k}", ""] == pytest.approx(expected)
    plain = pd.DataFrame({"Group": ["m", "w"], "Share": [0.75, 0.25]}).rename(columns=str.lower)
    assert score("max_skew", plain)["max_skew", ""] == pytest.approx(0.4055, abs=1e-4)
    for wrong, said in (
        (plain.assign(parity=[0, 1]), "has no parity"),
        (plain.assign(share=0), "add up to nothing"),
        (pd.concat([plain, plain]), "row 3: the group 'm' has a second share"),
    ):
        with pytest.raises(InputError, match=said):
            score("max_skew", wrong)
    with pytest.raises(InputError, match=r"no shares among the best 1, 2, \.\.\. images of 'b'"):
        score("ndkl", table[(table["query"] == "a") | (table["k"] > 1)])
