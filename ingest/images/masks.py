"""COCO segmentations as masks: polygons, and run-length encodings plain and compressed.

Pixels are those of COCO's own C code (https://github.com/cocodataset/cocoapi, common/maskApi.c),
which this module follows step by step, in NumPy.
"""

from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from graph.errors import CobalanceError

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MAX_PIXELS = 100_000_000
_STEPS = 5  # a pixel, along an outline
_FARTHEST_PX = 100_000  # a corner beyond this is no picture's
_MOST_STEPS = 20_000_000  # of an outline; 4,000 times around a thousand pixels


class SegmentationError(CobalanceError):
    """A segmentation that gives no mask."""


class _RunLengths(msgspec.Struct):
    size: tuple[int, int]
    counts: str | list[int]


@dataclass(frozen=True, eq=False)
class Polygons:
    """Outlines that together make one mask.

    Parameters
    ----------
    outlines : tuple of float64 array, shape (corners, 2)
        x and y of the corners in pixels; the last corner joins the first.
    """

    outlines: tuple[FloatArray, ...]

    def scaled(self, x: float, y: float) -> "Polygons":
        """Give the same outlines in a picture that is so many times as wide and as high."""
        return Polygons(tuple(outline * (x, y) for outline in self.outlines))

    def mask(self, width_px: int, height_px: int) -> BoolArray:
        """Give the pixels inside, shape (height_px, width_px); O(pixels + length of outlines).

        Raises
        ------
        SegmentationError
            The picture has too many pixels.
        """
        _check_size(width_px, height_px)
        inside = np.zeros((height_px, width_px), dtype=bool)
        for outline in self.outlines:
            inside |= _inside(outline, width_px, height_px)
        return inside


@dataclass(frozen=True, eq=False)
class RunLengths:
    """A mask as the lengths of its runs, off and on in turn, column by column.

    Parameters
    ----------
    counts : int64 array
        The lengths; the first is of a run that is off.
    width_px, height_px : int
        Size of the mask.
    """

    counts: IntArray
    width_px: int
    height_px: int

    def mask(self) -> BoolArray:
        """Give the mask, shape (height_px, width_px)."""
        on = np.arange(len(self.counts)) % 2 == 1
        pixels: BoolArray = np.repeat(on, self.counts)
        return pixels.reshape(self.width_px, self.height_px).T


