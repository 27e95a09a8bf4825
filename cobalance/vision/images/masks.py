"""COCO segmentations as masks: polygons, and run lengths plain and compressed.

COCO's own C code (pycocotools) rasterises polygons. Its input is checked here, as it neither checks
run lengths nor bounds its memory.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from cobalance.base import (
    ANNOTATION,
    UNDECODABLE,
    BoolArray,
    Box,
    CobalanceError,
    FloatArray,
    IntArray,
    Mention,
    decoding_fault,
    needs_extra,
)

MAX_PIXELS = 100_000_000
MAX_POINTS = 10_000_000
"""Of all outlines of a mask, at five points per pixel; takes 0.7 s and 80 MB."""
_POINTS_PER_PX = 5
# A corner beyond this is a mistake.
_FARTHEST_PX = 100_000
# Groups of five bits in a compressed run: 34 bits and a sign.
_MOST_GROUPS = 7
# Merging outlines one by one would take quadratic time.
_MERGED_AT_ONCE = 16


class SegmentationError(CobalanceError):
    """A segmentation that cannot be read, or does not fit its image."""


class _EncodedRuns(msgspec.Struct):
    size: tuple[int, int]
    counts: str | list[int]


@dataclass(frozen=True, eq=False)
class Polygons:
    """Outlines of one mask.

    Parameters
    ----------
    outlines : tuple of float64 array, shape (corners, 2)
        x and y of the corners in pixels; the last corner joins the first.

    Raises
    ------
    SegmentationError
        A corner is too far away.
    """

    outlines: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        for outline in self.outlines:
            if not (np.abs(outline) <= _FARTHEST_PX).all():
                raise SegmentationError(
                    f"A polygon has a corner more than {_FARTHEST_PX:,} pixels away. Correct it."
                )

    def scale(self, x: float, y: float) -> "Polygons":
        """Scale the outlines to an image that is `x` times as wide and `y` times as high."""
        return Polygons(tuple(outline * (x, y) for outline in self.outlines))

    def run_lengths(self, width_px: int, height_px: int) -> "RunLengths":
        """Rasterise the outlines for an image of this size; O(length of outlines).

        Raises
        ------
        SegmentationError
            The image has more than `MAX_PIXELS`, or the outlines have more than `MAX_POINTS`.
        """
        _check_size(width_px, height_px)
        # An area has three corners; pycocotools 2.0.11 raises TypeError for a first part of two.
        areas = [outline.ravel() for outline in self.outlines if len(outline) > 2]
        if sum(map(_n_points, self.outlines)) > MAX_POINTS:
            raise SegmentationError("The outlines of a mask are too long. Correct the polygons.")
        if not areas:
            return RunLengths(np.array([width_px * height_px]), width_px, height_px)

        coco = _coco_masks()
        runs = coco.frPyObjects(areas, height_px, width_px)
        while len(runs) > 1:
            starts = range(0, len(runs), _MERGED_AT_ONCE)
            runs = [coco.merge(runs[start : start + _MERGED_AT_ONCE]) for start in starts]
        return RunLengths(_decompress(runs[0]["counts"].decode()), width_px, height_px)

    def mask(self, width_px: int, height_px: int) -> BoolArray:
        """Draw the mask, shape (height_px, width_px); raises as `run_lengths` does."""
        return self.run_lengths(width_px, height_px).mask()


@dataclass(frozen=True, eq=False)
class RunLengths:
    """A mask as the lengths (int64) of its runs, off and on in turn, column by column.

    The first run is off.
    """

    counts: IntArray
    width_px: int
    height_px: int

    @property
    def area_px2(self) -> int:
        """Number of pixels in the mask."""
        return int(self.counts[1::2].sum())

    def mask(self) -> BoolArray:
        """Draw the mask, shape (height_px, width_px)."""
        on = np.arange(len(self.counts)) % 2 == 1
        pixels: BoolArray = np.repeat(on, self.counts)
        return pixels.reshape(self.width_px, self.height_px).T


def mask(segmentation: str | bytes, width_px: int, height_px: int) -> BoolArray:
    """Draw the mask of a segmentation.

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
        The segmentation cannot be read, or is of an image of another size.

    Examples
    --------
    >>> mask("[[1, 0, 3, 0, 3, 2, 1, 2]]", 4, 2).astype(int)
    array([[0, 1, 1, 0],
           [0, 1, 1, 0]])
    >>> mask('{"size": [2, 3], "counts": [1, 2, 3]}', 3, 2).astype(int)
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    parsed = parse_segmentation(segmentation)
    if isinstance(parsed, Polygons):
        return parsed.mask(width_px, height_px)
    if (parsed.width_px, parsed.height_px) != (width_px, height_px):
        raise SegmentationError(
            f"The mask has {parsed.width_px}×{parsed.height_px} pixels, the image of "
            f"{width_px}×{height_px}. Annotate the image as it is now."
        )
    return parsed.mask()


