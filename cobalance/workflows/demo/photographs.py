"""Photographs and handwritten digits that scikit-image and scikit-learn include.

Training and test images share nothing: each photograph is cut into two areas, and each digit is in
one split. This package contains none of the files. Those of scikit-image are in the public domain
or under CC0; scikit-learn's ``flower.jpg`` is by vultilion (Flickr), CC BY 2.0, and its digits are
the test part of UCI's "Optical Recognition of Handwritten Digits", CC BY 4.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np
import numpy.typing as npt

from cobalance.base import Image, needs_extra, sklearn
from cobalance.vision import decode

Split = Literal["train", "test"]
Pixels = npt.NDArray[np.uint8]
Rectangle = tuple[int, int, int, int]

DIGIT_PX = 28
"""Side of a digit, which the data set has in 8 by 8 pixels."""
THING_PX = 16
"""Side of a coin, or of a round piece of a photograph."""

# Splits the digits, the same way for every seed of a demonstration.
_DIGITS_SEED = 20240917
_TRAIN_DIGITS = 2 / 3


@dataclass(frozen=True)
class Photograph:
    """A photograph, its training area and its test area.

    `path` begins with the package that includes it, areas are left, top, right and bottom in
    pixels, and are scaled down by the factor `shrink`.
    """

    path: str
    train: Rectangle
    test: Rectangle
    shrink: int = 1


_SKIMAGE, _SKLEARN = "skimage/data", "sklearn/datasets/images"
PHOTOGRAPHS: Mapping[str, Photograph] = {
    "brick": Photograph(f"{_SKIMAGE}/brick.png", (0, 0, 300, 512), (300, 0, 512, 512), 2),
    "gravel": Photograph(f"{_SKIMAGE}/gravel.png", (0, 0, 300, 512), (300, 0, 512, 512), 2),
    "paper": Photograph(f"{_SKIMAGE}/page.png", (0, 0, 220, 191), (220, 0, 384, 191)),
    "leaves": Photograph(f"{_SKLEARN}/flower.jpg", (0, 0, 185, 427), (460, 0, 640, 427)),
    "petals": Photograph(f"{_SKLEARN}/flower.jpg", (235, 100, 345, 330), (345, 100, 405, 330)),
    "wood": Photograph(f"{_SKIMAGE}/coffee.png", (480, 0, 600, 400), (0, 130, 78, 400)),
    "moon": Photograph(f"{_SKIMAGE}/moon.png", (0, 0, 300, 512), (300, 0, 512, 512), 2),
    "stars": Photograph(
        f"{_SKIMAGE}/hubble_deep_field.jpg", (0, 0, 600, 872), (600, 0, 1000, 872), 2
    ),
    "fur": Photograph(f"{_SKIMAGE}/chelsea.png", (0, 0, 260, 300), (260, 0, 451, 300), 2),
    "retina": Photograph(
        f"{_SKIMAGE}/retina.jpg", (300, 300, 700, 1100), (720, 300, 1100, 1100), 3
    ),
    "tissue": Photograph(f"{_SKIMAGE}/ihc.png", (0, 0, 300, 512), (300, 0, 512, 512), 2),
}

COINS: Mapping[Split, tuple[tuple[int, int, int], ...]] = {
    "train": (
        (45, 54, 23),
        (100, 56, 20),
        (155, 51, 23),
        (216, 49, 23),
        (276, 52, 20),
        (335, 44, 30),
        (46, 125, 21),
        (102, 126, 20),
        (153, 125, 20),
        (204, 124, 20),
        (271, 120, 25),
        (337, 124, 19),
        (43, 197, 19),
        (101, 195, 21),
        (153, 197, 20),
        (211, 192, 23),
        (273, 194, 23),
        (347, 187, 32),
    ),
    "test": (
        (46, 262, 28),
        (113, 266, 21),
        (172, 263, 27),
        (243, 263, 24),
        (301, 263, 26),
        (357, 268, 22),
    ),
}
"""Centre (x, y) and radius of each coin in scikit-image's ``coins.png``, in pixels."""

