import warnings

import numpy as np
import pandas as pd
import pytest

from cobalance.evaluation.differences import bootstrap_differences, mean_and_sd


def statistics(accuracy: np.ndarray) -> np.ndarray:
    """The mean over groups and the worst group."""
    return np.stack([accuracy.mean(axis=-1), accuracy.min(axis=-1)], axis=-1)


def test_mean_and_sd_over_seeds():
    scores = pd.DataFrame(
        {
            "method": ["b"] * 4 + ["a"],
            "seed": [0, 1, 0, 1, 0],
            "metric": ["ratio", "ratio", "worst_group", "worst_group", "ratio"],
            "group": "",
            "value": [np.inf, 1, 0.2, 0.5, 3],
            "n": 10.0,
        }
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = mean_and_sd(scores)
    assert found["method"].tolist() == ["b", "b", "a"]
    assert found["mean"].tolist() == [np.inf, pytest.approx(0.35), 3]
    assert found["sd"].tolist() == pytest.approx(
        [np.nan, abs(0.2 - 0.5) / np.sqrt(2), np.nan], nan_ok=True
    )
    assert found["seeds"].tolist() == [2, 2, 1]


def test_differences_are_those_of_a_plain_bootstrap():
    rng = np.random.default_rng(3)
    groups = np.repeat([0, 1], [60, 30])
    hard = rng.random(90)  # shared by both models and all seeds
    before = rng.random((3, 90)) < np.where(groups, 0.3, 0.8) * hard + 0.1
    after = rng.random((3, 90)) < np.where(groups, 0.7, 0.8) * hard + 0.1
    found = bootstrap_differences(
        before, after, groups, 2, statistics, np.random.default_rng(0), draws=4_000
    )

    def both(right, rows, seeds):
        of_seeds = []
        for seed in seeds:
            means = [right[seed, rows[groups[rows] == group]].mean() for group in (0, 1)]
            of_seeds.append([np.mean(means), min(means)])
        return np.mean(of_seeds, axis=0)

    everything, seeds = np.arange(90), np.arange(3)
    assert found["before"] == pytest.approx(both(before, everything, seeds))
    assert found["after"] == pytest.approx(both(after, everything, seeds))
    assert found["difference"] == pytest.approx(found["after"] - found["before"])
    drawn = []
    for _ in range(2_000):
        rows = np.concatenate([rng.integers(0, 60, 60), rng.integers(60, 90, 30)])
        some = rng.integers(0, 3, 3)
        drawn.append(both(after, rows, some) - both(before, rows, some))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    assert found["low"] == pytest.approx(low, abs=0.02)
    assert found["high"] == pytest.approx(high, abs=0.02)


def test_equal_models_do_not_differ_and_empty_groups_are_nan():
    right = np.random.default_rng(1).random((2, 20)) < 0.5
    found = bootstrap_differences(
        right,
        right,
        np.zeros(20, int),
        2,
        lambda accuracy: accuracy,
        np.random.default_rng(0),
    )
    assert found["difference"][0] == found["low"][0] == found["high"][0] == 0
    assert np.isnan(found["difference"][1])


def test_the_same_generator_gives_the_same_interval():
    rng = np.random.default_rng(2)
    before, after = (rng.random((2, 40)) < share for share in (0.4, 0.6))
    groups = np.repeat([0, 1], 20)
    one, two, other = (
        bootstrap_differences(
            before, after, groups, 2, statistics, np.random.default_rng(seed), draws=200
        )
        for seed in (0, 0, 1)
    )
    assert (one["low"] == two["low"]).all()
    assert (one["low"] != other["low"]).any()


def test_copies_of_test_images_do_not_narrow_the_interval():
    rng = np.random.default_rng(0)
    before, after = rng.random((2, 3, 80)) < [[[0.6]], [[0.75]]]
    groups = np.arange(80) % 2

    def mean(accuracy):
        return accuracy.mean(axis=-1, keepdims=True)

    def width(times, clusters):
        copies = (np.repeat(one, times, axis=-1) for one in (before, after, groups))
        found = bootstrap_differences(*copies, 2, mean, np.random.default_rng(1), clusters=clusters)
        return float((found["high"] - found["low"])[0])

    one = width(1, None)
    assert width(25, np.repeat(np.arange(80), 25)) == pytest.approx(one, rel=0.15)
    assert width(25, None) < 0.9 * one  # what is left is of the seeds
