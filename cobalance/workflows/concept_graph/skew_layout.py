"""Layout of the concept graph by skew (a beeswarm): x is the skew, on a fixed axis."""

import numpy as np
import numpy.typing as npt

from cobalance.base import BoolArray, FloatArray

# Diameters of the rarest and of the most frequent concept's circle.
SIZES_PX = 12.0, 48.0
EDGE_WIDTHS_PX = 1.0, 8.0
# One line of text below a circle, with the space between.
LABEL_HEIGHT_PX = 16.0
# Of either end of the axis from the canvas.
INSET_PX = SIZES_PX[1] / 2 + 4

# Between two neighbours, at least.
_GAP_PX = 2.0
# Shares of the sizes, and room for labels: names go before circles get very small.
_ATTEMPTS = (
    (1.0, LABEL_HEIGHT_PX),
    (0.85, LABEL_HEIGHT_PX),
    (0.7, LABEL_HEIGHT_PX),
    (1.0, 0.0),
    (0.85, 0.0),
    (0.7, 0.0),
    (0.55, 0.0),
    (0.4, 0.0),
    (0.3, 0.0),
)
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


def axis_x_px(skew: npt.ArrayLike, width_px: float) -> FloatArray:
    """Positions of skews on a fixed axis from -1 to +1.

    Examples
    --------
    >>> axis_x_px([-1, 0, 0.5, 1], 856)
    array([ 28., 428., 628., 828.])
    """
    lean = np.nan_to_num(np.asarray(skew, dtype=np.float64)).clip(-1, 1)
    return np.asarray(INSET_PX + (lean + 1) / 2 * (width_px - 2 * INSET_PX))


def skew_layout(
    skew: npt.ArrayLike, sizes_px: npt.ArrayLike, *, width_px: float, height_px: float
) -> tuple[FloatArray, float]:
    """Place circles by their skew in x, and beside each other in y.

    The largest are placed first and so are nearest to the middle line.

    Parameters
    ----------
    skew : array, shape (n,) or (n_steps, n)
        From `skew`; NaN counts as 0. Of several steps circles may overlap in none.
    sizes_px : array, shape (n,)
        Diameters of the circles.
    width_px, height_px : float
        The canvas.

    Returns
    -------
    positions : float64 array, shape (n, 2) or (n_steps, n, 2)
        x to the right, from `axis_x_px`, and y downwards, of the circles' centres; y is the same
        in all steps. The same circles in another order get the same places.
    share : float
        Of their sizes, so that they do not overlap: 1 where there is room.

    Notes
    -----
    A beeswarm with room for labels below the circles, else without, else with smaller circles. At
    the smallest they overlap. O(n x the circles above and below each): 600 take less than 0.1 s.

    Examples
    --------
    >>> positions, share = skew_layout([-1, 0, 0], [20, 20, 20], width_px=856, height_px=200)
    >>> positions[:, 0].tolist(), share
    ([28.0, 428.0, 428.0], 1.0)
    """
    sizes = np.asarray(sizes_px, dtype=np.float64)
    lean = np.nan_to_num(np.asarray(skew, dtype=np.float64))
    x = axis_x_px(lean, width_px)
    # Circles that are equal in size and skew are interchangeable.
    order = np.lexsort((*np.atleast_2d(lean)[::-1], -sizes))
    ordered_x = np.atleast_2d(x)[:, order]

    for share, label in _ATTEMPTS:
        heights = _swarm(ordered_x, share * sizes[order], label, height_px)
        if heights is not None:
            break
    else:
        heights = _spread(ordered_x.mean(axis=0), height_px)

    y = np.empty(len(sizes))
    y[order] = heights
    return np.stack([x, np.broadcast_to(y, x.shape)], axis=-1), share


def _swarm(x: FloatArray, sizes: FloatArray, label: float, height: float) -> FloatArray | None:
    """The free y nearest to the middle, circle by circle; None if one finds none.

    x has shape (n_steps, n): two circles are as near to each other as in their nearest step.
    """
    y = np.zeros(len(sizes))
    middle, balance = (height - label) / 2, 0.0
    for i in range(len(sizes)):
        # Each circle that is near in x forbids an interval of y.
        reach = (sizes[:i] + sizes[i]) / 2 + _GAP_PX
        aside = np.abs(x[:, :i] - x[:, [i]]).min(axis=0)
        near = np.flatnonzero(aside < reach - _ROUNDING_PX)
        distance = np.sqrt(reach[near] ** 2 - aside[near] ** 2) + label
        low, high = y[near] - distance, y[near] + distance

        candidates = np.concatenate([[middle], low, high])
        room = (height - label - sizes[i]) / 2 + _ROUNDING_PX
        candidates = candidates[np.abs(candidates - middle) <= room]
        free = candidates[~_between(candidates, low, high)]
        if not len(free):
            return None

        # Of two that are equally near, the one on the side that has less.
        away = np.abs(free - middle) + _ROUNDING_PX * (np.sign(free - middle) == balance)
        y[i] = free[away.argmin()]
        balance = np.sign((y[: i + 1] - middle).sum())
    return _fill(y, (height - label - sizes) / 2, middle)


def _fill(y: FloatArray, room: FloatArray, middle: float) -> FloatArray:
    """Spread circles above and below the middle until the canvas is full."""
    filled = y.copy()
    for sign in (-1.0, 1.0):
        side = np.sign(y - middle) == sign
        away = np.abs(y[side] - middle)
        if len(away):
            factor = max(1.0, (room[side] / away).min())
            filled[side] = middle + sign * away * factor
    return filled


def _spread(x: FloatArray, height: float) -> FloatArray:
    """Even heights in order of x, neighbours far from each other; some overlap."""
    ranks = np.empty(len(x))
    ranks[np.argsort(x, kind="stable")] = np.arange(len(x))
    # Multiples of the golden ratio, modulo 1, are spread evenly.
    golden = (np.sqrt(5) - 1) / 2
    inner = height - SIZES_PX[1]
    return np.asarray(SIZES_PX[1] / 2 + (ranks * golden % 1) * inner)


def _between(values: FloatArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Mask of values inside any of the open intervals."""
    inside = (values[:, None] > low + _ROUNDING_PX) & (values[:, None] < high - _ROUNDING_PX)
    return np.asarray(inside.any(axis=1))
