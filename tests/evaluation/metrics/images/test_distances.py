"""Distances of generated images from real ones."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.linalg import sqrtm

from cobalance.base.errors import DataError
from cobalance.evaluation.metrics.images.distances import (
    FRECHET_IMAGES,
    FewImagesWarning,
    cmmd,
    frechet,
    kernel,
)


def value(frame):
    return frame["value"].item()


def test_a_unit_shift_in_eight_dimensions_is_eight():
    points = np.random.default_rng(0).normal(size=(FRECHET_IMAGES, 8))
    scores = frechet(points, points + 1)
    assert value(scores) == pytest.approx(8, abs=1e-9)
    assert scores["n"].item() == FRECHET_IMAGES


def test_the_frechet_distance_is_that_of_its_definition():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 5)) @ rng.normal(size=(5, 5))
    y = rng.normal(size=(2500, 5)) @ rng.normal(size=(5, 5)) + rng.normal(size=5)
    shift = x.mean(axis=0) - y.mean(axis=0)
    c1, c2 = np.cov(x.T), np.cov(y.T)
    expected = shift @ shift + np.trace(c1 + c2 - 2 * np.real(sqrtm(c1 @ c2)))
    assert value(frechet(x, y)) == pytest.approx(expected, rel=1e-8)


def test_few_images_are_warned_of():
    points = np.random.default_rng(0).normal(size=(40, 64))
    with pytest.warns(FewImagesWarning, match="40 images"):
        scores = frechet(points, points[::-1])
    assert value(scores) == pytest.approx(0, abs=1e-9)


def test_cmmd_of_two_unit_vectors():
    assert value(cmmd([(1, 0)], [(0, 1)])) == pytest.approx(2000 * (1 - np.exp(-1 / 100)))
    assert round(value(cmmd([(1, 0)], [(0, 1)])), 4) == 19.9003


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 9), st.integers(2, 9), st.integers(1, 4), st.integers(0, 99))
def test_kernels_equal_sums_over_all_pairs(n, m, width, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, width)), rng.normal(size=(m, width))

    def mean_gaussian(a, b):
        return np.mean([np.exp(-sum((p - q) ** 2) / 200) for p in a for q in b])

    expected = 1000 * (mean_gaussian(x, x) + mean_gaussian(y, y) - 2 * mean_gaussian(x, y))
    assert value(cmmd(x, y)) == pytest.approx(expected, abs=1e-9)
    if n == m:  # each subset is then the whole

        def cubic(p, q):
            return (float(np.dot(p, q)) / width + 1) ** 3

        same = sum(
            np.mean([cubic(p, q) for i, p in enumerate(a) for j, q in enumerate(a) if i != j])
            for a in (x, y)
        )
        cross = np.mean([cubic(p, q) for p in x for q in y])
        found = value(kernel(x, y, rng, subsets=3))
        assert found == pytest.approx(same - 2 * cross, abs=1e-9)


def test_cmmd_in_blocks_equals_that_of_all_pairs_at_once():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2500, 3)), rng.normal(size=(2100, 3)) + 0.3
    distances = [((a[:, None] - b) ** 2).sum(axis=2) for a, b in ((x, x), (y, y), (x, y))]
    xx, yy, xy = (np.exp(-d / (2 * 4)).mean() for d in distances)
    assert value(cmmd(x, y, sigma=2)) == pytest.approx(1000 * (xx + yy - 2 * xy), abs=1e-8)


def test_subsets_are_drawn_by_the_generator():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(200, 4)), rng.normal(size=(300, 4)) + 1

    def run(seed):
        return kernel(x, y, np.random.default_rng(seed), subsets=20, subset_size=50)

    assert run(1).equals(run(1))
    assert not run(1).equals(run(2))
    scores = run(1)
    assert (scores["low"] < scores["value"]).all()
    assert (scores["value"] < scores["high"]).all()
    assert scores["n"].item() == 50


@pytest.mark.parametrize("measure", [frechet, cmmd])
@pytest.mark.parametrize(
    ("real", "generated", "message"),
    [
        ([(0.0, np.nan), (1, 1)], [(0, 0), (1, 1)], "real image 0 are not finite"),
        ([(0, 0), (1, 1)], [(0,), (1,)], "have 2 and 1 columns"),
        ([1, 2], [(0, 0), (1, 1)], "have the shape \\(2,\\)"),
    ],
)
def test_features_that_cannot_be_compared_are_refused(measure, real, generated, message):
    with pytest.raises(DataError, match=message):
        measure(real, generated)
