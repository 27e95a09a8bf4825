"""Procedural styles: a pattern and a sign derived from the hash of a concept's name.

Nothing here computes a sine or a logarithm: those differ by a rounding between machines, and a
painted image is to be the same everywhere.
"""

import colorsys
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cobalance.generation.backends.compositing.draws import Draws
from cobalance.generation.backends.compositing.framing import Size
from cobalance.vision import ImageArray, MaskArray, find_box

Field = npt.NDArray[np.float64]
"""Of shape (height, width), from 0 to 1."""

_PLACES = """
alley asphalt background beach brick bricks bridge bush bushes canyon carpet ceiling city cliff
cloth cloud clouds coast concrete crosswalk curtain desert dirt downtown driveway fence field
fields floor fog forest garage garden grass gravel ground hill hills house ice indoor indoors
jungle kitchen lake land lawn leaves marble marsh meadow metal moss mountain mountains mud night
ocean office outdoor outdoors paper park pavement petals plain plants platform playground pond
pool rail railroad railway river road rock rocks roof room runway sand savanna scene sea shore
shrub sidewalk sky skyscraper snow soil station steps stone stones straw street sunset swamp tile
tiles town trees underwater valley village wall water waterfall waves wetland wood woods yard
"""
GROUNDS = frozenset(_PLACES.split())
"""Words for places and materials: a concept whose last word is one fills the background."""


@dataclass(frozen=True)
class Style:
    """Colours, pattern and shape of a concept, derived from its name alone.

    Parameters
    ----------
    colours : tuple of two colours
        Red, green and blue from 0 to 255: the one of the ground, and the one upon it.
    pattern : str
        A name in `PATTERNS`.
    shape : str
        A name in `SHAPES`.
    steps : int
        How often the pattern repeats along the image's shorter side.
    """

    colours: tuple[tuple[int, int, int], tuple[int, int, int]]
    pattern: str
    shape: str
    steps: int


def style_of(name: str) -> Style:
    """Derive the style of a concept or class from its name."""
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).digest()

    # The second hue is near the first one, or about opposite to it.
    hue = int.from_bytes(digest[:2], "big") / 65536
    turn = (0.08, -0.08, 0.42, 0.5)[digest[2] % 4]
    strong = 0.35 + digest[3] / 255 * 0.4
    bright = 0.45 + digest[4] / 255 * 0.4
    contrast = -0.3 if bright > 0.65 else 0.3

    return Style(
        colours=(
            _colour(hue, strong, bright),
            _colour(hue + turn, strong * 0.7, bright + contrast),
        ),
        pattern=sorted(PATTERNS)[digest[5] % len(PATTERNS)],
        shape=sorted(SHAPES)[digest[6] % len(SHAPES)],
        steps=3 + digest[7] % 5,
    )


def is_ground(name: str) -> bool:
    """Guess whether a concept is a background, by the last word of its name.

    Examples
    --------
    >>> [is_ground(name) for name in ("forest_road", "garage-outdoor", "road sign", "cow")]
    [True, True, False, False]
    """
    words = re.findall(r"[^\W_]+", name.casefold())
    return bool(words) and words[-1] in GROUNDS


