"""The skew-axis layout: each skew at its place on a fixed axis, circles off each other."""

import math

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from cobalance.statistics.contrasts import skew
from cobalance.workflows.concept_graph.skew_layout import (
    LABEL_HEIGHT_PX,
    SIZES_PX,
    axis_x_px,
    edge_widths_px,
    node_sizes_px,
    skew_layout,
)

WIDTH, HEIGHT = 900, 560

leans = st.one_of(
    st.floats(-1, 1), st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.floats(-0.05, 0.05)
)
nodes = st.lists(st.tuples(leans, st.floats(*SIZES_PX)), min_size=1, max_size=60)


def place(some, width=WIDTH, height=HEIGHT):
    lean, sizes = (np.array(column) for column in zip(*some, strict=True))
    at, share = skew_layout(lean, sizes, width_px=width, height_px=height)
    return lean, share * sizes, at, share


@given(nodes, nodes, st.sampled_from([(900, 560), (1200, 780), (400, 900)]))
def test_a_skew_has_one_place_on_the_axis_whatever_else_is_drawn(some, others, canvas):
    """From the left end to the right one in proportion, balanced ones in the middle."""
    for rows in (some, others, some + others):
        lean, _, at, _ = place(rows, *canvas)
        ends = axis_x_px([-1, 1], canvas[0])
        assert ends.sum() == pytest.approx(canvas[0])
        np.testing.assert_allclose(at[:, 0], canvas[0] / 2 + lean * (ends[1] - ends[0]) / 2)
        assert len(set(at[lean == lean[0], 0].tolist())) == 1


@given(nodes)
@example([(-1.0, 48.0)] * 60)
def test_everything_is_inside(some):
    _, sizes, at, _ = place(some)
    assert (at - sizes[:, None] / 2 > -1e-6).all()
    assert (at + sizes[:, None] / 2 < np.array([WIDTH, HEIGHT]) + 1e-6).all()


@given(nodes)
def test_circles_overlap_at_their_smallest_alone(some):
    _, sizes, at, share = place(some)
    apart = np.linalg.norm(at[:, None] - at[None], axis=2) - (sizes[:, None] + sizes[None]) / 2
    np.fill_diagonal(apart, math.inf)
    assert share >= 0.3
    assert apart.min(initial=math.inf) > 0 or share == 0.3


@given(
    st.integers(1, 4).flatmap(
        lambda steps: st.lists(
            st.tuples(st.lists(leans, min_size=steps, max_size=steps), st.floats(*SIZES_PX)),
            min_size=1,
            max_size=40,
        )
    )
)
def test_of_several_steps_circles_keep_their_height_and_overlap_in_none(some):
    lean = np.array([steps for steps, _ in some]).T
    sizes = np.array([size for _, size in some])
    at, share = skew_layout(lean, sizes, width_px=WIDTH, height_px=HEIGHT)
    assert at.shape == (*lean.shape, 2)
    assert (at[:, :, 1] == at[0, :, 1]).all()
    for step, positions in zip(lean, at, strict=True):
        np.testing.assert_allclose(positions[:, 0], axis_x_px(step, WIDTH))
        apart = np.linalg.norm(positions[:, None] - positions[None], axis=2)
        apart -= share * (sizes[:, None] + sizes[None]) / 2
        np.fill_diagonal(apart, math.inf)
        assert apart.min() > 0 or share == 0.3


@given(st.lists(leans, min_size=1, max_size=8))
def test_a_few_keep_their_size_and_have_room_for_labels(some):
    _, sizes, at, share = place([(lean, 40.0) for lean in some])
    assert share == 1
    for one in range(len(some)):
        for other in range(one):
            if abs(at[one, 0] - at[other, 0]) < 1:
                assert abs(at[one, 1] - at[other, 1]) >= sizes[one] + LABEL_HEIGHT_PX - 1


@given(nodes, st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(some, random):
    shuffled = random.sample(some, len(some))

    def placed(rows):
        return sorted(zip(rows, map(tuple, place(rows)[2].tolist()), strict=True))

    assert placed(some) == placed(shuffled)
    np.testing.assert_array_equal(place(some)[2], place(some)[2])


@pytest.mark.parametrize("n", [20, 80])
def test_the_height_is_used_and_the_most_frequent_is_in_the_middle(n):
    rng = np.random.default_rng(n)
    sizes = node_sizes_px(10_000 / np.arange(1, n + 1))
    lean = np.tanh(rng.normal(0, 0.1, n))
    at, _ = skew_layout(lean, sizes, width_px=WIDTH, height_px=HEIGHT)
    assert abs(at[0, 1] - HEIGHT / 2) <= LABEL_HEIGHT_PX / 2
    assert at[:, 1].max() - at[:, 1].min() > 0.7 * HEIGHT
    away = np.abs(at[:, 1] - HEIGHT / 2)
    assert away[: max(1, n // 4)].mean() < away[n // 4 :].mean()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("spread", [0.5, 0.0])
def test_600_concepts_take_a_moment(spread):
    rng = np.random.default_rng(0)
    at, share = skew_layout(
        np.tanh(rng.normal(0, spread, 600)),
        node_sizes_px(10_000 / np.arange(1, 601)),
        width_px=WIDTH,
        height_px=HEIGHT,
    )
    assert len(np.unique(at, axis=0)) == 600
    assert share == 0.3 or spread


def test_no_circle_is_no_picture():
    positions, share = skew_layout([], [], width_px=200, height_px=100)
    assert (positions.shape, share) == ((0, 2), 1)


def test_an_unknown_skew_stands_in_the_middle():
    at, _ = skew_layout([np.nan], [12], width_px=200, height_px=100)
    assert at[0, 0] == 100


counts = st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=1, max_size=9)


@given(counts, st.lists(st.integers(0, 60), min_size=3, max_size=3))
def test_skew_compares_pooled_rates(rows, sizes):
    for left, right in (([0], [1]), ([2], [0, 1]), ([1], [0, 2])):
        found = skew(rows, sizes, left, right)
        for row, value in zip(rows, found.tolist(), strict=True):
            images = [sum(sizes[c] for c in side) for side in (left, right)]
            held = [sum(row[c] for c in side) for side in (left, right)]
            if not all(images) or not any(held):
                assert value == 0
            else:
                low, high = (n / of for n, of in zip(held, images, strict=True))
                assert value == pytest.approx((high - low) / (high + low))
            assert -1 <= value <= 1


def test_skew_of_what_was_not_counted_is_unknown():
    found = skew([[np.nan, np.nan], [1, 1]], [10, 10], [0], [1])
    np.testing.assert_array_equal(found, [np.nan, 0])
    assert skew(np.empty((0, 2)), [10, 10], [0], [1]).shape == (0,)
    assert skew([[3]], [10], [0], []).tolist() == [0]


@given(st.lists(st.integers(0, 10**9), max_size=20))
def test_sizes_and_widths_rise_with_images_within_bounds(images):
    for measure, low, high in ((node_sizes_px, *SIZES_PX), (edge_widths_px, 1, 8)):
        found = measure(images)
        assert ((found >= low) & (found <= high)).all()
        assert (np.diff(found[np.argsort(images, kind="stable")]) >= 0).all()
        if max(images, default=0) > 0:
            assert found.max() == high
