"""Segmentations become the masks that COCO's own code makes of them."""

import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.base.records import Mention
from cobalance.vision.images.masks import (
    Polygons,
    RunLengths,
    SegmentationError,
    encode_mask,
    mask,
    mask_region,
    parse_segmentation,
)


def numbers(text):
    return [float(number) for number in text.split()]


# From pycocotools 2.0.11: frPyObjects, merge, the counts, and decode.
FROM_COCO = [
    (
        [[6.3, 7.95, 8.47, 0.42, 1.62, 7.68]],
        "j0241O1O1ON9",
        """
        .........
        .......#.
        ......##.
        .....###.
        ....###..
        ...####..
        ...####..
        """,
    ),
    (
        [[-3.5, 8.11, 11.7, 3.59, 2.22, 1.16, 1.29, 3.3, 6.09, 4.68]],
        ">1224O00KO31210O000O105",
        """
        ............
        ..#.........
        ..#####.....
        ..#########.
        ......###...
        ....#.......
        .#..........
        ............
        """,
    ),
    (
        [
            numbers("10.34 11.62 5.56 15.39 .36 -.52 5.44 -2.76 -1.94 6.29 3.57 14.01 5.65 6.27"),
            numbers("3.96 1.15 -2.25 .09 6.46 .25 2.33 -3.53 8.22 -.63 1.03 13.3 4.13 12.67"),
        ],
        "363LN60I4633KMN23M3N",
        """
        .#######
        .#..###.
        ....###.
        ##..##..
        ##..##..
        ##..#...
        ###.##..
        ###..##.
        ###..###
        .###.###
        .#######
        ..######
        """,
    ),
    (
        [[4.34, 5.32, -0.92, 3.39, 3.07, 6.56, 1.67, 3.94]],
        ":150>",
        """
        ......
        ......
        ......
        ......
        .##...
        ......
        """,
    ),
]


def drawn(text):
    return np.array([[c == "#" for c in line] for line in text.split()])


def run_lengths(pixels):
    """Count the runs of a mask one pixel at a time, down its columns."""
    counts, on = [0], False
    for pixel in pixels.ravel(order="F").tolist():
        if pixel != on:
            counts.append(0)
            on = pixel
        counts[-1] += 1
    return counts


@pytest.mark.parametrize(("polygons", "counts", "picture"), FROM_COCO)
def test_masks_are_those_of_coco(polygons, counts, picture):
    expected = drawn(picture)
    height, width = expected.shape
    size = [height, width]
    for segmentation in (
        polygons,
        {"size": size, "counts": counts},
        {"counts": run_lengths(expected), "size": size},
    ):
        found = mask(json.dumps(segmentation), width, height)
        assert found.dtype == bool
        np.testing.assert_array_equal(found, expected)


def compressed(counts):
    """Compress counts as COCO's code does, one at a time."""
    text = ""
    for at, count in enumerate(counts):
        value = count - counts[at - 2] if at > 2 else count
        more = True
        while more:
            group = value & 0x1F
            value >>= 5
            more = value != (-1 if group & 0x10 else 0)
            text += chr(group + 48 + (0x20 if more else 0))
    return text


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_run_lengths_give_back_any_mask(width, height, data):
    bits = data.draw(st.lists(st.booleans(), min_size=width * height, max_size=width * height))
    expected = np.array(bits).reshape(height, width)
    counts = run_lengths(expected)
    assert json.loads(encode_mask(expected))["counts"] == compressed(counts)
    for given_counts in (counts, compressed(counts)):
        text = json.dumps({"size": [height, width], "counts": given_counts})
        np.testing.assert_array_equal(mask(text, width, height), expected)


@pytest.mark.parametrize("bits", ["0110", "1001", "1111", "0000"])
def test_a_mask_s_region_gives_it_back(bits):
    pixels = np.array([bit == "1" for bit in bits]).reshape(2, 2)
    region = mask_region("sofa", pixels)
    np.testing.assert_array_equal(mask(encode_mask(pixels), 2, 2), pixels)
    if "1" in bits:
        np.testing.assert_array_equal(mask(region.segmentation, 2, 2), pixels)
        assert (region.area_px2, region.box) == (bits.count("1"), (0, 0, 2, 2))
    else:
        assert region == Mention("sofa")