def paint_pattern(style: Style, size: Size, draws: Draws) -> ImageArray:
    """Draw a style's pattern at a random offset, with slight noise."""
    cell = max(2.0, min(size) / style.steps)
    rows, columns = np.mgrid[: size[0], : size[1]].astype(np.float64)
    down, right = draws.uniforms(2) * 16
    share = PATTERNS[style.pattern](rows / cell + down, columns / cell + right)

    # Uneven light and grain, as photographs have.
    uneven = smooth_noise(size, max(2, round(cell)), draws)
    grain = draws.uniforms(*size)
    light = 0.85 + 0.2 * uneven + 0.1 * grain
    low, high = (np.array(colour, dtype=np.float64) for colour in style.colours)
    share = np.clip(share + 0.25 * (uneven - 0.5), 0, 1)[..., np.newaxis]
    mixed = (low * (1 - share) + high * share) * light[..., np.newaxis]
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def paint_sign(style: Style, side_px: int) -> tuple[ImageArray, MaskArray]:
    """Draw a style's sign: its shape in its colours, with an outline.

    Returns
    -------
    image : uint8 array, shape (side_px, side_px, 3)
    mask : bool array, shape (side_px, side_px)
        The sign's pixels.
    """
    centres = (np.arange(side_px) + 0.5) / side_px * 2 - 1
    across, down = np.meshgrid(centres, centres)
    draw = SHAPES[style.shape]
    mask: MaskArray = draw(across, down)
    inner: MaskArray = draw(across * 1.35, down * 1.35)
    core: MaskArray = draw(across * 2.6, down * 2.6)

    ground, upon = style.colours
    image = np.empty((side_px, side_px, 3), np.uint8)
    image[:] = [component // 3 for component in ground]
    image[inner] = ground
    image[core] = upon
    # A sign of a pixel or two may miss all centres.
    if not mask.any():
        mask[:] = True
    return image, mask


def smooth_noise(size: Size, cell_px: int, draws: Draws) -> Field:
    """Value noise: random values on a grid, interpolated smoothly."""
    rows, columns = (np.arange(side) / cell_px for side in size)
    values = draws.uniforms(int(rows[-1]) + 2, int(columns[-1]) + 2)
    top, left = rows.astype(np.int64), columns.astype(np.int64)
    down, right = _smooth(rows % 1.0), _smooth(columns % 1.0)
    upper = _between(values[top][:, left], values[top][:, left + 1], right)
    lower = _between(values[top + 1][:, left], values[top + 1][:, left + 1], right)
    return _between(upper, lower, down[:, np.newaxis])


def _between(first: Field, second: Field, share: Field) -> Field:
    return first * (1 - share) + second * share


def _smooth(share: Field) -> Field:
    return share * share * (3 - 2 * share)


def _wave(phase: Field) -> Field:
    """From 0 to 1 and back once a unit, in straight lines."""
    return 1 - np.abs(phase % 1.0 * 2 - 1)


def _bricks(down: Field, right: Field) -> Field:
    shifted = right / 2 + np.floor(down) % 2 / 2
    return ((down % 1.0 < 0.16) | (shifted % 1.0 < 0.08)).astype(np.float64)


def _dots(down: Field, right: Field) -> Field:
    apart = (down % 1.0 - 0.5) ** 2 + ((right + np.floor(down) % 2 / 2) % 1.0 - 0.5) ** 2
    return np.clip((0.11 - apart) * 16, 0, 1)


PATTERNS: Mapping[str, Callable[[Field, Field], Field]] = {
    "bricks": _bricks,
    "checks": lambda down, right: (np.floor(down) + np.floor(right)) % 2,
    "diagonals": lambda down, right: _wave(down + right / 2),
    "dots": _dots,
    "lattice": lambda down, right: np.maximum(_wave(down + right), _wave(down - right)) ** 3,
    "ripples": lambda down, right: _smooth(_wave(down * 1.5 + _smooth(_wave(right / 2)) * 0.7)),
    "rows": lambda down, right: np.clip(_wave(down) * 2 - 0.5, 0, 1) + 0 * right,
    "stripes": lambda down, right: np.clip(_wave(right) * 2 - 0.5, 0, 1) + 0 * down,
}
"""Shares of the second colour, by rows and columns in units of a repetition."""

SHAPES: Mapping[str, Callable[[Field, Field], MaskArray]] = {
    "circle": lambda x, y: x * x + y * y <= 1,
    "cross": lambda x, y: (np.minimum(np.abs(x), np.abs(y)) <= 0.36) & (_far(x, y) <= 1),
    "diamond": lambda x, y: np.abs(x) + np.abs(y) <= 1,
    "drop": lambda x, y: (x * x + (y - 0.3) ** 2 <= 0.49) | ((np.abs(x) * 1.5 <= y + 1) & (y < 0)),
    "hexagon": lambda x, y: (np.abs(y) <= 0.87) & (np.abs(x) + np.abs(y) * 0.58 <= 1),
    "house": lambda x, y: (np.abs(x) <= 0.8) & (y <= 0.95) & (np.abs(x) * 1.1 - 0.95 <= y),
    "square": lambda x, y: _far(x, y) <= 0.85,
    "triangle": lambda x, y: (y <= 0.85) & (np.abs(x) * 1.8 <= y + 0.95),
}
"""Whether points of the square from -1 to 1 are in a shape, by column and row."""


def _far(x: Field, y: Field) -> Field:
    return np.maximum(np.abs(x), np.abs(y))


def _colour(hue: float, saturation: float, value: float) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)


