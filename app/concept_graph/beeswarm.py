"""Beeswarm layout of the concept graph: x by class skew, without overlaps."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from graph.arrays import BoolArray, FloatArray
from graph.errors import OptionError

Rows = npt.NDArray[np.intp]

SIZES_PX = 12.0, 48.0  # diameter of the rarest and of the most frequent concept's circle
EDGE_WIDTHS_PX = 1.0, 8.0
LABEL_HEIGHT_PX = 16.0  # one line of text below a circle, with the space between

_MARGIN_PX = 4.0  # inside the canvas
_GAP_PX = 6.0  # between two neighbours, at least
_ROOMY = tuple(0.8**step for step in range(16))  # shares of the largest distance to try
_STRETCHES = (0.25, 0.5, 0.75, 1.0)  # shares of the way from a true axis to an evenly filled one
_SPANS = (0.02, 0.05, 0.1, 0.2, 0.5, 2.0)  # skews that may share a column
_SHRINK = 0.95
_ROUNDING_PX = 1e-6


def node_sizes_px(images: npt.ArrayLike) -> FloatArray:
    """Diameters of circles whose area is proportional to their images, within limits.

    Examples
    --------
    >>> node_sizes_px([400, 100, 1])
    array([48., 24., 12.])
    """
    frequency = np.sqrt(_share_of_largest(images))
    return (SIZES_PX[1] * frequency).clip(*SIZES_PX)


def edge_widths_px(images: npt.ArrayLike) -> FloatArray:
    """Widths of edges, proportional to their images, within limits.

    Examples
    --------
    >>> edge_widths_px([400, 100, 1])
    array([8., 2., 1.])
    """
    return (EDGE_WIDTHS_PX[1] * _share_of_largest(images)).clip(*EDGE_WIDTHS_PX)


def _share_of_largest(images: npt.ArrayLike) -> FloatArray:
    values = np.asarray(images, dtype=np.float64)
    return np.asarray(values / max(1.0, values.max(initial=0.0)))


def skew_axis_layout(
    skew: npt.ArrayLike,
    sizes_px: npt.ArrayLike,
    label_widths_px: npt.ArrayLike,
    *,
    width_px: float,
    height_px: float,
) -> FloatArray:
    """Place nodes by their skew in x, and beside each other in y.

    A node is a circle with one line of label below it, both centred on its x. The largest nodes
    are placed first and so are nearest to the middle line.

    Parameters
    ----------
    skew : array, shape (n,)
        From `skew`; NaN counts as 0.
    sizes_px : array, shape (n,)
        Diameters of the circles.
    label_widths_px : array, shape (n,)
        Widths of the labels.
    width_px, height_px : float
        The canvas.

    Returns
    -------
    float64 array, shape (n, 2)
        x to the right and y downwards, of the circles' centres. Circles and labels are inside the
        canvas. Of two nodes with equally wide boxes, the one with the larger skew is never
        further left. The same nodes in another order get the same places.

    Raises
    ------
    OptionError
        The canvas is smaller than a node.

    Notes
    -----
    A beeswarm, with as much distance between neighbours as the height allows. If the true axis has
    no room, it is stretched where it is crowded; if that is not enough, nodes of similar skew are
    stacked in columns. A skew of 0 stays in the middle and each side on its own, unless one side
    needs more than half of the canvas. Labels overlap only if all columns together are wider than
    the canvas. O(n x the nodes above and below each): 600 nodes take less than 0.1 s.

    Examples
    --------
    >>> skew_axis_layout([-1, 0, 1], [20, 20, 20], [40, 40, 40], width_px=400, height_px=100)
    array([[ 24.,  42.],
           [200.,  42.],
           [376.,  42.]])
    """
    lean = np.nan_to_num(np.asarray(skew, dtype=np.float64)).clip(-1, 1)
    sizes = np.asarray(sizes_px, dtype=np.float64)
    labels = np.asarray(label_widths_px, dtype=np.float64)
    # The largest first; nodes that are equal in everything are interchangeable.
    order = np.lexsort((labels, lean, -sizes))
    canvas = width_px - 2 * _MARGIN_PX, height_px - 2 * _MARGIN_PX
    if min(canvas) < SIZES_PX[0] + LABEL_HEIGHT_PX:
        raise OptionError(f"A canvas of {width_px} x {height_px} px has no room for a node.")
    x, y = _Boxes(lean[order], sizes[order], labels[order], *canvas).place()
    positions = np.empty((len(lean), 2))
    positions[order] = np.column_stack([x, y - LABEL_HEIGHT_PX / 2]) + _MARGIN_PX
    return positions


class _Boxes:
    """Boxes of circles with their labels, the largest first, on a canvas."""

    def __init__(
        self, lean: FloatArray, sizes: FloatArray, labels: FloatArray, width: float, height: float
    ) -> None:
        self.lean, self.width, self.height = lean, width, height
        self.widths = np.minimum(np.maximum(sizes, labels), width)
        self.heights = np.minimum(sizes + LABEL_HEIGHT_PX, height)

    def place(self) -> tuple[FloatArray, FloatArray]:
        """Centres of the boxes, by the first attempt without overlaps."""
        for x, gap_x, gap_y in self._attempts():
            y = self._swarm(x, gap_x, gap_y)
            if y is not None:
                return x, self._fill(y)
        return self._columns()

    def _attempts(self) -> Iterator[tuple[FloatArray, float, float]]:
        """Axis positions and distances to try, the best first."""
        if (self.widths * self.heights).sum() > self.width * self.height:
            return
        x = self._inside(self._true_axis())
        for share in _ROOMY:
            yield x, max(_GAP_PX, share * self.width / 4), max(_GAP_PX, share * self.height / 3)
        for stretch in _STRETCHES:
            even = (1 - stretch) * self._true_axis() + stretch * self._even_axis()
            yield self._inside(even), _GAP_PX, _GAP_PX

    def _true_axis(self) -> FloatArray:
        inset = min(self.widths.max(initial=0.0) / 2, self.width / 8)
        return np.asarray(inset + (self.lean + 1) / 2 * (self.width - 2 * inset))

    def _even_axis(self) -> FloatArray:
        """Positions at which the boxes of either side have as much area over any stretch."""
        middle = self.width / 2
        x = np.full(len(self.lean), middle)
        area = self.widths * self.heights
        for sign in (-1.0, 1.0):
            side = np.flatnonzero(np.sign(self.lean) == sign)
            side = side[np.argsort(np.abs(self.lean[side]), kind="stable")]
            before = np.cumsum(area[side])
            share = (before - area[side] / 2) / before.max(initial=1.0)
            x[side] = middle + sign * middle * share
        return x

    def _inside(self, x: FloatArray) -> FloatArray:
        return np.clip(x, self.widths / 2, self.width - self.widths / 2)

    def _swarm(self, x: FloatArray, gap_x: float, gap_y: float) -> FloatArray | None:
        """The free y nearest to the middle, box by box; None if a box finds none."""
        y = np.zeros(len(x))
        middle, balance = self.height / 2, 0.0
        for i in range(len(x)):
            reach = (self.widths[:i] + self.widths[i]) / 2 + gap_x
            near = np.flatnonzero(np.abs(x[:i] - x[i]) < reach - _ROUNDING_PX)
            distance = (self.heights[near] + self.heights[i]) / 2 + gap_y
            low, high = y[near] - distance, y[near] + distance
            tried = np.concatenate([[middle], low, high])
            inside = np.abs(tried - middle) <= (self.height - self.heights[i]) / 2 + _ROUNDING_PX
            tried = tried[inside]
            free = tried[~_between(tried, low, high)]
            if not len(free):
                return None
            # Of two that are equally near, the one on the side that has less.
            away = np.abs(free - middle) + _ROUNDING_PX * (np.sign(free - middle) == balance)
            y[i] = free[away.argmin()]
            balance = np.sign((y[: i + 1] - middle).sum())
        return y

    def _fill(self, y: FloatArray) -> FloatArray:
        """Spread boxes above and below the middle until the canvas is full."""
        middle = self.height / 2
        room = (self.height - self.heights) / 2
        filled = y.copy()
        for sign in (-1.0, 1.0):
            side = np.sign(y - middle) == sign
            away = np.abs(y[side] - middle)
            if len(away):
                factor = max(1.0, (room[side] / away).min())
                filled[side] = middle + sign * away * factor
        return filled

    def _columns(self) -> tuple[FloatArray, FloatArray]:
        """Columns of similar skew; closer than their boxes if there is no room."""
        if not len(self.lean):
            return np.empty(0), np.empty(0)
        order = np.lexsort((self.widths, -self.heights, self.lean))
        for sides in (True, False):
            for span in _SPANS:
                columns = self._cut(order, span, _GAP_PX)
                x = self._stand(columns, _GAP_PX, sides=sides)
                if x is not None:
                    return x, self._stack(columns)
        shrink = 1.0
        while True:
            columns = self._cut(order, _SPANS[-1], 0.0, shrink)
            x = self._stand(columns, 0.0, shrink)
            if x is not None:
                return x, self._stack(columns)
            shrink *= _SHRINK

    def _cut(self, order: Rows, span: float, gap: float, shrink: float = 1.0) -> list[Rows]:
        """Cut boxes in order of skew into columns that are as high as the canvas."""
        starts, filled, first = [0], 0.0, float(self.lean[order[0]])
        for position, i in enumerate(order.tolist()):
            height, lean = self.heights[i] * shrink + gap, float(self.lean[i])
            apart = lean - first > span or np.sign(lean) != np.sign(first)
            if position and (apart or filled + height > self.height + gap + _ROUNDING_PX):
                starts.append(position)
                filled, first = 0.0, lean
            filled += height
        return np.split(order, starts[1:])

    def _stand(
        self, columns: list[Rows], gap: float, shrink: float = 1.0, *, sides: bool = False
    ) -> FloatArray | None:
        """The columns' x, near the skew of their boxes; None if they are too wide."""
        from scipy.optimize import isotonic_regression  # which no other command has to wait for

        widths = np.array([self.widths[column].max() * shrink + gap for column in columns])
        axis = self._true_axis()
        wanted = np.array([axis[column].mean() for column in columns])
        # The space to the left of a column that no column takes: never less than its neighbour's.
        offsets = np.cumsum(widths) - (widths + gap) / 2
        least = np.zeros(len(columns))
        most = np.full(len(columns), self.width - widths.sum() + gap)
        if sides:
            side = np.sign([self.lean[column[0]] for column in columns])
            to_middle = self.width / 2 - offsets
            least = np.maximum.accumulate(np.where(side > 0, np.maximum(to_middle, 0), 0))
            most = np.minimum.accumulate(np.where(side < 0, to_middle, most)[::-1])[::-1]
        if (most < least - _ROUNDING_PX).any():
            return None
        centres = offsets + np.clip(isotonic_regression(wanted - offsets).x, least, most)
        x = np.empty(len(self.lean))
        for column, centre in zip(columns, centres, strict=True):
            x[column] = centre
        return self._inside(x)

    def _stack(self, columns: list[Rows]) -> FloatArray:
        """Boxes evenly over the height of each column, the largest in the middle."""
        y = np.empty(len(self.lean))
        for column in columns:
            ranked = np.sort(column)  # boxes are numbered from the largest down
            stacked = np.concatenate([ranked[1::2][::-1], ranked[::2]])
            pitch = self.heights[stacked] + (self.height - self.heights[column].sum()) / len(column)
            y[stacked] = np.cumsum(pitch) - pitch / 2
        room = (self.height - self.heights) / 2
        return np.clip(y, self.height / 2 - room, self.height / 2 + room)


def _between(values: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Mask of values inside any of the open intervals."""
    inside = (values[:, None] > low + _ROUNDING_PX) & (values[:, None] < high - _ROUNDING_PX)
    return np.asarray(inside.any(axis=1))
