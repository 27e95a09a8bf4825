"""The radial layout: rings by distance, sides by skew, and nothing on anything else."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.workflows.concept_graph.radial import grow_layout, radial_layout
from cobalance.workflows.concept_graph.skew_layout import LABEL_HEIGHT_PX


def star(n: int) -> list[tuple[int, int]]:
    return [(0, i) for i in range(1, n)]


def overlapping(at: np.ndarray, sizes: np.ndarray, labels: np.ndarray) -> list[tuple[int, int]]:
    """Pairs whose boxes overlap, one by one."""
    found = []
    for i in range(len(at)):
        for j in range(i):
            aside = (
                abs(at[i, 0] - at[j, 0]) < (max(sizes[i], labels[i]) + max(sizes[j], labels[j])) / 2
            )
            over = (
                at[i, 1] - sizes[i] / 2 < at[j, 1] + sizes[j] / 2 + LABEL_HEIGHT_PX
                and at[j, 1] - sizes[j] / 2 < at[i, 1] + sizes[i] / 2 + LABEL_HEIGHT_PX
            )
            if aside and over:
                found.append((j, i))
    return found


def test_the_left_class_is_on_the_left() -> None:
    skew = np.array([0.0, 0.9, -1.0, 0.1, -0.4, 1.0, -0.1])
    at = radial_layout(star(7), skew, [20] * 7, [40] * 7)
    x = at[:, 0] - at[0, 0]
    assert x[2] == x.min()
    assert x[5] == x.max() or x[1] == x.max()
    assert (x[[4, 2]] < 0).all()
    assert (x[[1, 5]] > 0).all()


def test_what_is_behind_a_node_is_further_out_on_its_side() -> None:
    links = [(0, 1), (0, 2), (2, 3), (2, 4)]
    at = radial_layout(links, [0, -1, 1, 0, 0], [20] * 5, [40] * 5, centre=0)
    x = at[:, 0] - at[0, 0]
    assert x[1] < 0 < x[2] < x[3]
    assert x[4] > x[2]


def test_a_given_centre_wins_over_the_node_with_most_links() -> None:
    links = [(0, 1), (1, 2), (1, 3), (1, 4)]
    by_links = radial_layout(links, [0] * 5, [20] * 5, [40] * 5)
    given_one = radial_layout(links, [0] * 5, [20] * 5, [40] * 5, centre=0)
    distance = np.hypot(*(given_one - given_one[0]).T)
    assert distance[1] < distance[2:].min()
    assert np.hypot(*(by_links - by_links[1]).T).argmin() == 1


def test_parts_without_a_link_between_them_stand_apart() -> None:
    links = [(0, 1), (2, 3), (2, 4)]
    at = radial_layout(links, [0] * 6, [20] * 6, [60] * 6)
    assert not overlapping(at, np.full(6, 20), np.full(6, 60))
    assert (at >= 0).all()


def test_nothing_and_one() -> None:
    assert radial_layout([], [], [], []).shape == (0, 2)
    assert radial_layout([], [0], [20], [40]).tolist() == [[20, 10]]


def test_links_to_itself_and_twice_change_nothing() -> None:
    once = radial_layout([(0, 1), (0, 2)], [0, -1, 1], [20] * 3, [40] * 3)
    more = radial_layout([(0, 1), (0, 2), (1, 0), (1, 1)], [0, -1, 1], [20] * 3, [40] * 3)
    np.testing.assert_array_equal(once, more)


@given(
    st.integers(1, 40).flatmap(
        lambda n: st.tuples(
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60),
            st.lists(st.floats(-1, 1) | st.just(float("nan")), min_size=n, max_size=n),
            st.lists(st.floats(12, 48), min_size=n, max_size=n),
            st.lists(st.floats(0, 160), min_size=n, max_size=n),
        )
    )
)
def test_nothing_overlaps_and_the_same_again_is_the_same(
    case: tuple[list[tuple[int, int]], list[float], list[float], list[float]],
) -> None:
    links, skew, sizes, labels = case
    at = radial_layout(links, skew, sizes, labels)
    assert np.isfinite(at).all()
    assert not overlapping(at, np.array(sizes), np.array(labels))
    np.testing.assert_array_equal(at, radial_layout(links, skew, sizes, labels))


@pytest.mark.parametrize("n", [2, 12, 31, 61])
def test_a_star_is_not_much_larger_than_its_labels_need(n: int) -> None:
    at = radial_layout(star(n), np.linspace(-1, 1, n), [30] * n, [110] * n)
    width, height = np.ptp(at, axis=0)
    assert width * height < 12 * n * 116 * 52 + 400 * 300


@given(st.integers(1, 40), st.integers(0, 30), st.randoms(use_true_random=False))
def test_what_has_a_place_keeps_it_and_what_comes_covers_nothing(
    first: int, more: int, random: Random
) -> None:
    n = first + more
    sizes = np.array([random.uniform(12, 48) for _ in range(n)])
    labels = np.array([random.uniform(0, 160) for _ in range(n)])
    placed = radial_layout(star(first), np.zeros(first), sizes[:first], labels[:first], centre=0)
    links = [(random.randrange(i), i) for i in range(first, n)]
    at = grow_layout(placed, [*star(first), *links], sizes, labels)
    np.testing.assert_array_equal(at[:first], placed)
    assert not overlapping(at, sizes, labels)
    # More nodes change nothing of what was there.
    np.testing.assert_array_equal(
        grow_layout(
            placed, links[: more // 2], sizes[: first + more // 2], labels[: first + more // 2]
        ),
        at[: first + more // 2],
    )
