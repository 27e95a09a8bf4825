"""Digits on photographs: a small image dataset with the shortcuts of UrbanCars.

Each image shows a handwritten three or eight on a background, with a small round thing beside it.
Background and thing each agree with the class in 95 of 100 training images, independently, as in
UrbanCars (Li et al., "A Whac-A-Mole Dilemma", CVPR 2023). Test images have every combination
equally often.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import Annotations, Image, ImageRecord, Mention, values_at
from cobalance.generation import Exemplar, write_exemplars
from cobalance.vision import mask_region
from cobalance.workflows.demo.photographs import DIGIT_PX, THING_PX, Split, cut_piece, digits

NAME = "digits"
SIDE_PX = 48

KINDS: Mapping[str, int] = {"eight": 8, "three": 3}
BACKGROUNDS: Mapping[str, tuple[str, ...]] = {
    "eight": ("brick", "gravel", "paper"),
    "three": ("leaves", "petals", "wood"),
}
"""Backgrounds of most training images of a class."""
THINGS: Mapping[str, tuple[str, ...]] = {
    "eight": ("coin", "moon", "stars"),
    "three": ("fur", "retina", "tissue"),
}
"""Things in most training images of a class."""

IMAGES: Mapping[tuple[bool, bool], int] = {
    (True, True): 361,
    (True, False): 19,
    (False, True): 19,
    (False, False): 1,
}
"""Training images of a class, by whether the background and the thing agree with it: 95% each, as
in UrbanCars."""

# Largest offset of a digit from the centre.
_JITTER_PX = 3
# Pixels of at least this grey value belong to the digit.
_INK = 72
# Between a thing and the image's edge.
_MARGIN_PX = 1
_CODES: Mapping[str, int] = {"train": 0, "test": 1, "validation": 2}


@dataclass(frozen=True, eq=False)
class Digits:
    """Images of digits with their masks and labels.

    Parameters
    ----------
    split : {"train", "validation", "test"}
        The split of all images.
    pixels : uint8 array, shape (n_images, 48, 48, 3)
    digit_masks, thing_masks : bool array, shape (n_images, 48, 48)
        Pixels of the digit, and visible pixels of the thing.
    table : pandas.DataFrame
        One row per image: ``id``, ``class_name``, ``background``, ``thing``.
    """

    split: str
    pixels: npt.NDArray[np.uint8]
    digit_masks: npt.NDArray[np.bool_]
    thing_masks: npt.NDArray[np.bool_]
    table: pd.DataFrame

    def __len__(self) -> int:
        return len(self.table)

    def annotations(self, *, regions: bool = False, folder: str = "") -> Annotations:
        """Annotations of the images; background and thing are the concepts.

        Parameters
        ----------
        regions : bool
            Add masks, and the digit as a mention of its class, for
            `cobalance.vision.images.regions.write_regions`. The graph needs neither: the digit is
            the class, not a concept.
        folder : str
            Prefix of the images' addresses, such as ``"demo/"``.
        """
        return Annotations.from_records(
            self._record(row, regions, folder) for row in range(len(self))
        )

    def write_exemplars(self, folder: Path, *, most: int = 60) -> None:
        """Write exemplars of each concept for ``procedural``, from at most so many images.

        Only training images may have them: they get into training data.
        """
        for column in ("background", "thing"):
            concepts = self.table[column].to_numpy()
            for concept in sorted(set(concepts)):
                exemplars = []
                for row in np.flatnonzero(concepts == concept)[:most].tolist():
                    visible = self._shown_mask(row, column)
                    if visible.any():
                        exemplars.append(Exemplar(self.pixels[row], visible))
                write_exemplars(folder, concept, exemplars)

    def _shown_mask(self, row: int, column: str) -> npt.NDArray[np.bool_]:
        things: npt.NDArray[np.bool_] = self.thing_masks[row]
        if column == "thing":
            return things
        return np.asarray(~(things | self.digit_masks[row]))

    def _record(self, row: int, regions: bool, folder: str) -> ImageRecord:
        row_values = self.table.iloc[row]
        background, thing = str(row_values["background"]), str(row_values["thing"])
        class_name, image_id = str(row_values["class_name"]), str(row_values["id"])
        mentions: tuple[Mention, ...] = Mention(background), Mention(thing)

        if regions:
            mentions = (
                mask_region(background, self._shown_mask(row, "background")),
                mask_region(thing, self._shown_mask(row, "thing")),
                mask_region(class_name, self.digit_masks[row]),
            )

        uri = folder + uri_of(image_id)
        return ImageRecord(image_id, class_name, mentions, self.split, uri, SIDE_PX, SIDE_PX)


def make_training_digits(seed: int) -> Digits:
    """Draw 400 training images of each class with exactly the proportions of UrbanCars."""
    rng = np.random.default_rng([seed, 7])
    groups = []
    for name, other in (("eight", "three"), ("three", "eight")):
        for (background_agrees, thing_agrees), images in IMAGES.items():
            backgrounds = BACKGROUNDS[name if background_agrees else other]
            things = THINGS[name if thing_agrees else other]
            pairs = list(product(backgrounds, things))
            order = rng.permutation(len(pairs))
            # Pairs take turns, so that each is as frequent as the number of images allows.
            groups += [(name, *pairs[order[number % len(pairs)]]) for number in range(images)]

    return _draw(values_at(groups, rng.permutation(len(groups))), "train", seed)


def make_held_out_digits(seed: int, per_group: int = 4) -> Digits:
    """Draw further images like the training images, with every combination equally often.

    For methods that need held-out images: handwriting and areas are those of training images.
    There are `per_group` images of each of the 72 combinations.
    """
    return _draw(_every_combination(per_group), "train", seed, "validation")


def make_test_digits(seed: int, per_group: int = 12) -> Digits:
    """Draw test images: every combination of class, background and thing equally often.

    They share no pixel with training images: other handwriting, other areas of the photographs.
    There are `per_group` images of each of the 72 combinations.
    """
    return _draw(_every_combination(per_group), "test", seed)


def write_images(folder: Path, ids: Iterable[str], images: Iterable[npt.NDArray[np.uint8]]) -> None:
    """Write images as PNG files, each at its `uri_of`."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    for image_id, pixels in zip(ids, images, strict=True):
        Image.fromarray(pixels).save(folder / uri_of(image_id))


