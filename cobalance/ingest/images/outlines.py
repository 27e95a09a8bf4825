"""Boxes and outlines of shapes, in pixels, as arguments of `Collector.mention`."""

from collections.abc import Sequence
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