def test_long_runs_are_decompressed():
    counts = [1_000_000, 3, 1_999_997, 4_000_000, 1_000_000]
    text = json.dumps({"size": [2000, 4000], "counts": compressed(counts)})
    assert parse_segmentation(text).counts.tolist() == counts


@given(st.lists(st.lists(st.floats(-20, 20), max_size=24).map(lambda c: c[: len(c) // 2 * 2])))
def test_any_polygons_give_a_mask(polygons):
    assert mask(json.dumps(polygons), 7, 5).shape == (5, 7)


def test_many_outlines_of_one_mask_join():
    columns = [[x, 0, x + 1, 0, x + 1, 3, x, 3] for x in range(0, 200, 2)]
    found = mask(json.dumps(columns), 200, 3)
    assert found.astype(int).tolist() == [[1, 0] * 100] * 3


def test_an_outline_of_two_corners_is_empty():
    assert not mask("[[0,0,3,3]]", 4, 4).any()
    assert mask("[[0,0,3,3],[1,1,3,1,3,3,1,3]]", 4, 4).sum() == 4


def test_scaling_keeps_corners_in_reach():
    found = parse_segmentation("[[30,0,50,0,50,20]]")
    with pytest.raises(SegmentationError, match="pixels away"):
        found.scale(1e9, 1.0)


def test_memory_and_time_are_bounded_by_points_and_pixels():
    """Two thousand bytes of triangles over a large image, each of which costs its outline alone."""
    triangles = json.dumps([[0, 0, 5000, 0, 0, 5000]] * 75)
    tracemalloc.start()
    found = parse_segmentation(triangles).run_lengths(10_000, 10_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(triangles) < 2100
    assert found.area_px2 == pytest.approx(5000**2 / 2, rel=0.01)
    assert peak < 10_000_000  # a mask of the image is 100 MB


def test_polygons_join_and_scale():
    left, right = [0, 0, 2, 0, 2, 4, 0, 4], [4, 0, 6, 0, 6, 4, 4, 4]
    both = mask(json.dumps([left, right]), 8, 4)
    assert both.astype(int).tolist() == [[1, 1, 0, 0, 1, 1, 0, 0]] * 4
    half = parse_segmentation(json.dumps([left, right])).scale(0.5, 0.5)
    assert isinstance(half, Polygons)
    assert half.mask(4, 2).astype(int).tolist() == [[1, 0, 1, 0]] * 2


def test_kinds_of_segmentation():
    assert parse_segmentation(b"[]").outlines == ()
    found = parse_segmentation(b'{"size":[2,3],"counts":[6],"more":1}')
    assert isinstance(found, RunLengths)
    assert (found.width_px, found.height_px) == (3, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "neither polygons nor a run-length encoding"),
        ("null", "neither"),
        ('"abc"', "neither"),
        ("[[1,2],3]", "neither"),
        ("[[1,NaN]]", "neither"),
        ('{"size":[2,2]}', "neither"),
        (b"\xff", "neither"),
        ("[[1,2,3]]", "3 numbers"),
        ("[[1e300,1,2,2,3,3]]", "pixels away"),
        (json.dumps([[0, 0, 90_000, 0] * 400]), "too long"),
        (json.dumps([[0, 0, 90_000, 0, 0, 90_000]] * 20), "too long"),
        ('{"size":[2,2],"counts":[3]}', "do not add up"),
        ('{"size":[2,2],"counts":[-4,8]}', "do not add up"),
        ('{"size":[2,2],"counts":[99999999999999999999]}', "do not add up"),
        ('{"size":[2,2],"counts":""}', "cut off"),
        ('{"size":[2,2],"counts":"o"}', "cut off"),
        ('{"size":[2,2],"counts":"é"}', "cut off"),
        ('{"size":[2,2],"counts":"oooooooooo0"}', "too long"),
        ('{"size":[0,2],"counts":[]}', "too large"),
        ('{"size":[1000000,1000000],"counts":[1000000000000]}', "too large"),
        ('{"size":[3,2],"counts":[6]}', "the image of 2×2"),
    ],
)
def test_what_is_no_segmentation_is_said(text, message):
    with pytest.raises(SegmentationError, match=message):
        mask(text, 2, 2)


def test_a_mask_of_too_many_pixels_is_refused():
    with pytest.raises(SegmentationError, match="too large"):
        mask("[[0,0,1,1,0,1]]", 100_000, 100_000)
