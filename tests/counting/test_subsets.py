"""Subset look-up against comparing every pair of sets."""

import numpy as np
from hypothesis import given, strategies as st

from cobalance.counting.subsets import SubsetIndex

sets = st.lists(st.frozensets(st.integers(0, 7), max_size=5), max_size=12)


def padded(rows: list[list[int]], width: int) -> np.ndarray:
    return np.array([row + [-1] * (width - len(row)) for row in rows]).reshape(-1, width)


def pairs(index: SubsetIndex, members: np.ndarray) -> list[tuple[int, int]]:
    found = []
    for positions, rows in index.subsets(members):
        assert len(set(positions.tolist())) == len(positions)
        found += zip(positions.tolist(), rows.tolist(), strict=True)
    return found


@given(st.lists(st.frozensets(st.integers(0, 6), min_size=1, max_size=4), unique=True), sets)
def test_all_subsets_once(table, queries):
    """Tables that lack some subsets included, and members that the table has never seen."""
    index = SubsetIndex(padded([sorted(row) for row in table], 4))
    found = pairs(index, padded([sorted(query) for query in queries], 5))
    expected = [
        (q, r) for q, query in enumerate(queries) for r, row in enumerate(table) if row <= query
    ]
    assert sorted(found) == sorted(expected)


def test_empty_table():
    index = SubsetIndex(np.zeros((0, 3), dtype=np.int32))
    assert pairs(index, np.array([[0, 1, 2]])) == []
    assert pairs(SubsetIndex(np.array([[0, -1]])), np.zeros((0, 2), dtype=np.int32)) == []


def test_many_concepts_and_members():
    """Keys of the whole set would not fit 64 bits: 9 members out of two million."""
    members = np.arange(0, 2_000_000, 250_000, dtype=np.int32)[None, :]
    index = SubsetIndex(np.concatenate([members, members + 1]))
    assert pairs(index, members + 1) == [(0, 1)]
