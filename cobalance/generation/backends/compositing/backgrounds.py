"""Compose backgrounds: from exemplars, from several others, or a plain wall."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from cobalance.generation.backends.compositing.cutout import random_place, spread_colours, window_at
from cobalance.generation.backends.compositing.draws import Draws
from cobalance.generation.backends.compositing.exemplars import Exemplar
from cobalance.generation.backends.compositing.framing import Size, resize_image, resize_mask
from cobalance.generation.backends.compositing.styles import smooth_noise
from cobalance.vision import ImageArray, MaskArray

# A background has at most so many layers; holes that remain take their nearest pixel's colour.
_LAYERS = 12
# The next layer is the one most alike of so many.
_CANDIDATES = 6
# A layer fades into the one below it over so many pixels.
_SOFT_PX = 3.0


def paint_wall(size: Size, draws: Draws) -> ImageArray:
    """Draw a light grey wall, unevenly lit."""
    uneven = smooth_noise(size, max(2, min(size) // 2), draws)
    light = 190 + 30 * uneven + 6 * draws.uniforms(*size)
    return np.repeat(np.rint(light).astype(np.uint8)[..., np.newaxis], 3, axis=2)


def join_backgrounds(painted: Sequence[ImageArray], size: Size, draws: Draws) -> ImageArray:
    """Show several backgrounds side by side, with wavy edges."""
    across = np.arange(size[1]) / size[1] * len(painted)
    uneven = smooth_noise(size, max(2, min(size) // 4), draws) - 0.5
    which = np.clip(np.floor(across + uneven * 0.5), 0, len(painted) - 1).astype(np.int64)
    return np.choose(which[..., np.newaxis], painted)


def compose_background(exemplars: "Sequence[Exemplar]", size: Size, draws: Draws) -> ImageArray:
    """Compose a background from exemplars until no hole is left.

    Each layer shows through the holes of those above it, and they fade into it. It is, of some
    that are drawn, the one whose mean colour is most like that of the first.
    """
    image, mask = _random_window(draws.choice(exemplars), size, draws)
    layers = [(image, mask)]
    mean = _mean_colour(image, mask)
    holes = ~mask

    while holes.any() and len(layers) < _LAYERS:
        windows = [_random_window(draws.choice(exemplars), size, draws) for _ in range(_CANDIDATES)]
        useful = [window for window in windows if (window[1] & holes).any()] or windows
        image, mask = min(
            useful, key=lambda window: float(np.abs(_mean_colour(*window) - mean).max())
        )
        layers.append((image, mask))
        holes &= ~mask

    # From the last layer up to the first, which is above all.
    canvas, _ = spread_colours(*layers[-1])
    for image, mask in reversed(layers[:-1]):
        share = _opacity(mask)[..., np.newaxis]
        canvas = np.rint(image * share + canvas * (1 - share)).astype(np.uint8)
    return canvas


def _opacity(shown: MaskArray) -> npt.NDArray[np.float64]:
    """Opacity of a layer: 0 in its holes, rising to 1 a few pixels away from them."""
    if shown.all():
        return np.ones(shown.shape)
    distance_px: npt.NDArray[np.float64] = ndimage.distance_transform_edt(shown)
    return np.clip(distance_px / _SOFT_PX, 0, 1)


def _random_window(exemplar: Exemplar, size: Size, draws: Draws) -> tuple[ImageArray, MaskArray]:
    """Crop a random window of the image's size from an exemplar, scaling small ones up."""
    image, mask = exemplar.image, exemplar.shown
    scale = max(1.0, size[0] / mask.shape[0], size[1] / mask.shape[1])
    large = (
        max(size[0], round(mask.shape[0] * scale)),
        max(size[1], round(mask.shape[1] * scale)),
    )
    if large != mask.shape:
        # Nothing of the pixels in a hole gets into those beside it.
        image, _ = spread_colours(image, mask)
        image, mask = resize_image(image, large), resize_mask(mask, large)

    window = window_at(random_place(size, large, draws), size)
    image, mask = image[window], mask[window]
    if draws.below(2):
        image, mask = image[:, ::-1], mask[:, ::-1]
    # A window of nothing but a hole is taken as it is.
    if not mask.any():
        return image, np.ones_like(mask)
    return image, mask


def _mean_colour(image: ImageArray, shown: MaskArray) -> npt.NDArray[np.float64]:
    # Sums of whole numbers are the same in whatever order a machine adds them.
    total = image[shown].sum(axis=0, dtype=np.int64)
    return total / max(1, int(np.count_nonzero(shown)))
