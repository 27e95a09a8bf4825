"""Colour filter: how much an image keeps the colours of its source, as a score to rank by."""

from math import ceil, sqrt

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cobalance.base import Options
from cobalance.generation.filters.filter import (
    FilterPlugin,
    Judgement,
    PixelFilter,
    Said,
    Scored,
    describe_score,
    without_source,
)
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.vision import ImageArray

SIDE = 14
"""Images are compared at so many rows and columns."""

LARGEST = 1e18
"""The score of an image with exactly its source's colours. Any difference scores less: cells of two
images of up to 100 million pixels differ by 1e-16 at least, if they do."""


class SameColoursOptions(Options):
    """Options of the colour filter.

    Parameters
    ----------
    threshold : float or None
        The least score; None accepts every image, for a recipe that only ranks.
    """

    threshold: float | None = Field(default=None, ge=0)


def _says(found: Scored, options: SameColoursOptions) -> Said:
    if found.score == LARGEST:
        return Said("Exactly its source's colours")
    return describe_score(
        found.score,
        options.threshold,
        enough="Colours like its source's",
        too_little="Colours unlike its source's",
        measured="Likeness to its source's colours",
    )


PLUGIN = FilterPlugin(
    "same_colours",
    "The image has the colours of its source: for ranking.",
    extra="worker",
    options=SameColoursOptions,
    says=_says,
)


def judge_colours(
    request: ImageRequest, made: GeneratedImage, options: SameColoursOptions
) -> Judgement:
    """Score an image by how close its colours are to its source's.

    The score is the inverse of the Frobenius norm of the difference between image and source, both
    reduced to 14 x 14 pixels ([1]_, equation 6); higher is better. The details have the norm as
    ``difference``. An image without a source is rejected with a score of 0.

    The paper does not say how images are reduced, nor their colour space and scale. Here each of
    the 14 x 14 cells is the mean over its area, pixels on its border counted by their share (a box
    filter), in red, green and blue from 0 to 255; image and source each by themselves, whatever
    their sizes. Without a difference the inverse is infinite: such an image has the score
    `LARGEST`, more than any other.

    References
    ----------
    .. [1] *Resampled Datasets Are Not Enough* (2024), section 2.2, equation 6.
    """
    if request.source is None:
        return without_source("same_colours")

    difference = colour_difference(made.image, request.source.image)
    score, reason = 1 / difference if difference else LARGEST, ""
    if options.threshold is not None and score < options.threshold:
        reason = (
            f"The colours differ from the source's: the score is {score:.3g}, less than "
            f"{options.threshold:g}."
        )
    return Judgement(score, reason, {"difference": difference})


def colour_difference(image: ImageArray, other: ImageArray) -> float:
    """Frobenius norm of the difference of two images, both reduced to `SIDE` x `SIDE` pixels.

    Computed in whole numbers up to the last division, so that it is 0 for exactly equal means
    alone. O(pixels).

    Parameters
    ----------
    image, other : uint8 arrays, shape (height, width, 3)
        Of any sizes, also of fewer than `SIDE` pixels.
    """
    sums, n = cell_sums(image)
    others, n_others = cell_sums(other)
    # Python's integers: for images of 100 million pixels the squares need 180 bits.
    differences = sums.astype(object) * n_others - others.astype(object) * n
    total: int = (differences * differences).sum()
    return sqrt(total / (n * n_others) ** 2)


def cell_sums(image: ImageArray, side: int = SIDE) -> tuple[npt.NDArray[np.int64], int]:
    """Weighted sum of each cell's pixels, of shape (side, side, 3), and the weight of a cell.

    Pixels and cells are measured in parts of which `side` make a pixel's side, so that all weights
    are whole. Sums below 2**53 are exact in double precision, whatever their order.
    """
    height, width = image.shape[:2]
    down, across = _overlaps(height, side), _overlaps(width, side)

    rows = []
    # A band at a time, to copy a fraction of the image.
    for row, weights in enumerate(down):
        band = slice(row * height // side, ceil((row + 1) * height / side))
        pixels = image[band].reshape(-1, width * 3).astype(np.float64)
        rows.append((weights[band] @ pixels).reshape(width, 3))
    return (across @ np.stack(rows)).astype(np.int64), height * width


def _overlaps(n: int, side: int) -> npt.NDArray[np.float64]:
    """Length of each of n pixels in each of `side` cells of n parts each, of shape (side, n)."""
    cells, pixels = np.arange(side + 1) * n, np.arange(n + 1) * side
    ends = np.minimum(cells[1:, np.newaxis], pixels[1:])
    starts = np.maximum(cells[:-1, np.newaxis], pixels[:-1])
    return np.clip(ends - starts, 0, None).astype(np.float64)


def open_filter(options: SameColoursOptions) -> PixelFilter:
    """Open the filter; see `cobalance.base.registry.Plugins`."""
    return PixelFilter("same_colours", options, judge_colours, {"side": SIDE})