# How bright a look is, from one seed to another.
_TONES = (0.7, 1.2)


def paint_look(
    image: ImageArray, mask: MaskArray, style: Style, share: float, draws: Draws
) -> ImageArray:
    """Repaint an object in a style's colours and pattern; its light and shade stay.

    Parameters
    ----------
    image : uint8 array, shape (height, width, 3)
        The image with the object.
    mask : bool array, shape (height, width)
        The object's pixels, at least one. No other changes.
    style : Style
        From `cobalance.generation.backends.compositing.styles.style_of`.
    share : float
        How much of the style shows, from 0 to 1; the rest is the object's own colours.
    draws : Draws
        Gives the tone, and the pattern's offset and unevenness.

    Returns
    -------
    uint8 array, shape (height, width, 3)

    Examples
    --------
    >>> from cobalance.generation.backends.compositing.styles import style_of
    >>> image, mask = np.full((4, 6, 3), 200, np.uint8), np.zeros((4, 6), bool)
    >>> mask[1:3, 2:4] = True
    >>> painted = paint_look(image, mask, style_of("woman"), 0.9, Draws(7))
    >>> np.array_equal((painted != image).any(axis=2), mask)
    True
    """
    box = find_box(mask)
    inside, before = mask[box.slices], image[box.slices]
    tone = _TONES[0] + (_TONES[1] - _TONES[0]) * draws.uniform()
    pattern = paint_pattern(style, box.shape, draws)
    look = np.clip(pattern * (tone * _light(before))[..., np.newaxis], 0, 255)
    mixed = np.rint(look * share + before * (1 - share)).astype(np.uint8)

    painted = image.copy()
    painted[box.slices][inside] = mixed[inside]
    return painted


def _light(image: ImageArray) -> npt.NDArray[np.float64]:
    """Factor for each pixel's light, from 0.6 for black to 1.2 for white."""
    return 0.6 + 0.6 * image.sum(axis=2, dtype=np.int64) / 765


OBJECT_ADDED, COLOURS_SHIFTED = "object added", "colours shifted"

# An added object is so large relative to the longer side of the one that it is upon.
_SIGN_SHARE = 0.6


def plant_mistake(
    painted: ImageArray, source: ImageArray, mask: MaskArray, draws: Draws
) -> tuple[ImageArray, str]:
    """Make a mistake that a model might make: add something, or shift the colours.

    Either takes colours that are far from the source's: each channel of a shifted pixel is halfway
    from there to the farther end, and what is added has the farther end for each channel.

    Parameters
    ----------
    painted, source : uint8 arrays, shape (height, width, 3)
        The image with the object painted, and the one that it was painted from.
    mask : bool array, shape (height, width)
        The object's pixels, at least one. No other changes.
    draws : Draws
        Decides which mistake it is, and where.

    Returns
    -------
    image : uint8 array, shape (height, width, 3)
    mistake : str
        `OBJECT_ADDED` or `COLOURS_SHIFTED`.
    """
    mistake = draws.choice((OBJECT_ADDED, COLOURS_SHIFTED))
    # Colours as far as possible from those of the source.
    far = np.where(source < 128, 255, 0)
    image = painted.copy()
    if mistake == COLOURS_SHIFTED:
        image[mask] = ((painted.astype(np.int64) + far) // 2).astype(np.uint8)[mask]
        return image, mistake

    reach = max(1.0, max(find_box(mask).shape) * _SIGN_SHARE / 2)
    inside = np.argwhere(mask)
    top, left = inside[draws.below(len(inside))].tolist()
    rows, columns = np.indices(mask.shape)
    shape = SHAPES[draws.choice(sorted(SHAPES))]
    added = mask & shape((columns - left) / reach, (rows - top) / reach)
    image[added] = far[added]
    return image, mistake