OBJECTS: Mapping[str, tuple[str, Rectangle]] = {
    "cat": (f"{_SKIMAGE}/chelsea.png", (40, 0, 366, 296)),
    "cup": (f"{_SKIMAGE}/coffee.png", (77, 8, 483, 388)),
    "flower": (f"{_SKLEARN}/flower.jpg", (172, 86, 446, 360)),
}
"""Path of a photograph, and the box of the ellipse that is about an object in it."""


@cache
def areas(name: str, split: Split) -> tuple[Pixels, ...]:
    """Images that pieces of a background or thing are cut from.

    Returns
    -------
    tuple of uint8 array, shape (height, width, 3)
        One area of a photograph, or one square per coin.
    """
    if name == "coin":
        side = THING_PX, THING_PX
        coins = (_cut_coin(*coin).resize(side, Image.Resampling.BOX) for coin in COINS[split])
        return tuple(map(np.asarray, coins))

    photograph = PHOTOGRAPHS[name]
    area = _open(photograph.path).crop(getattr(photograph, split))
    size = area.width // photograph.shrink, area.height // photograph.shrink
    return (np.asarray(area.resize(size, Image.Resampling.BOX)),)


def cut_object(name: str, rng: np.random.Generator) -> Image.Image:
    """Cut out the box about an object of `OBJECTS`, or about a random coin for training."""
    if name == "coin":
        return _cut_coin(*COINS["train"][rng.integers(len(COINS["train"]))])
    path, box = OBJECTS[name]
    return _open(path).crop(box)


def _cut_coin(x: int, y: int, r: int) -> Image.Image:
    return _open(f"{_SKIMAGE}/coins.png").crop((x - r, y - r, x + r, y + r))


def cut_piece(name: str, split: Split, side_px: int, rng: np.random.Generator) -> Pixels:
    """Cut a random square from a background or thing."""
    pieces = areas(name, split)
    area = pieces[rng.integers(len(pieces))]
    top = rng.integers(area.shape[0] - side_px, endpoint=True)
    left = rng.integers(area.shape[1] - side_px, endpoint=True)
    return area[top : top + side_px, left : left + side_px]


@cache
def digits(digit: int, split: Split) -> tuple[Pixels, ...]:
    """Handwritten samples of a digit, grey, scaled up to `DIGIT_PX`; each is in one split only."""
    return tuple(
        np.asarray(Image.fromarray(sample).resize((DIGIT_PX, DIGIT_PX), Image.Resampling.BICUBIC))
        for sample in _samples()[0][list(digit_positions(digit, split))]
    )


@cache
def digit_positions(digit: int, split: Split) -> tuple[int, ...]:
    """Positions in scikit-learn's data set of the samples of a digit in a split."""
    positions = np.flatnonzero(_samples()[1] == digit)
    shuffled = np.random.default_rng([_DIGITS_SEED, digit]).permutation(positions)
    cut = round(len(shuffled) * _TRAIN_DIGITS)
    parts = {"train": shuffled[:cut], "test": shuffled[cut:]}
    return tuple(parts[split].tolist())


@cache
@needs_extra("The demonstration with images", "demo")
def _samples() -> tuple[Pixels, npt.NDArray[np.int64]]:
    """All of scikit-learn's handwritten digits, in grey, and which digit each is."""
    images, kinds = sklearn.datasets.load_digits(return_X_y=True)
    return np.rint(images.reshape(-1, 8, 8) * (255 / 16)).astype(np.uint8), kinds


@cache
@needs_extra("The demonstration with images", "demo")
def _open(path: str) -> Image.Image:
    package, _, inside = path.partition("/")
    return decode(files(package).joinpath(inside).read_bytes()).stored.convert("RGB")