def uri_of(image_id: str) -> str:
    """Path of an image's file in the folder."""
    return f"images/{image_id}.png"


def _every_combination(per_group: int) -> list[tuple[str, str, str]]:
    """Class, background and thing of images with every combination equally often."""
    backgrounds = BACKGROUNDS["eight"] + BACKGROUNDS["three"]
    things = THINGS["eight"] + THINGS["three"]
    return [group for group in product(KINDS, backgrounds, things) for _ in range(per_group)]


def _draw(
    groups: list[tuple[str, str, str]], split: Split, seed: int, name: str | None = None
) -> Digits:
    """Draw images from the pieces of a split; `name` is the split that they are called."""
    name = name or split
    rng = np.random.default_rng([seed, _CODES[name]])
    drawn = [_draw_image(*group, split, rng) for group in groups]
    pixels, digit_masks, thing_masks = map(np.stack, zip(*drawn, strict=True))
    table = pd.DataFrame(groups, columns=["class_name", "background", "thing"])
    table.insert(0, "id", [f"{name}-{number:05d}" for number in range(len(groups))])
    return Digits(name, pixels, digit_masks, thing_masks, table)


def _draw_image(
    class_name: str, background: str, thing: str, split: Split, rng: np.random.Generator
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Draw an image; also its mask of the digit, and of the visible part of the thing."""
    image = cut_piece(background, split, SIDE_PX, rng).copy()
    piece = cut_piece(thing, split, THING_PX, rng)
    near, far = _MARGIN_PX, SIDE_PX - THING_PX - _MARGIN_PX
    top, left = (near, far)[rng.integers(2)], (near, far)[rng.integers(2)]
    window = slice(top, top + THING_PX), slice(left, left + THING_PX)
    thing_mask = np.zeros((SIDE_PX, SIDE_PX), np.bool_)
    thing_mask[window] = _disc()
    image[window][_disc()] = piece[_disc()]

    # The digit comes last, and hides a part of the thing.
    samples = digits(KINDS[class_name], split)
    digit = samples[rng.integers(len(samples))]
    middle = (SIDE_PX - DIGIT_PX) // 2
    top, left = (middle + rng.integers(-_JITTER_PX, _JITTER_PX, 2, endpoint=True)).tolist()
    window = slice(top, top + DIGIT_PX), slice(left, left + DIGIT_PX)
    digit_mask = np.zeros((SIDE_PX, SIDE_PX), np.bool_)
    digit_mask[window] = digit >= _INK
    image[window][digit >= _INK] = digit[digit >= _INK, np.newaxis]
    return image, digit_mask, thing_mask & ~digit_mask


def _disc() -> npt.NDArray[np.bool_]:
    x = np.arange(THING_PX) - (THING_PX - 1) / 2
    return x[:, np.newaxis] ** 2 + x**2 <= (THING_PX / 2) ** 2
