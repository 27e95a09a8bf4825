"""Neighbours and near duplicates are those of a loop over all pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import OptionError
from cobalance.ingest.embeddings import similarity
from cobalance.ingest.embeddings.similarity import (
    groups_of,
    near_pairs,
    nearest,
    principal_axes,
    unit_vectors,
)


@st.composite
def vectors(draw):
    """Clusters with ties, copies and zeros, of few dimensions and of more than the bound has."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, width = draw(st.integers(0, 40)), draw(st.sampled_from([1, 2, 5, 66, 90]))
    centres = rng.normal(size=(3, width))
    spread = draw(st.sampled_from([0.0, 0.05, 1.0]))
    made = centres[rng.integers(3, size=n)] + spread * rng.normal(size=(n, width))
    made[rng.random(n) < 0.1] = 0
    return unit_vectors(made)


def cosine_of(unit, i, j):
    return float(unit[i].astype(np.float64) @ unit[j].astype(np.float64))


@settings(max_examples=60)
@given(vectors(), st.sampled_from([-1.0, 0.0, 0.5, 0.9, 0.99]), st.integers(1, 50))
def test_they_are_those_of_brute_force(unit, threshold, k):
    left, right, _ = near_pairs(unit, threshold)
    found = set(zip(left.tolist(), right.tolist(), strict=True))
    assert len(found) == len(left)
    every = {pair: cosine_of(unit, *pair) for pair in combinations(range(len(unit)), 2)}
    sure = {pair for pair, value in every.items() if value > threshold + 1e-12}
    maybe = {pair for pair, value in every.items() if value > threshold - 1e-12}
    assert sure <= found <= maybe
    if len(unit):
        rows, values = nearest(unit, 0, k)
        others = sorted((-cosine_of(unit, 0, j), j) for j in range(1, len(unit)))[:k]
        assert values == pytest.approx([-value for value, _ in others], abs=1e-12)
        assert len(set(rows.tolist())) == len(rows) == min(k, len(unit) - 1)
        assert 0 not in rows


def test_many_blocks_find_planted_copies(monkeypatch):
    monkeypatch.setattr(similarity, "ROWS", 64)
    monkeypatch.setattr(similarity, "COLUMNS", 96)
    rng = np.random.default_rng(3)
    made = rng.normal(size=(500, 128))
    copies = {7: 430, 8: 9, 63: 64, 430: 499}
    for i, j in copies.items():
        made[j] = made[i] + 0.01 * rng.normal(size=128)
    left, right, values = near_pairs(unit_vectors(made), 0.95)
    found = set(zip(left.tolist(), right.tolist(), strict=True))
    assert found == {*copies.items(), (7, 499)}
    assert (values >= 0.95).all()
    assert [group.tolist() for group in groups_of((left, right), 500)] == [
        [7, 430, 499],
        [8, 9],
        [63, 64],
    ]


def test_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr(similarity, "MAX_PAIRS", 10)
    with pytest.raises(OptionError, match="higher similarity"):
        near_pairs(unit_vectors(np.ones((6, 2))), 0.9)


def test_places_keep_what_varies_most_and_are_the_same_each_time():
    rng = np.random.default_rng(0)
    made = unit_vectors(rng.normal(size=(200, 70)) * np.geomspace(9, 0.1, 70))
    place = principal_axes(made, 2)
    centred = made - made.mean(axis=0)
    kept = np.linalg.svd(centred.astype(np.float64), compute_uv=False)[:2] ** 2
    assert (place.astype(np.float64) ** 2).sum(axis=0) == pytest.approx(kept, rel=1e-3)
    assert np.array_equal(place, principal_axes(made, 2))
    assert principal_axes(unit_vectors([[1.0], [2.0]]), 2)[:, 1].tolist() == [0, 0]
    assert principal_axes(unit_vectors(np.zeros((0, 3))), 2).shape == (0, 2)