def parse_segmentation(segmentation: str | bytes) -> Polygons | RunLengths:
    """Read a segmentation in JSON, as `mask` takes it.

    Raises
    ------
    SegmentationError
        It cannot be read.
    """
    try:
        decoded = msgspec.json.decode(segmentation, type=list[list[float]] | _EncodedRuns)
    except UNDECODABLE as error:
        raise SegmentationError(
            f"The segmentation is neither polygons nor a run-length encoding "
            f"({decoding_fault(error)}). Write it as COCO does."
        ) from None

    if isinstance(decoded, _EncodedRuns):
        return _run_lengths(decoded)
    return _polygons(decoded)


def encode_mask(pixels: BoolArray) -> str:
    """Write a mask as a segmentation: COCO's compressed run lengths, in JSON.

    Examples
    --------
    >>> encode_mask(np.array([[False, True, False], [True, False, False]]))
    '{"size":[2,3],"counts":"123"}'
    """
    runs = _coco_masks().encode(np.asfortranarray(pixels, dtype=np.uint8))
    encoded = _EncodedRuns(tuple(runs["size"]), runs["counts"].decode())
    return msgspec.json.encode(encoded).decode()


def mask_box(pixels: BoolArray) -> Box | None:
    """Box around the pixels of a mask; None if it is empty.

    Examples
    --------
    >>> mask_box(np.array([[False, False, False], [False, True, True]]))
    (1.0, 1.0, 2.0, 1.0)
    """
    columns, rows = np.flatnonzero(pixels.any(axis=0)), np.flatnonzero(pixels.any(axis=1))
    if not len(rows):
        return None
    x, y = float(columns[0]), float(rows[0])
    return x, y, float(columns[-1]) + 1 - x, float(rows[-1]) + 1 - y


def mask_region(concept: str, pixels: BoolArray, source: str = ANNOTATION) -> Mention:
    """Describe a mask as a region of a concept; an empty one has no area, box and segmentation."""
    box = mask_box(pixels)
    if box is None:
        return Mention(concept, source)
    area = float(np.count_nonzero(pixels))
    return Mention(concept, source, area_px2=area, box=box, segmentation=encode_mask(pixels))


def _coco_masks() -> Any:
    with needs_extra("Drawing outlines", "worker"):
        from pycocotools import mask
    return mask


def _polygons(polygons: list[list[float]]) -> Polygons:
    for corners in polygons:
        if len(corners) % 2:
            raise SegmentationError(
                f"A polygon has {len(corners)} numbers. Write an x and a y a corner."
            )
    outlines = [np.array(corners, dtype=np.float64).reshape(-1, 2) for corners in polygons]
    return Polygons(tuple(outline for outline in outlines if len(outline)))


