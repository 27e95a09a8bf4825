"""Rules that select an epoch, against counts by hand."""

from dataclasses import replace

import numpy as np
import pytest

from cobalance.base.errors import OptionError
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.selection import RULES, check_rule


def examples(labels: list[int] | list[list[int]], groups: list[int]) -> Examples:
    array = np.array(labels)
    return Examples(
        [str(at) for at in range(len(groups))],
        array,
        np.array(groups),
        np.full(len(groups), -1),
        ["a", "b"],
        lambda rows: [],
    )


ONE = examples([0, 0, 0, 1], [0, 0, 1, 3])
PROBABILITIES = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]])
SEVERAL = examples([[1, 0], [1, 1], [0, 0], [0, 1]], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("accuracy", 3 / 4),
        ("balanced", (2 / 3 + 1) / 2),
        ("group-balanced", (1 + 0 + 1) / 3),
        ("worst-group", 0.0),
        ("loss", np.log([0.9, 0.6, 0.2, 0.7]).mean()),
    ],
)
def test_one_label(rule: str, expected: float) -> None:
    check_rule(rule, ONE)
    assert RULES[rule](PROBABILITIES, ONE) == pytest.approx(expected)


def test_several_labels() -> None:
    """Of red the two positives rank first and second; of blue first and third."""
    scores = np.array([[0.9, 0.2], [0.6, 0.8], [0.2, 0.7], [0.3, 0.4]])
    assert RULES["mean-average-precision"](scores, SEVERAL) == pytest.approx((1 + 5 / 6) / 2)
    assert RULES["accuracy"](scores, SEVERAL) == pytest.approx(6 / 8)
    own = [0.9, 0.8, 0.6, 0.8, 0.8, 0.3, 0.7, 0.4]
    assert RULES["loss"](scores, SEVERAL) == pytest.approx(np.log(own).mean())
    only_red = replace(SEVERAL, labels=SEVERAL.labels * np.array([1, 0]))
    assert RULES["mean-average-precision"](scores, only_red) == pytest.approx(1)


def test_certain_and_wrong_is_finite() -> None:
    assert np.isfinite(RULES["loss"](np.array([[0.0, 1.0]]), examples([0], [0])))


@pytest.mark.parametrize(
    ("rule", "images", "message"),
    [
        ("loss", None, "there are none. Hold some out"),
        ("worst-group", replace(ONE, groups=np.array([0, -1, 1, -1])), "2 of 4 have none"),
        ("balanced", SEVERAL, "needs one label an image"),
        ("mean-average-precision", ONE, "needs several labels an image"),
        ("mean-average-precision", replace(SEVERAL, labels=np.zeros((4, 2), int)), "none has any"),
    ],
    ids=["none", "groups", "several", "one", "empty"],
)
def test_refusals(rule: str, images: Examples | None, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        check_rule(rule, images)
    assert message in str(caught.value)
