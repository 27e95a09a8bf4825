"""Boxes and outlines of shapes, in pixels, as arguments of `Collector.mention`."""

from collections.abc import Sequence
from itertools import chain, pairwise
from math import cos, hypot, pi, radians, sin
from typing import Any

Point = tuple[float, float]
_CORNERS = 64  # of the outline of an ellipse


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
    return {"box": box, "segmentation": repr([_flat(points)]).encode()}


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
    areas: list[list[Point]] = []
    for part in map(list, parts):
        if len(part) > 2 and part not in areas:  # an outline that is there twice is one
            areas.append(part)
    if not areas:
        return place
    if cuts_holes:
        areas = _cut_holes(areas)
    return {**place, "segmentation": repr(list(map(_flat, areas))).encode()}


def _flat(points: Sequence[Point]) -> list[float]:
    """Points as COCO has them: x and y in turn, to a hundredth of a pixel."""
    return [round(value, 2) for value in chain.from_iterable(points)]


def _cut_holes(areas: Sequence[list[Point]]) -> list[list[Point]]:
    """Outlines of areas, of which those within an odd number of others are holes."""
    # The positions of the larger areas that each area is within.
    sizes = [_size(area) for area in areas]
    around = []
    for area, size in zip(areas, sizes, strict=True):
        others = [
            position
            for position, other in enumerate(areas)
            if sizes[position] > size and _is_inside(area[0], other)
        ]
        around.append(others)

    outlines: dict[int, list[Point]] = {}
    for position, area in enumerate(areas):
        if len(around[position]) % 2 == 0:
            outlines[position] = area.copy()
    for position, hole in enumerate(areas):
        if position in outlines:
            continue
        # Areas that cross each other may leave a hole without an area to cut it from.
        cut = [other for other in around[position] if len(around[other]) % 2 == 0]
        if not cut:
            outlines[position] = hole.copy()
        else:
            # The area that is within the most others is the one next around the hole.
            innermost = max(cut, key=lambda other: len(around[other]))
            outlines[innermost] += [areas[innermost][0], *hole, hole[0]]
    return list(outlines.values())


def _size(area: Sequence[Point]) -> float:
    """Area within an outline, in square pixels."""
    doubled = 0.0
    for (left, top), (right, bottom) in pairwise([*area, area[0]]):
        doubled += left * bottom - right * top
    return abs(doubled) / 2


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

    left, top = around
    cosine, sine = cos(radians(degrees)), sin(radians(degrees))
    corners = []
    for corner_x, corner_y in ((x, y), (x + w, y), (x + w, y + h), (x, y + h)):
        dx, dy = corner_x - left, corner_y - top
        corners.append((left + dx * cosine - dy * sine, top + dx * sine + dy * cosine))
    return place_of(corners)


def place_of_ellipse(center: Point, radii: Point, degrees: float = 0) -> dict[str, Any]:
    """The box around an ellipse, whose first radius lies `degrees` clockwise, and its outline.

    Examples
    --------
    >>> place_of_ellipse((50, 50), (30, 10), 90)["box"]
    (40.0, 20.0, 20.0, 60.0)
    """
    (x, y), (first, second) = center, radii
    cosine, sine = cos(radians(degrees)), sin(radians(degrees))

    # Half the width and the height, which the corners of the outline do not quite reach.
    across, down = hypot(first * cosine, second * sine), hypot(first * sine, second * cosine)
    corners = []
    for corner in range(_CORNERS):
        angle = 2 * pi * corner / _CORNERS
        dx, dy = first * cos(angle), second * sin(angle)
        corners.append((x + dx * cosine - dy * sine, y + dx * sine + dy * cosine))
    return place_of(corners) | {"box": (x - across, y - down, 2 * across, 2 * down)}
