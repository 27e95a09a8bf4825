"""Leakage from attackers' probabilities, and with attackers trained here."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom

from cobalance.base.errors import DataError, UnknownNameError
from cobalance.evaluation.metrics.bias.attackers import AttackOptions, draw_splits
from cobalance.evaluation.metrics.bias.label_leakage import label_leakage, macro_f1, make_wrong
from cobalance.evaluation.metrics.bias.leakage import leakage
from tests.evaluation.metrics.bias.scored import value

RIGHT_THREE_TIMES = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]]


def test_right_three_times_and_wrong_once() -> None:
    scores = leakage(RIGHT_THREE_TIMES, [0, 0, 1, 1])
    assert value(scores, "leakage_model") == pytest.approx((0.9 + 0.6 + 0.8) / 4)
    assert value(scores, "attacker_accuracy_model") == 0.75


def test_arrays_and_frames_say_the_same() -> None:
    groups = ["man", "man", "woman", "woman"]
    named = pd.DataFrame(RIGHT_THREE_TIMES, columns=["p_man", "p_woman"]).assign(group=groups)
    counted = named.assign(n=[2.0, 1, 1, 1])
    repeated = named.loc[[0, 0, 1, 2, 3]]
    expected = leakage(RIGHT_THREE_TIMES, [0, 0, 1, 1])
    for same in (
        leakage(named),
        leakage(named[["p_woman", "group", "p_man"]]),
        leakage(pd.DataFrame(RIGHT_THREE_TIMES, columns=["man", "woman"]), groups),
        leakage([row[1] for row in RIGHT_THREE_TIMES], [0, 0, 1, 1]),
        leakage(named.assign(n=1)),
    ):
        pd.testing.assert_frame_equal(same, expected)
    pd.testing.assert_frame_equal(leakage(counted), leakage(repeated))


@settings(max_examples=40)
@given(st.data())
def test_equals_brute_force_and_its_difference_is_paired(data: st.DataObject) -> None:
    n, n_groups = data.draw(st.integers(2, 8)), data.draw(st.integers(2, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    of_model, of_data = rng.dirichlet(np.ones(n_groups), size=(2, n))
    groups = rng.integers(n_groups, size=n)
    means, differences = {}, []
    for name, rows in (("model", of_model), ("data", of_data)):
        found = [row[g] if max(row) == row[g] else 0 for row, g in zip(rows, groups, strict=True)]
        means[name] = sum(found) / n
        differences.append(found)
    scores = leakage(of_model, groups, data=of_data)
    assert value(scores, "leakage_model") == pytest.approx(means["model"])
    assert value(scores, "leakage") == pytest.approx(means["model"] - means["data"])
    paired = np.subtract(*differences)
    half = 1.96 * paired.std(ddof=1) / n**0.5
    limits = [value(scores, "leakage", column=one) for one in ("low", "high")]
    cut = np.clip([paired.mean() - half, paired.mean() + half], -1, 1)
    assert limits == pytest.approx(cut, rel=1e-3, abs=1e-4)
    assert value(scores, "leakage_model", column="low") >= 0
    assert value(scores, "leakage_model", column="high") <= 1

    folded = leakage(of_model, groups, score="folded")
    right = np.mean([row.argmax() == g for row, g in zip(of_model, groups, strict=True)])
    chance = 1 / n_groups
    assert value(folded, "leakage_model") == pytest.approx(chance + abs(right - chance))


def test_an_attacker_that_is_always_wrong_tells_as_much_when_folded() -> None:
    wrong = [[0.1, 0.9], [0.8, 0.2]]
    assert value(leakage(wrong, [0, 1]), "leakage_model") == 0
    assert value(leakage(wrong, [0, 1], score="accuracy"), "leakage_model") == 0
    assert value(leakage(wrong, [0, 1], score="folded"), "leakage_model") == 1


@pytest.mark.parametrize(
    ("model", "groups", "message"),
    [
        ([[0.5, 0.5], [math.nan, 1]], [0, 1], "model, row 2, group '0' is nan"),
        ([[1.5, -0.5]], [0], "row 1, group '0' is 1.5"),
        ([[0.5, 0.2]], [0], "row 1 adds up to 0.7"),
        ([[0.5, 0.5]], [2], "no probabilities of the group '2'"),
        ([[0.5, 0.5]], ["man"], "no probabilities of the group 'man'"),
        ([[0.5, 0.5]], [0, 1], "has 1 rows, and 2 groups"),
        ([[0.5, 0.5]], None, "has no column group"),
        ([[1.0]], [0], "at least two groups"),
        (pd.DataFrame({"group": ["a"], "p_a": [0.5], "p_b": [0.5], "n": [0]}), None, "no images"),
    ],
    ids=["nan", "above", "sum", "code", "name", "rows", "none", "one", "empty"],
)
def test_probabilities_that_cannot_be_used_say_where(
    model: object, groups: list[object] | None, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        leakage(model, groups)  # type: ignore[arg-type]


def test_an_unknown_score_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown score 'f1'"):
        leakage(RIGHT_THREE_TIMES, [0, 0, 1, 1], score="f1")  # type: ignore[arg-type]


def labelled(seed: int, n: int, n_labels: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, size=(n, n_labels)), rng.integers(0, 2, size=n)


@pytest.mark.parametrize("attacker", ["linear", "mlp"])
@pytest.mark.parametrize("seed", range(3))
def test_shuffled_labels_are_guessed_by_chance_and_copied_ones_always(
    attacker: str, seed: int
) -> None:
    labels, groups = labelled(seed, 500)
    copied = np.column_stack([labels, groups, 1 - groups])
    labels = np.column_stack([labels, labels[:, :2]])
    scores = label_leakage(
        copied,
        labels,
        groups,
        rng=np.random.default_rng(seed),
        options=AttackOptions(attacker=attacker, repeats=1),  # type: ignore[arg-type]
    )
    n = int(value(scores, "leakage_data", column="n"))
    low, high = binom.ppf([0.001, 0.999], n, 0.5) / n
    assert low <= value(scores, "attacker_accuracy_data") <= high
    assert value(scores, "attacker_accuracy_model") == 1
    assert value(scores, "leakage_model") > 0.97
    if attacker == "linear":  # where labels tell nothing, it is not sure, either
        assert value(scores, "leakage_data") < 0.6 * high + 0.05


def test_the_same_seed_gives_the_same_scores_and_another_one_others() -> None:
    labels, groups = labelled(1, 120)
    found = np.where(np.random.default_rng(2).random(labels.shape) < 0.3, groups[:, None], labels)
    first, again, other = (
        label_leakage(found, labels, groups, rng=np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


def test_a_bias_of_the_model_is_leakage_and_its_errors_alone_are_not() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, size=1500)
    # each of six objects leans to a group by 30 points
    lean = np.where(groups[:, None] == [0, 1, 0, 1, 0, 1], 0.65, 0.35)
    labels = (rng.random((1500, 6)) < lean).astype(int)
    biased = np.where(rng.random(labels.shape) < 0.3, (lean > 0.5).astype(int), labels)
    sloppy = np.where(rng.random(labels.shape) < 0.2, 1 - labels, labels)
    more = label_leakage(biased, labels, groups, rng=np.random.default_rng(1))
    assert value(more, "leakage", column="low") > 0
    plain = label_leakage(sloppy, labels, groups, rng=np.random.default_rng(1))
    fair = label_leakage(sloppy, labels, groups, rng=np.random.default_rng(1), equal_f1=True)
    assert value(plain, "leakage") < -0.05
    assert abs(value(fair, "leakage")) < 0.05


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.floats(0.56, 1), st.booleans())
def test_labels_are_made_as_wrong_as_wanted(seed: int, goal: float, single: bool) -> None:
    # Guessing at random gives an F1 of about 0.5: goals that low cannot be told from it.
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, size=(600, 3))
    if single:
        labels = np.eye(3, dtype=int)[rng.integers(3, size=600)]
    wrong = make_wrong(labels, goal, rng, single=single)
    assert macro_f1(labels, wrong) == pytest.approx(goal, abs=0.02)
    if single:
        assert (wrong.sum(axis=1) == 1).all()


@settings(max_examples=40)
@given(st.lists(st.integers(-1, 2), min_size=1, max_size=40), st.floats(0.05, 0.9), st.booleans())
def test_splits_are_disjoint_balanced_and_of_all_groups(
    codes: list[int], share: float, balanced: bool
) -> None:
    groups = np.array(codes)
    counts = {code: codes.count(code) for code in set(codes) - {-1}}
    options = AttackOptions(repeats=2, test_share=share, balanced=balanced)
    splits = draw_splits(groups, options, np.random.default_rng(0))
    if len(counts) < 2 or min(counts.values()) < 3:
        try:
            found = list(splits)
        except DataError:
            return
        counts = {code: n for code, n in counts.items() if n}
    else:
        try:
            found = list(splits)
        except DataError:  # the share leaves fewer than two to train with
            assert min(counts.values()) - max(1, round(min(counts.values()) * share)) < 2
            return
    for split in found:
        assert not {*split.training} & {*split.test}
        assert {*groups[split.training]} == {*groups[split.test]} == {*counts}
        if balanced:
            for rows in (split.training, split.test):
                assert len(set(np.unique(groups[rows], return_counts=True)[1])) == 1


def test_images_that_test_are_the_ones_that_are_named() -> None:
    groups = np.array([0, 1] * 20)
    test = np.arange(40) >= 30
    for split in draw_splits(groups, AttackOptions(), np.random.default_rng(0), test):
        assert {*split.test} == {*range(30, 40)}
        assert {*split.training} == {*range(30)}


def test_leakage_is_scored_on_the_named_images() -> None:
    groups = np.array([0, 1] * 20)
    test, rng = np.arange(40) >= 30, np.random.default_rng(0)
    told, hidden = np.eye(2)[groups], np.ones((40, 2))
    labels = np.where(test[:, None], hidden, told).astype(int)
    scores = label_leakage(labels, told.astype(int), groups, rng=rng, test=test)
    assert value(scores, "attacker_accuracy_model") == 0.5
    assert value(scores, "attacker_accuracy_data") == 1
    with pytest.raises(DataError, match=r"test has the shape \(39,\)"):
        label_leakage(labels, labels, groups, rng=rng, test=test[1:])


@pytest.mark.parametrize(
    ("predicted", "labels", "groups", "message"),
    [
        ([[1], [0]], [[1], [0]], ["a", "b"], "needs 2"),
        ([[1]] * 6, [[1]] * 6, ["a"] * 6, "of 1 groups"),
        ([[1]] * 6, [[1]] * 6, ["a"] * 5, "5 groups are given"),
        ([[1, 0]] * 6, [[1]] * 6, ["a", "b"] * 3, "a column for each label in both"),
        ([[math.nan]] * 6, [[1]] * 6, ["a", "b"] * 3, "is not finite"),
        ([[1]] * 5, [[1]] * 6, ["a", "b"] * 3, "predicted has 5"),
    ],
    ids=["few", "one group", "groups", "labels", "nan", "rows"],
)
def test_labels_that_cannot_be_attacked_say_why(
    predicted: list[list[float]], labels: list[list[int]], groups: list[str], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        label_leakage(predicted, labels, groups, rng=np.random.default_rng(0))


def test_classes_by_name() -> None:
    classes = ["pan", "ball"] * 30
    groups = ["woman", "man"] * 30
    scores = label_leakage(classes, classes, groups, rng=np.random.default_rng(0), equal_f1=True)
    assert value(scores, "attacker_accuracy_model") == 1
    assert value(scores, "leakage") == pytest.approx(0)