def _run_lengths(encoded: _EncodedRuns) -> RunLengths:
    """Decode and check run lengths; SegmentationError where they do not fit the size."""
    height_px, width_px = encoded.size
    _check_size(width_px, height_px)

    counts = encoded.counts
    lengths = _decompress(counts) if isinstance(counts, str) else _int_array(counts)

    # Each is checked, as a sum of huge ones may overflow.
    n_pixels = width_px * height_px
    if ((lengths < 0) | (lengths > n_pixels)).any() or lengths.sum() != n_pixels:
        raise SegmentationError(
            f"The runs of a mask do not add up to its {width_px}×{height_px} pixels. Encode the "
            "mask again."
        )
    return RunLengths(lengths, width_px, height_px)


def _int_array(counts: list[int]) -> IntArray:
    try:
        return np.array(counts, dtype=np.int64)
    except OverflowError:
        # No number of pixels is as large: what adds up to none is refused.
        return np.array([-1])


def _decompress(text: str) -> IntArray:
    """Decode COCO's compressed counts: groups of five bits, the sixth marks a continuation.

    From the fourth count on, each is the difference to the last but one.
    """
    # A character is a group: 48 ("0") and six bits.
    codes = np.frombuffer(text.encode(), dtype=np.uint8).astype(np.int64) - 48
    ends = np.flatnonzero((codes & 0x20) == 0)
    is_whole = len(ends) > 0 and ends[-1] == len(codes) - 1
    if not is_whole or codes.min() < 0 or codes.max() > 63:
        raise SegmentationError(
            "The compressed counts of a mask are cut off or have a character that does not belong "
            "there. Encode the mask again."
        )

    starts = np.append(0, ends[:-1] + 1)
    position = np.arange(len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
    if position.max() >= _MOST_GROUPS:
        raise SegmentationError("A run of a mask is too long. Encode the mask again.")
    counts = np.add.reduceat((codes & 0x1F) << (5 * position), starts)
    # The highest bit of the last group is the sign.
    is_negative = (codes[ends] & 0x10) != 0
    counts -= np.where(is_negative, np.int64(1) << (5 * (position[ends] + 1)), 0)

    # Two interleaved running sums, which start at the third and at the second count.
    counts[2::2] = np.cumsum(counts[2::2])
    counts[1::2] = np.cumsum(counts[1::2])
    return counts


def compress_runs(counts: IntArray) -> bytes:
    """Compress run lengths as COCO does: groups of five bits, the sixth marks a continuation.

    Examples
    --------
    >>> compress_runs(np.array([1, 2, 3]))
    b'123'
    """
    # From the fourth count on, each is the difference to the last but one.
    rest = counts.astype(np.int64)
    rest[3:] -= counts[1:-2]
    groups = np.zeros((len(rest), _MOST_GROUPS), dtype=np.uint8)
    is_used = np.zeros(groups.shape, dtype=bool)
    goes_on = np.ones(len(rest), dtype=bool)

    for column in range(_MOST_GROUPS):
        is_used[:, column] = goes_on
        bits = rest & 0x1F
        rest >>= 5
        # The highest bit of the last group is the sign.
        goes_on = goes_on & np.where((bits & 0x10) != 0, rest != -1, rest != 0)
        groups[:, column] = bits + 48 + 0x20 * goes_on
        if not goes_on.any():
            break
    return groups[is_used].tobytes()


def _check_size(width_px: int, height_px: int) -> None:
    if width_px <= 0 or height_px <= 0 or width_px * height_px > MAX_PIXELS:
        raise SegmentationError(
            f"A mask of {width_px}×{height_px} pixels is empty or too large (at most "
            f"{MAX_PIXELS:,} pixels). Correct its size."
        )


def _n_points(outline: FloatArray) -> float:
    """Points that COCO's code samples on an outline: five per pixel along its longer side."""
    extents = np.abs(np.roll(outline, -1, axis=0) - outline).max(axis=1)
    return len(outline) + _POINTS_PER_PX * float(extents.sum())
