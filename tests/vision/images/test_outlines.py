"""Outlines of objects of several parts: holes, islands, parts that are there twice or cross."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.vision.images.outlines import place_of_parts


def square(left, top, side):
    return [(left, top), (left + side, top), (left + side, top + side), (left, top + side)]


def painted(parts):
    """Pixels of a picture of 40 by 40 whose centres lie in an odd number of turns of an outline."""
    segmentation = json.loads(place_of_parts(parts, cuts_holes=True)["segmentation"])
    x, y = np.meshgrid(np.arange(40) + 0.5, np.arange(40) + 0.5)
    covered = np.zeros((40, 40), bool)
    for outline in segmentation:
        points = np.array(outline).reshape(-1, 2)
        inside = np.zeros((40, 40), bool)
        for (x0, y0), (x1, y1) in zip(points, np.roll(points, -1, axis=0), strict=True):
            if y0 != y1:
                crosses = (y0 > y) != (y1 > y)
                inside ^= crosses & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
        covered |= inside
    return covered


def test_a_hole_is_cut_and_an_island_in_it_stays():
    parts = [square(2, 2, 30), square(8, 8, 18), square(12, 12, 6)]
    expected = np.zeros((40, 40), bool)
    for start, side, value in ((2, 30, True), (8, 18, False), (12, 6, True)):
        expected[start : start + side, start : start + side] = value
    assert np.array_equal(painted(parts), expected)


def test_a_part_that_is_there_twice_is_one():
    part = square(4, 4, 10)
    assert place_of_parts([part, part], cuts_holes=True) == place_of_parts([part], cuts_holes=True)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_equal_parts_that_cross_are_two_outlines(order):
    parts = [square(4, 4, 10), square(9, 9, 10)]
    found = place_of_parts([parts[i] for i in order], cuts_holes=True)
    assert len(json.loads(found["segmentation"])) == 2


@given(st.lists(st.tuples(*[st.integers(0, 20)] * 2, st.integers(1, 15)), min_size=1, max_size=6))
def test_any_parts_have_an_outline_within_their_box(drawn):
    place = place_of_parts([square(*one) for one in drawn], cuts_holes=True)
    x, y, width, height = place["box"]
    for outline in json.loads(place["segmentation"]):
        assert all(x <= value <= x + width for value in outline[::2])
        assert all(y <= value <= y + height for value in outline[1::2])
