"""Multi-attribute bias amplification against the authors' definitions, image by image."""

import math
from statistics import fmean, pvariance

import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import DataError, UnknownNameError
from cobalance.evaluation.metrics.bias.multi_attribute import multi_attribute_amplification
from tests.evaluation.metrics.bias.scored import value


def test_six_to_two_becomes_nine_to_one() -> None:
    scores = multi_attribute_amplification(
        [[1, 1]] * 10,
        ["w"] * 5 + ["m"] * 5,
        predicted_labels=[[1, 1]] * 10,
        predicted_groups=["w"] * 9 + ["m"],
        training_labels=[[1, 1]] * 8,
        training_groups=["w"] * 6 + ["m"] * 2,
    )
    assert value(scores, "multi_attribute") == pytest.approx(0.15)
    assert value(scores, "multi_attribute_absolute") == pytest.approx(0.15)
    # Δ is .15 for women and 0 for men, who are no majority
    assert value(scores, "multi_attribute_variance") == pytest.approx(0.075**2)


def test_a_set_counts_only_where_it_is_the_whole_of_an_image() -> None:
    scores = multi_attribute_amplification(
        [[1, 1, 1], [1, 1, 0]],
        ["w", "m"],
        predicted_labels=[[1, 1, 1], [1, 1, 0]],
        predicted_groups=["w", "m"],
        training_labels=[[1, 1, 0], [0, 0, 0], [1, 1, 1]],
        training_groups=["w", "m", "w"],
        min_size=2,
    )
    assert value(scores, "multi_attribute", column="n") == 2  # not {0, 2}, {1, 2} or {0}


def bits(width: int, rows: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(st.integers(0, 1), min_size=width, max_size=width)
    return st.lists(row, min_size=rows, max_size=rows)


@settings(max_examples=40)
@given(st.data(), st.sampled_from(["test", "train"]), st.integers(1, 2))
def test_equals_brute_force(data: st.DataObject, against: str, min_size: int) -> None:
    names = data.draw(st.sampled_from(["ab", "abc"]))
    n, m = data.draw(st.integers(2, 10)), data.draw(st.integers(2, 10))
    labels, found, training = (data.draw(bits(3, rows)) for rows in (n, n, m))
    groups, guessed, trained = (
        [
            names[i]
            for i in data.draw(st.lists(st.integers(0, len(names) - 1), min_size=k, max_size=k))
        ]
        for k in (n, n, m)
    )
    groups[: len(names)] = names[: len(groups)]  # the groups of test images are known

    def having(rows: list[list[int]], one: tuple[int, ...]) -> list[int]:
        return [i for i, row in enumerate(rows) if all(row[j] for j in one)]

    whole = {tuple(j for j in range(3) if row[j]) for row in training}
    sets = [one for one in whole if len(one) >= min_size and having(labels, one)]

    def share(rows: list[int], of: list[str], group: str) -> float:
        return sum(of[i] == group for i in rows) / len(rows) if rows else math.nan

    undirected, to_labels, to_group = [], [], []
    present = sorted({*groups, *guessed, *trained})
    for one in sets:
        before = having(training, one)
        shares = [share(before, trained, g) for g in present]
        after = having(found, one)
        if after:
            undirected.append(
                [
                    (share(after, guessed, g) - s) if s > 1 / len(present) + 1e-9 else 0.0
                    for g, s in zip(present, shares, strict=True)
                ]
            )
        rows, of = (labels, groups) if against == "test" else (training, trained)
        for g in present:
            both = sum(trained[i] == g for i in before)
            sign = both * m - len(before) * trained.count(g)
            sign = (sign > 0) - (sign < 0)
            of_group = [i for i in range(n) if groups[i] == g]
            of_reference = [i for i in range(len(rows)) if of[i] == g]
            if of_group and of_reference:
                delta = len({*having(found, one)} & {*of_group}) / len(of_group)
                delta -= len({*having(rows, one)} & {*of_reference}) / len(of_reference)
                to_labels.append((sign, delta))
            delta = share(having(labels, one), guessed, g) - share(having(rows, one), of, g)
            to_group.append((sign, delta))

    scores = multi_attribute_amplification(
        labels,
        groups,
        predicted_labels=found,
        predicted_groups=guessed,
        training_labels=training,
        training_groups=trained,
        min_size=min_size,
        against=against,
    )
    expected = {
        "multi_attribute": (
            [sum(row) for row in undirected],
            [sum(map(abs, row)) for row in undirected],
            [one for row in undirected for one in row],
        )
    }
    for metric, pairs in (("group_to_labels", to_labels), ("labels_to_group", to_group)):
        deltas = [delta for _, delta in pairs]
        expected[f"multi_attribute_{metric}"] = (
            [sign * delta for sign, delta in pairs],
            [abs(delta) for delta in deltas],
            deltas,
        )
    for metric, (signed, absolute, deltas) in expected.items():
        if not signed:
            assert math.isnan(value(scores, metric))
            continue
        assert value(scores, metric) == pytest.approx(fmean(signed), abs=1e-9)
        assert value(scores, f"{metric}_absolute") == pytest.approx(fmean(absolute), abs=1e-9)
        assert value(scores, f"{metric}_variance") == pytest.approx(pvariance(deltas), abs=1e-9)


def test_rows_that_do_not_match_say_so() -> None:
    with pytest.raises(DataError, match="predicted_groups has 1"):
        multi_attribute_amplification(
            [[1], [1]], ["a", "b"], predicted_labels=[[1], [0]], predicted_groups=["a"]
        )


def test_an_unknown_comparison_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown against 'all'"):
        multi_attribute_amplification(
            [[1], [1]],
            ["a", "b"],
            predicted_labels=[[1], [0]],
            predicted_groups=["a", "b"],
            against="all",  # type: ignore[arg-type]
        )
