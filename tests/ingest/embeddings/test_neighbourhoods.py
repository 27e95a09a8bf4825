"""Nearest neighbours, against scikit-learn's brute force and against sorting by hand."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.neighbors import NearestNeighbors

import cobalance.ingest.embeddings.neighbourhoods
from cobalance.base.errors import DataError
from cobalance.ingest.embeddings.neighbourhoods import neighbourhoods


def by_scikit_learn(points: np.ndarray, k: int) -> list[list[int]]:
    """Positions, ascending; a point is not its own neighbour."""
    search = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute")
    positions = search.fit(points.astype(np.float64)).kneighbors(return_distance=False)
    return np.sort(positions, axis=1).tolist()


def by_sorting(points: np.ndarray, k: int) -> list[list[int]]:
    """Each pair by itself, in double precision, and then by position; ascending."""
    rows = points.astype(np.float64)
    found = []
    for at, row in enumerate(rows):
        keyed = []
        for other, vector in enumerate(rows):
            scale = np.sqrt((row * row).sum()) * np.sqrt((vector * vector).sum())
            cosine = (row * vector).sum() / scale if scale else 0.0
            keyed.append((float(np.clip(1 - cosine, 0, 2)), other))
        found.append(sorted([other for _, other in sorted(keyed) if other != at][:k]))
    return found


def sets_of(points: np.ndarray, k: int, among: np.ndarray | None = None) -> list[list[int]]:
    own = np.arange(len(points))
    blocks = list(neighbourhoods(points, points if among is None else among, k, own=own))
    assert [block.start for block, _ in blocks] == [
        0,
        *(block.stop for block, _ in blocks[:-1]),
    ]
    return [row for _, found in blocks for row in found.tolist()]


def sample(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


@pytest.fixture(params=["one block", "small blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "small blocks":
        monkeypatch.setattr(cobalance.ingest.embeddings.neighbourhoods, "BLOCK_BYTES", 4 * 1000)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(
    ("n", "d", "k"), [(300, 512, 50), (301, 7, 1), (120, 3, 119), (64, 1, 5), (2, 4, 1)]
)
def test_the_same_as_scikit_learn(n: int, d: int, k: int) -> None:
    points = sample(n, d)
    if d == 1:
        points = np.abs(points) * np.where(np.arange(n) < 6, 1, -1)[:, np.newaxis]
    expected = by_scikit_learn if d > 1 else by_sorting  # in one dimension nearly all are tied
    assert sets_of(points, k) == expected(points, k)


@pytest.mark.usefixtures("blocks")
def test_points_in_clusters_that_single_precision_cannot_tell_apart() -> None:
    """Each point has 39 others at nearly its own place: more than k, and in one order."""
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(5, 32))
    points = np.repeat(centres, 40, axis=0) + 1e-4 * rng.normal(size=(200, 32))
    found = sets_of(points, 10)
    rounded = points.astype(np.float32)
    assert np.ptp((rounded / np.linalg.norm(rounded, axis=1)[:, None])[:40] @ rounded[0]) < 1e-5
    assert found == by_sorting(points, 10)
    same = [a == b for a, b in zip(found, by_scikit_learn(points, 10), strict=True)]
    assert np.mean(same) > 0.9  # its own rounding decides the rest


@pytest.mark.usefixtures("blocks")
def test_of_equal_points_the_earlier_ones_are_nearer() -> None:
    points = np.repeat(sample(6, 16), 7, axis=0)
    order = np.random.default_rng(1).permutation(len(points))
    for arranged in (points, points[order], np.ones((20, 4), dtype=np.float32)):
        for k in (1, 5, 6, 13, 19):
            assert sets_of(arranged, k) == by_sorting(arranged, k)


@given(
    st.integers(1, 4).flatmap(
        lambda d: st.lists(
            st.lists(st.integers(-2, 2), min_size=d, max_size=d), min_size=1, max_size=14
        )
    ),
    st.integers(1, 16),
)
def test_the_same_as_sorting(rows: list[list[int]], k: int) -> None:
    """On a grid nearly everything is tied; zeros among it."""
    points = np.array(rows, dtype=np.float32)
    assert sets_of(points, k) == by_sorting(points, k)


@pytest.mark.parametrize("size", [100, 1_000, 10_000])
def test_blocks_change_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.concatenate([sample(90, 24), sample(30, 24)])  # thirty twice
    expected = sets_of(points, 9)
    monkeypatch.setattr(cobalance.ingest.embeddings.neighbourhoods, "BLOCK_BYTES", size)
    assert sets_of(points, 9) == expected


def test_fewer_points_than_neighbours() -> None:
    points = sample(5, 8)
    assert sets_of(points, 50) == [[1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 3, 4], [0, 1, 2, 4],
                                   [0, 1, 2, 3]]  # fmt: skip
    assert sets_of(points[:1], 3) == [[]]
    assert [found.shape for _, found in neighbourhoods(points, np.empty((0, 8)), 3)] == [(5, 0)]
    assert not list(neighbourhoods(np.empty((0, 8)), points, 3))


def test_queries_that_are_no_points() -> None:
    points, queries = sample(40, 6), sample(3, 6, seed=9)
    expected = NearestNeighbors(n_neighbors=4, metric="cosine", algorithm="brute").fit(points)
    wanted = np.sort(expected.kneighbors(queries, return_distance=False), axis=1)
    assert [found.tolist() for _, found in neighbourhoods(queries, points, 4)] == [wanted.tolist()]
    assert [found.tolist() for _, found in neighbourhoods(points[[7]], points, 1)] == [[[7]]]


def test_length_does_not_matter() -> None:
    points = sample(30, 6)
    lengths = np.geomspace(1e-30, 1e30, 30, dtype=np.float32)[:, np.newaxis]
    assert sets_of(points, 5, among=points * lengths) == sets_of(points, 5)


def test_vectors_are_finite() -> None:
    points = sample(4, 3)
    for value in (np.nan, np.inf):
        with pytest.raises(DataError, match="Vector 2 has a value that is not finite"):
            next(neighbourhoods(points, np.where(np.arange(4)[:, None] == 2, value, points), 1))