def mask(segmentation: str | bytes, width_px: int, height_px: int) -> BoolArray:
    """Give the mask of a segmentation in an image of this size.

    Parameters
    ----------
    segmentation : str or bytes
        As COCO has it, in JSON: a list of polygons, each ``[x1, y1, x2, y2, ...]`` in pixels, or
        ``{"size": [height, width], "counts": ...}`` with the counts as numbers or as text.

    Returns
    -------
    bool array, shape (height_px, width_px)

    Raises
    ------
    SegmentationError
        It is no segmentation, or not one of an image of this size.

    Examples
    --------
    >>> mask("[[1, 0, 3, 0, 3, 2, 1, 2]]", 4, 2).astype(int)
    array([[0, 1, 1, 0],
           [0, 1, 1, 0]])
    >>> mask('{"size": [2, 3], "counts": [1, 2, 3]}', 3, 2).astype(int)
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    found = parse_segmentation(segmentation)
    if isinstance(found, Polygons):
        return found.mask(width_px, height_px)
    if (found.width_px, found.height_px) != (width_px, height_px):
        raise SegmentationError(
            f"The mask is of {found.width_px}×{found.height_px} pixels, and the image of "
            f"{width_px}×{height_px}. Annotate the image as it is now."
        )
    return found.mask()


def parse_segmentation(segmentation: str | bytes) -> Polygons | RunLengths:
    """Read a segmentation in JSON, as `mask` takes it.

    Raises
    ------
    SegmentationError
        It is none.
    """
    try:
        given = msgspec.json.decode(segmentation, type=list[list[float]] | _RunLengths)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SegmentationError(
            f"The segmentation is neither polygons nor a run-length encoding ({error}). Write it "
            "as COCO does."
        ) from None
    return _run_lengths(given) if isinstance(given, _RunLengths) else _polygons(given)


def _polygons(given: list[list[float]]) -> Polygons:
    for corners in given:
        if len(corners) % 2:
            raise SegmentationError(
                f"A polygon has {len(corners)} numbers. Write an x and a y a corner."
            )
    outlines = [np.array(corners, dtype=np.float64).reshape(-1, 2) for corners in given]
    for outline in outlines:
        if not (np.abs(outline) <= _FARTHEST_PX).all():
            raise SegmentationError(
                f"A polygon has a corner more than {_FARTHEST_PX:,} pixels away. Correct it."
            )
    return Polygons(tuple(outline for outline in outlines if len(outline)))


def _run_lengths(given: _RunLengths) -> RunLengths:
    height_px, width_px = given.size
    _check_size(width_px, height_px)
    text = given.counts
    counts = _decompressed(text) if isinstance(text, str) else _whole(text)
    # Each by itself, since a sum of huge ones may be small again.
    n_pixels = width_px * height_px
    if ((counts < 0) | (counts > n_pixels)).any() or counts.sum() != n_pixels:
        raise SegmentationError(
            f"The runs of a mask do not add up to its {width_px}×{height_px} pixels. Encode the "
            "mask again."
        )
    return RunLengths(counts, width_px, height_px)


def _whole(counts: list[int]) -> IntArray:
    try:
        return np.array(counts, dtype=np.int64)
    except OverflowError:
        return np.array([-1])


def _decompressed(text: str) -> IntArray:
    """Read COCO's compressed counts: groups of five bits, the sixth says that another one follows.

    From the fourth count on, each is the difference to the one before the last.
    """
    codes = np.frombuffer(text.encode(), dtype=np.uint8).astype(np.int64) - 48
    ends = np.flatnonzero((codes & 0x20) == 0)
    whole = len(ends) > 0 and ends[-1] == len(codes) - 1
    if not whole or codes.min() < 0 or codes.max() > 63:
        raise SegmentationError(
            "The compressed counts of a mask are cut off or have a character that is none of "
            "theirs. Encode the mask again."
        )
    starts = np.append(0, ends[:-1] + 1)
    place = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
    if place.max() > 6:  # seven groups hold 34 bits and a sign
        raise SegmentationError("A run of a mask is too long. Encode the mask again.")
    counts = np.add.reduceat((codes & 0x1F) << (5 * place), starts)
    negative = (codes[ends] & 0x10) != 0
    counts -= np.where(negative, np.int64(1) << (5 * (place[ends] + 1)), 0)
    # Two interleaved running sums; the first count is in neither, and the second starts its own.
    counts[2::2] = np.cumsum(counts[2::2])
    counts[1::2] = np.cumsum(counts[1::2])
    return counts


def _check_size(width_px: int, height_px: int) -> None:
    if width_px <= 0 or height_px <= 0 or width_px * height_px > MAX_PIXELS:
        raise SegmentationError(
            f"A mask of {width_px}×{height_px} pixels is none or too large (at most "
            f"{MAX_PIXELS:,}). Correct its size."
        )


def _inside(outline: FloatArray, width_px: int, height_px: int) -> BoolArray:
    """Give the pixels inside one outline, by the parity of its crossings before each pixel.

    As COCO: the outline is walked in steps of a fifth of a pixel; where it passes the middle of a
    column, the mask turns on or off from there on.
    """
    x, y = _walk(outline)
    back = x[1:] < x[:-1]
    column = (np.where(back, x[1:], x[1:] - 1) + 0.5) / _STEPS - 0.5
    crosses = (x[1:] != x[:-1]) & (column == np.floor(column))
    crosses &= (column >= 0) & (column <= width_px - 1)
    row = (np.minimum(y[1:], y[:-1])[crosses] + 0.5) / _STEPS - 0.5
    row = np.ceil(np.clip(row, 0, height_px))
    turns = (column[crosses] * height_px + row).astype(np.int64)
    places, times = np.unique(turns, return_counts=True)
    changes = places[times % 2 == 1]
    counts = np.diff(changes, prepend=0, append=width_px * height_px)
    return RunLengths(counts, width_px, height_px).mask()


def _walk(outline: FloatArray) -> tuple[IntArray, IntArray]:
    """Give the points of an outline, a step apart along the longer side of each edge.

    Each edge is walked from its end with the smaller coordinate, and put in order afterwards, so
    that two polygons share the points of a common edge.
    """
    corners = (outline * _STEPS + 0.5).astype(np.int64)  # towards zero, as in C
    start, end = corners, np.roll(corners, -1, axis=0)
    extent = np.abs(end - start)
    wide = extent[:, 0] >= extent[:, 1]
    along = np.where(wide, 0, 1)
    rows = np.arange(len(corners))
    flip = start[rows, along] > end[rows, along]
    low, high = np.where(flip[:, None], end, start), np.where(flip[:, None], start, end)
    steps = extent[rows, along]
    if steps.sum() > _MOST_STEPS:
        raise SegmentationError("The outline of a polygon is too long. Correct it.")
    slope = (high - low)[rows, 1 - along] / np.maximum(steps, 1)
    edge = np.repeat(rows, steps + 1)
    step = np.arange(len(edge)) - np.repeat(np.cumsum(steps + 1) - steps - 1, steps + 1)
    step = np.where(flip[edge], steps[edge] - step, step)
    on_long = low[edge, along[edge]] + step
    on_short = (low[edge, 1 - along[edge]] + slope[edge] * step + 0.5).astype(np.int64)
    return np.where(wide[edge], on_long, on_short), np.where(wide[edge], on_short, on_long)
