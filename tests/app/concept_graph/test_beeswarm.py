"""The skew-axis layout: inside the canvas, in order of skew, off each other while there is room."""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from app.concept_graph.beeswarm import (
    LABEL_HEIGHT_PX,
    SIZES_PX,
    edge_widths_px,
    node_sizes_px,
    skew_axis_layout,
)
from graph.diagnosis.skew import skew
from graph.errors import OptionError

WIDTH, HEIGHT = 900, 560
MARGIN, GAP = 4, 6

leans = st.one_of(
    st.floats(-1, 1), st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.floats(-0.05, 0.05)
)
nodes = st.lists(st.tuples(leans, st.floats(*SIZES_PX), st.floats(1, 150)), min_size=1, max_size=60)


def place(some, width=WIDTH, height=HEIGHT):
    lean, sizes, labels = (np.array(column) for column in zip(*some, strict=True))
    at = skew_axis_layout(lean, sizes, labels, width_px=width, height_px=height)
    return lean, np.maximum(sizes, labels), sizes + LABEL_HEIGHT_PX, at


def overlaps(widths, heights, at):
    """How deep any two boxes overlap at most, in pixels of the smaller direction."""
    middle = at + np.array([0, LABEL_HEIGHT_PX / 2])
    apart = np.abs(middle[:, None] - middle[None])
    into_x = (widths[:, None] + widths[None]) / 2 - apart[..., 0]
    into_y = (heights[:, None] + heights[None]) / 2 - apart[..., 1]
    depth = np.minimum(into_x, into_y)
    np.fill_diagonal(depth, -math.inf)
    return depth.max()


@given(nodes)
@example([(0.0, 12.0, 1000.0)] * 3)
@example([(-1.0, 48.0, 60.0)] * 60)
def test_everything_is_inside(some):
    _, widths, heights, at = place(some)
    half = np.minimum(widths, WIDTH - 2 * MARGIN) / 2
    assert (at[:, 0] - half > MARGIN - 1e-6).all()
    assert (at[:, 0] + half < WIDTH - MARGIN + 1e-6).all()
    top = at[:, 1] - (heights - LABEL_HEIGHT_PX) / 2
    assert (top > MARGIN - 1e-6).all()
    assert (top + heights < HEIGHT - MARGIN + 1e-6).all()


@given(st.lists(st.tuples(leans, st.floats(*SIZES_PX), st.just(70.0)), min_size=1, max_size=150))
def test_more_skew_is_never_further_left(some):
    lean, _, _, at = place(some)
    left, right = np.nonzero(lean[:, None] < lean[None])
    assert (at[left, 0] <= at[right, 0] + 1e-6).all()


@given(nodes, st.sampled_from([(900, 560), (600, 900), (1200, 300)]))
def test_nothing_overlaps_while_there_is_room(some, canvas):
    """Room: as many columns of the largest box as are needed, and two more for the sides."""
    _, widths, heights, at = place(some, *canvas)
    free_x, free_y = (side - 2 * MARGIN + GAP for side in canvas)
    in_column = free_y // (heights.max() + GAP)
    columns = math.ceil(len(some) / in_column) + 2
    assume(columns * (widths.max() + GAP) <= free_x)
    assert overlaps(widths, heights, at) < 1e-6


@given(nodes, st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(some, random):
    shuffled = random.sample(some, len(some))

    def placed(rows):
        return sorted(zip(rows, map(tuple, place(rows)[3].tolist()), strict=True))

    assert placed(some) == placed(shuffled)
    np.testing.assert_array_equal(place(some)[3], place(some)[3])


@pytest.mark.parametrize("n", [3, 8, 20, 80])
def test_the_height_is_used_and_the_most_frequent_is_in_the_middle(n):
    rng = np.random.default_rng(n)
    sizes = node_sizes_px(10_000 / np.arange(1, n + 1))
    lean = np.tanh(rng.normal(0, 0.2, n))
    at = skew_axis_layout(lean, sizes, np.full(n, 64), width_px=WIDTH, height_px=HEIGHT)
    middle = at[:, 1] + LABEL_HEIGHT_PX / 2
    assert abs(middle[0] - HEIGHT / 2) < 1e-6
    bottom = at[:, 1] + sizes / 2 + LABEL_HEIGHT_PX
    assert bottom.max() - (at[:, 1] - sizes / 2).min() > 0.9 * HEIGHT or n == 3
    away = np.abs(middle - HEIGHT / 2)
    assert away[: max(1, n // 4)].mean() < away[n // 4 :].mean()


@pytest.mark.parametrize("n", [20, 80])
def test_balanced_concepts_stand_between_both_sides(n):
    lean = np.concatenate([-np.linspace(0.01, 0.3, n // 2), np.linspace(0.01, 0.9, n // 2)])
    at = skew_axis_layout(lean, np.full(n, 16), np.full(n, 64), width_px=1200, height_px=HEIGHT)
    assert (at[lean < 0, 0] <= 600).all()
    assert (at[lean > 0, 0] >= 600).all()


@pytest.mark.timeout(10)
def test_600_concepts_take_a_moment():
    rng = np.random.default_rng(0)
    at = skew_axis_layout(
        np.tanh(rng.normal(0, 0.5, 600)),
        node_sizes_px(10_000 / np.arange(1, 601)),
        rng.uniform(20, 120, 600),
        width_px=WIDTH,
        height_px=HEIGHT,
    )
    assert len(np.unique(at, axis=0)) == 600


def test_none_is_no_picture_and_a_tiny_canvas_no_canvas():
    assert skew_axis_layout([], [], [], width_px=100, height_px=100).shape == (0, 2)
    with pytest.raises(OptionError, match="30 x 30 px"):
        skew_axis_layout([0], [12], [12], width_px=30, height_px=30)


def test_an_unknown_skew_stands_in_the_middle():
    at = skew_axis_layout([np.nan], [12], [12], width_px=200, height_px=100)
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
