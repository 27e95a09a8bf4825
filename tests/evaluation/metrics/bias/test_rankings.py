"""Bias of rankings against the issue of rare groups and brute force."""

import math

import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import OptionError
from cobalance.evaluation.metrics.bias.rankings import bias_at_k, max_skew, ndkl
from tests.evaluation.metrics.bias.scored import value

RANKINGS = st.lists(st.sampled_from(["man", "woman", "child", None]), min_size=1, max_size=12)


def test_three_men_of_four() -> None:
    assert round(value(max_skew("MMMF", parity={"M": 0.5, "F": 0.5}), "max_skew"), 4) == 0.4055


@pytest.mark.parametrize(("absent", "expected"), [("skip", 0.0101), ("one", 1.3863)])
def test_women_are_one_percent_and_none_is_retrieved(absent: str, expected: float) -> None:
    parity = {"man": 0.99, "woman": 0.01}
    found = max_skew(["man"] * 25, 25, parity=parity, absent=absent)  # type: ignore[arg-type]
    assert round(value(found, "max_skew@25"), 4) == expected
    # the same from a ranking of all images
    everybody = ["man"] * 99 + ["woman"]
    found = max_skew(everybody, 25, absent=absent)  # type: ignore[arg-type]
    assert round(value(found, "max_skew@25"), 4) == expected


@settings(max_examples=40)
@given(RANKINGS, st.integers(1, 14), st.sampled_from(["skip", "one"]))
def test_skew_and_divergence_equal_brute_force(
    ranking: list[str | None], k: int, absent: str
) -> None:
    named = [one for one in ranking if one is not None]
    best = named[:k]
    skew = value(max_skew(ranking, k, absent=absent), f"max_skew@{k}")  # type: ignore[arg-type]
    divergence = value(ndkl(ranking, k), f"ndkl@{k}")
    if not named:
        assert math.isnan(skew)
        assert math.isnan(divergence)
        return
    parity = {name: named.count(name) / len(named) for name in named}
    skews = [
        math.log(max(best.count(name), 1) / len(best) / parity[name])
        for name in parity
        if best.count(name) or absent == "one"
    ]
    assert skew == pytest.approx(max(skews), abs=1e-12)
    total, weights = 0.0, 0.0
    for i in range(1, len(best) + 1):
        shares = {name: best[:i].count(name) / i for name in parity}
        kl = sum(s * math.log(s / parity[name]) for name, s in shares.items() if s)
        total += kl / math.log2(i + 1)
        weights += 1 / math.log2(i + 1)
    assert divergence == pytest.approx(total / weights, abs=1e-12)


@settings(max_examples=40)
@given(st.lists(RANKINGS, min_size=1, max_size=4), st.integers(1, 14))
def test_bias_is_averaged_over_queries(rankings: list[list[str | None]], k: int) -> None:
    biases = []
    for ranking in rankings:
        men, women = (ranking[:k].count(name) for name in ("man", "woman"))
        biases.append((men - women) / (men + women) if men + women else 0)
    scores = bias_at_k(rankings, k, groups=("man", "woman"))
    assert value(scores, f"bias@{k}", "man - woman") == pytest.approx(sum(biases) / len(biases))
    assert value(scores, f"bias@{k}", "man - woman", "n") == len(rankings)


def test_a_fair_ranking_of_one_group_diverges_nowhere() -> None:
    assert value(ndkl(["a"] * 5), "ndkl") == 0


def test_a_group_that_fair_shares_leave_out() -> None:
    parity = {"a": 1.0, "b": 0.0}
    assert value(ndkl(["a", "b"], parity=parity), "ndkl") == pytest.approx(
        0.5 * math.log(0.5) / math.log2(3) / (1 + 1 / math.log2(3))
    )
    # three images are ranked, so that b's share is taken as a third
    second = 0.5 * math.log(0.5) + 0.5 * math.log(0.5 * 3)
    third = 2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1)
    weights = 1 + 1 / math.log2(3) + 1 / 2
    assert value(ndkl(["a", "b", "a"], parity=parity, absent="one"), "ndkl") == pytest.approx(
        (second / math.log2(3) + third / 2) / weights
    )
    with pytest.raises(OptionError, match="'b' is 0"):
        max_skew(["a", "b"], parity=parity)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k is 0"),
        ({"absent": "zero"}, "unknown absent 'zero'. Known: one, skip"),
        ({"parity": {"a": 1.0}}, "no share of the group 'b'"),
        ({"parity": {"a": 0.2, "b": 0.2}}, "add up to 1"),
        ({"parity": "fair"}, "unknown parity 'fair'. Known: equal, population"),
    ],
    ids=["k", "absent", "missing", "sum", "word"],
)
def test_options_that_cannot_be_used_say_why(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        max_skew(["a", "b"], **options)  # type: ignore[arg-type]
