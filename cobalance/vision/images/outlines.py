"""Boxes and outlines of shapes, in pixels, as arguments of `Collector.mention`."""

from collections.abc import Sequence
from itertools import chain, pairwise
from math import cos, radians, sin
from typing import Any

Point = tuple[float, float]


def place_of(points: Sequence[Point], *, is_area: bool = True) -> dict[str, Any]:
    """The box around points, and their outline if they enclose an area.

    Examples
    --------
    >>> place_of([(1, 1), (5, 1), (5, 4)])
    {'box': (1, 1, 4, 3), 'segmentation': b'[[1, 1, 5, 1, 5, 4]]'}
    """
    if not points:
        return {}
    across, down = zip(*points, strict=True)
    box = min(across), min(down), max(across) - min(across), max(down) - min(down)
    if not is_area or len(points) < 3:
        return {"box": box}
    outline = [round(value, 2) for point in points for value in point]
    return {"box": box, "segmentation": repr([outline]).encode()}


def place_of_parts(parts: Sequence[Sequence[Point]], *, cuts_holes: bool) -> dict[str, Any]:
    """The box around all parts of an object, and their outlines.

    Where it `cuts_holes`, a part within another is a hole of it, and a part within a hole an
    island: a hole is cut by an outline that goes on along it, and back.

    Examples
    --------
    >>> place_of_parts([[(0, 0), (4, 0), (4, 4)], [(7, 1), (9, 1), (9, 2)]], cuts_holes=True)
    {'box': (0, 0, 9, 4), 'segmentation': b'[[0, 0, 4, 0, 4, 4], [7, 1, 9, 1, 9, 2]]'}
    """
    place = place_of(list(chain.from_iterable(parts)), is_area=False)
    areas = [list(part) for part in parts if len(part) > 2]
    if cuts_holes:
        areas = _cut_holes(areas)
    outlines = [[round(value, 2) for value in chain.from_iterable(area)] for area in areas]
    return {**place, "segmentation": repr(outlines).encode()} if outlines else place


def _cut_holes(areas: Sequence[list[Point]]) -> list[list[Point]]:
    """Outlines of areas, of which those within an odd number of others are holes."""
    around = [
        [at for at, other in enumerate(areas) if other is not area and _is_inside(area[0], other)]
        for area in areas
    ]
    outlines = {at: area.copy() for at, area in enumerate(areas) if len(around[at]) % 2 == 0}
    for at, hole in enumerate(areas):
        if at not in outlines:
            innermost = max(around[at], key=lambda other: len(around[other]))
            outlines[innermost] += [areas[innermost][0], *hole, hole[0]]
    return list(outlines.values())


def _is_inside(point: Point, area: Sequence[Point]) -> bool:
    """Whether a line to the right of a point crosses an outline an odd number of times."""
    x, y = point
    crossings = 0
    for (left, top), (right, bottom) in pairwise([*area, area[0]]):
        if (top > y) != (bottom > y):
            crossings += x < left + (y - top) / (bottom - top) * (right - left)
    return crossings % 2 == 1


def turn_box(box: Sequence[float], degrees: float, around: Point) -> dict[str, Any]:
    """Turn a box clockwise around a point; an upright one has no outline."""
    x, y, w, h = box
    if not degrees % 360:
        return {"box": (x, y, w, h)}
    (left, top), turn = around, radians(degrees)
    corners = [(a - left, b - top) for a, b in ((x, y), (x + w, y), (x + w, y + h), (x, y + h))]
    return place_of(
        [
            (left + a * cos(turn) - b * sin(turn), top + a * sin(turn) + b * cos(turn))
            for a, b in corners
        ]
    )
