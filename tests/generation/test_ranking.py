"""The best of several candidates, against a ranking written the slow way."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.generation.ranking import rank_candidates, rank_scores, sum_ranks

NAN = float("nan")
INF = float("inf")

values = st.sampled_from([0.0, 0.25, 0.5, 1.0, -3.5, 1e300, INF, -INF, NAN])
weights = st.sampled_from([1.0, 0.0, 2.0, 0.1, 0.2, 0.3, -1.0])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[float]], list[float]]:
    """Scores with many ties, and a weight for each column."""
    n_scores = draw(st.integers(0, 4))
    row = st.lists(values, min_size=n_scores, max_size=n_scores)
    return draw(st.lists(row, max_size=12)), draw(
        st.lists(weights, min_size=n_scores, max_size=n_scores)
    )


def is_better(a: float, b: float) -> bool:
    if np.isnan(a):
        return False
    return bool(np.isnan(b)) or a > b


def slow_rank(column: list[float], position: int) -> Fraction:
    """Average place over all orders of the ties: those before, and half of the equals."""
    mine = column[position]
    before = sum(is_better(other, mine) for other in column)
    behind = sum(is_better(mine, other) for other in column)
    equals = len(column) - before - behind
    return Fraction(before) + Fraction(equals + 1, 2)


def slow_sums(scores: list[list[float]], factors: list[float]) -> list[Fraction]:
    columns = [[row[k] for row in scores] for k in range(len(factors))]
    return [
        sum(
            (
                Fraction(str(factor)) * slow_rank(column, j)
                for factor, column in zip(factors, columns, strict=True)
            ),
            Fraction(0),
        )
        for j in range(len(scores))
    ]


def table(scores: list[list[float]], factors: list[float]) -> np.ndarray:
    return np.array(scores, dtype=float).reshape(len(scores), len(factors))


@given(tables())
def test_the_order_is_that_of_a_slow_ranking(drawn: tuple[list[list[float]], list[float]]) -> None:
    scores, factors = drawn
    sums = slow_sums(scores, factors)
    expected = []
    left = set(range(len(scores)))
    while left:
        best = min(sums[j] for j in left)
        expected.append(min(j for j in left if sums[j] == best))
        left.remove(expected[-1])
    assert rank_candidates(table(scores, factors), factors).tolist() == expected
    assert sum_ranks(table(scores, factors), factors) == pytest.approx([float(s) for s in sums])


@given(tables(), st.randoms(use_true_random=False))
def test_arrival_changes_nothing(
    drawn: tuple[list[list[float]], list[float]], random: object
) -> None:
    """Candidates that arrive in any order, put at their numbers, give the same order."""
    scores, factors = drawn
    arrived = list(enumerate(scores))
    random.shuffle(arrived)  # type: ignore[attr-defined]
    placed = np.full((len(scores), len(factors)), NAN)
    for number, row in arrived:
        placed[number] = row
    before = rank_candidates(table(scores, factors), factors)
    assert rank_candidates(placed, factors).tolist() == before.tolist()


@given(tables())
def test_without_ties_the_numbers_do_not_matter(
    drawn: tuple[list[list[float]], list[float]],
) -> None:
    """Renumbered candidates have the same sums; only ties are decided by the number."""
    scores, factors = drawn
    sums = sum_ranks(table(scores, factors), factors).tolist()
    backwards = sum_ranks(table(scores[::-1], factors), factors).tolist()
    assert backwards == sums[::-1]


def test_ties_share_their_average_rank() -> None:
    column = [[0.5], [1.0], [0.5], [0.25], [0.5]]
    assert rank_scores(column).ravel().tolist() == [3.0, 1.0, 3.0, 5.0, 3.0]


def test_what_is_not_known_comes_last() -> None:
    column = [[NAN], [-INF], [0.0], [NAN], [INF]]
    assert rank_scores(column).ravel().tolist() == [4.5, 3.0, 2.0, 4.5, 1.0]
    assert rank_candidates(column, [1]).tolist() == [4, 2, 1, 0, 3]


def test_equal_sums_are_equal_whatever_their_terms() -> None:
    """Six candidates with the ranks 1, 2, 3 in every order: in floating point not all tie."""
    ranks = np.array(list(permutations([1.0, 2.0, 3.0])))
    assert len({0.1 * a + 0.1 * b + 0.1 * c for a, b, c in ranks.tolist()}) > 1
    # two of each rank in each column, so that they are averages: 1.5, 3.5, 5.5
    for weight in (1, 0.1, 1e-9, 7.3):
        assert rank_candidates(-ranks, [weight] * 3).tolist() == [0, 1, 2, 3, 4, 5]
    assert rank_candidates([[2, 2, 1], [1, 1, 2]], [0.1, 0.2, 0.3]).tolist() == [0, 1]
    assert rank_candidates([[1, 1, 2], [2, 2, 1]], [0.1, 0.2, 0.3]).tolist() == [0, 1]


def test_weights() -> None:
    scores = [[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]]
    assert rank_candidates(scores, [1, 1]).tolist() == [0, 1, 2]
    assert rank_candidates(scores, [1, 2]).tolist() == [2, 1, 0]
    assert rank_candidates(scores, [1, 0]).tolist() == [0, 1, 2]
    assert rank_candidates(scores, [-1, 0]).tolist() == [2, 1, 0]


def test_nothing_to_rank() -> None:
    assert rank_candidates(np.empty((0, 3)), [1, 1, 1]).tolist() == []
    assert rank_candidates(np.empty((3, 0)), []).tolist() == [0, 1, 2]
    assert sum_ranks(np.empty((0, 2)), [1, 1]).shape == (0,)
