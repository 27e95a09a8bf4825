"""Read images whose pixels are labels: palette and single-channel images, and colours."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cobalance.base import Box, Image, IntArray
from cobalance.vision.images.decoding import open_image
from cobalance.vision.images.masks import MAX_PIXELS, SegmentationError, compress_runs

MOST_RUNS = 4_000_000
"""Runs of equal pixels in a mask; noise and photographs have more than what people draw."""
_FEW_VALUES = 64
_CALM = 0.7  # of neighbours that are alike, in what is drawn
_BINARY = 0.95  # of pixels that are nearly black or white, in a mask that is saved as JPEG
_NEAR = 32
_SIDE_PX = 512
# Of red, green and blue in a colour as 0xRRGGBB.
_PLACES = np.array([1 << 16, 1 << 8, 1], dtype=np.int32)


@dataclass(frozen=True)
class LabelRegion:
    """The pixels of one value: their number, the box around them, and COCO's run lengths."""

    value: int
    area_px2: int
    box: Box
    segmentation: bytes


@dataclass(frozen=True, eq=False)
class LabelMap:
    """An image of labels.

    Parameters
    ----------
    labels : int array, shape (height, width)
        Values of a single channel, indices of a palette, or colours as 0xRRGGBB.
    is_colour : bool
        Whether the values are colours.
    palette : dict of int to int
        Colours of the indices; empty where there is no palette.
    """

    labels: npt.NDArray[np.integer]
    is_colour: bool
    palette: dict[int, int]


def read_label_map(content: bytes) -> LabelMap:
    """Read an image of labels: of 1, 8 or 16 bits, with a palette, or of colours.

    Of a JPEG that is black and white but for its noise, the values are 0 and 255.

    Raises
    ------
    ImageFileError
        It is no image of a supported format, damaged, or too large.
    """
    with open_image(content) as image:
        if image.mode == "P":
            return LabelMap(np.asarray(image), is_colour=False, palette=_palette(image))

        if image.mode in ("1", "L") or image.mode.startswith("I"):
            labels = np.asarray(image)
            if labels.dtype == np.bool_:
                labels = labels.astype(np.uint8)
            if image.format == "JPEG" and _is_binary(labels):
                labels = _black_and_white(labels)
            return LabelMap(labels, is_colour=False, palette={})

        if image.mode == "LA":
            return LabelMap(np.asarray(image)[..., 0], is_colour=False, palette={})

        channels = np.asarray(image.convert("RGB"))
        if image.format == "JPEG" and _is_binary(channels):
            white = _black_and_white(channels[..., 0])
            return LabelMap(white, is_colour=False, palette={})

    return LabelMap(channels.astype(np.int32) @ _PLACES, True, {})


def label_regions(labels: npt.NDArray[np.integer]) -> list[LabelRegion]:
    """Find the pixels of each value; O(pixels).

    Raises
    ------
    SegmentationError
        There are more than `MAX_PIXELS`, or than `MOST_RUNS` runs of equal pixels.

    Examples
    --------
    >>> [(r.value, r.area_px2, r.box) for r in label_regions(np.array([[0, 7, 7], [0, 0, 7]]))]
    [(0, 3, (0.0, 0.0, 2.0, 2.0)), (7, 3, (1.0, 0.0, 2.0, 2.0))]
    """
    height, width = labels.shape
    if not 0 < labels.size <= MAX_PIXELS:
        raise SegmentationError(f"A mask has {width}×{height} pixels. Correct its size.")

    # Column by column, as COCO counts.
    flat = labels.T.ravel()
    is_change = flat[1:] != flat[:-1]
    if np.count_nonzero(is_change) >= MOST_RUNS:
        raise SegmentationError(
            f"A mask has more than {MOST_RUNS:,} runs of equal pixels, as photographs have. Draw "
            "areas of one value."
        )
    starts = np.concatenate([[0], np.flatnonzero(is_change) + 1])
    ends = np.append(starts[1:], flat.size)

    # All runs of a value next to each other, each in its order.
    values = flat[starts]
    order = np.argsort(values, kind="stable")
    limits = np.flatnonzero(np.diff(values[order])) + 1
    return [
        _region(int(values[runs[0]]), starts[runs], ends[runs], height, width)
        for runs in np.split(order, limits)
    ]


def looks_drawn(content: bytes) -> bool:
    """Whether an image looks like a mask, not a photograph: few values, in areas of one each.

    Raises
    ------
    ImageFileError
        It is no image of a supported format, damaged, or too large.
    """
    with open_image(content) as image:
        if image.format == "JPEG":
            image.draft("RGB", (_SIDE_PX, _SIDE_PX))
            pixels = np.asarray(image.convert("RGB"))
            is_grey = bool(np.ptp(pixels, axis=2).max(initial=0) < _NEAR)
            return is_grey and _is_binary(pixels) and bool(np.ptp(pixels) > 128)

        is_deep = image.mode == "P" or image.mode.startswith(("1", "L", "I"))
        pixels = np.asarray(image)
        if not is_deep:
            colours = image.convert("RGB").getcolors(_FEW_VALUES)
            return colours is not None and len(colours) > 1

    if pixels.ndim > 2:
        pixels = pixels[..., 0]
    n_values = len(np.unique(pixels))
    is_calm = pixels.shape[1] > 1 and float(np.mean(pixels[:, 1:] == pixels[:, :-1])) > _CALM
    return n_values > 1 and (n_values <= _FEW_VALUES or is_calm)


def _is_binary(pixels: npt.NDArray[np.integer]) -> bool:
    """Whether nearly all pixels are nearly black or white."""
    is_near = (pixels < _NEAR) | (pixels > 255 - _NEAR)
    return bool(np.mean(is_near) > _BINARY)


def _black_and_white(pixels: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
    return np.where(pixels >= 128, np.uint8(255), np.uint8(0))


def _palette(image: "Image.Image") -> dict[int, int]:
    """Colours of a palette's indices, as 0xRRGGBB."""
    colours = np.asarray(image.getpalette("RGB") or [], dtype=np.int64).reshape(-1, 3)
    return dict(enumerate((colours @ _PLACES).tolist()))


def _region(value: int, starts: IntArray, ends: IntArray, height: int, width: int) -> LabelRegion:
    """The region of a value by the runs of its pixels, which are counted column by column."""
    left, right = int(starts[0]) // height, (int(ends[-1]) - 1) // height
    top, bottom = 0, height
    # A run that goes on in the next column fills the height.
    if ((starts // height) == ((ends - 1) // height)).all():
        top, bottom = int((starts % height).min()), int(((ends - 1) % height).max()) + 1
    box = (float(left), float(top), float(right + 1 - left), float(bottom - top))

    # Off and on in turn, the first off.
    edges = np.empty(2 * len(starts) + 1, dtype=np.int64)
    edges[0], edges[1::2], edges[2::2] = 0, starts, ends
    counts = np.diff(edges)
    if ends[-1] < height * width:
        counts = np.append(counts, height * width - ends[-1])
    text = compress_runs(counts).replace(b"\\", b"\\\\")
    segmentation = b'{"size":[%d,%d],"counts":"%b"}' % (height, width, text)
    return LabelRegion(value, int((ends - starts).sum()), box, segmentation)
