"""Incidences of realistic shape from a seed: images have topics, classes lean to concepts."""

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.counting.incidence import Incidence

CHUNK = 250_000  # images drawn at once
LONGEST = 60  # concepts drawn for an image at most

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """What to draw.

    Parameters
    ----------
    images, concepts, classes : int
        How many of each.
    mean : float
        Concepts drawn per image on average, before repeated ones collapse.
    dispersion : float
        Of the negative binomial number of concepts: a small one gives many long and short rows.
    topics : int
        Groups of concepts that occur together.
    topic_share : float
        Share of an image's concepts that come from its topic; the others come from its class.
    seed : int
        Of everything.
    """

    images: int
    concepts: int
    classes: int = 2
    mean: float = 4.6
    dispersion: float = 2.0
    topics: int = 12
    topic_share: float = 0.6
    seed: int = 1


def generate(shape: Shape) -> Incidence:
    """Draw an incidence, chunk by chunk, so that memory beyond the result stays small."""
    rng = np.random.default_rng(shape.seed)
    model = _Model.draw(shape, rng)
    columns: tuple[list[Any], ...] = ([], [], [])  # row lengths, concept codes, classes
    for first in range(0, shape.images, CHUNK):
        some = model.images(min(CHUNK, shape.images - first), rng)
        for column, values in zip(columns, some, strict=True):
            column.append(values)
    lengths, indices, labels = (np.concatenate(column) for column in columns)
    return Incidence(
        np.append(0, np.cumsum(lengths)),
        indices,
        labels,
        tuple(f"concept{code:05d}" for code in range(shape.concepts)),
        tuple(f"class{code:04d}" for code in range(shape.classes)),
    )


@dataclass(frozen=True)
class _Model:
    shape: Shape
    class_share: FloatArray  # (classes,)
    concept_cdf: FloatArray  # (classes, concepts)
    topic_cdf: FloatArray  # (classes, topics)
    groups: IntArray  # (topics, group size)
    group_cdf: FloatArray  # (group size,)

    @classmethod
    def draw(cls, shape: Shape, rng: np.random.Generator) -> "_Model":
        """Draw the rates that all images share."""
        share = np.sort(rng.dirichlet(np.full(shape.classes, 8.0)))[::-1]
        zipf = 1 / np.arange(1, shape.concepts + 1)
        lean = np.exp(rng.normal(0, 0.7, (shape.classes, shape.concepts)))
        topic = 0.7 * rng.dirichlet(np.full(shape.topics, 0.8), shape.classes) + 0.3 / shape.topics
        width = min(shape.concepts, max(6, int(1.6 * shape.concepts / shape.topics)))
        popular = np.sqrt(zipf) / np.sqrt(zipf).sum()
        groups = [
            rng.choice(shape.concepts, width, replace=False, p=popular) for _ in range(shape.topics)
        ]
        return cls(
            shape,
            share,
            _cdf(zipf * lean),
            _cdf(topic),
            np.array(groups),
            _cdf(np.arange(1, width + 1) ** -0.8),
        )

    def images(
        self, number: int, rng: np.random.Generator
    ) -> tuple[IntArray, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Draw images: row lengths, concept codes, classes."""
        shape = self.shape
        label = rng.choice(shape.classes, number, p=self.class_share)
        spread = shape.dispersion / (shape.dispersion + shape.mean - 1)
        drawn = 1 + rng.negative_binomial(shape.dispersion, spread, number)
        drawn = np.minimum(drawn, LONGEST)
        image = np.repeat(np.arange(number), drawn)
        topic = _choose(self.topic_cdf, label, rng)
        from_topic = self.groups[
            topic[image], np.searchsorted(self.group_cdf, rng.random(len(image)))
        ]
        from_class = _choose(self.concept_cdf, label[image], rng)
        concept = np.where(rng.random(len(image)) < shape.topic_share, from_topic, from_class)
        row, column = np.divmod(np.unique(image * shape.concepts + concept), shape.concepts)
        return (
            np.bincount(row, minlength=number),
            column.astype(np.int32),
            label.astype(np.int32),
        )


def _cdf(weights: npt.NDArray[np.floating]) -> FloatArray:
    total = np.cumsum(weights, axis=-1, dtype=np.float64)
    total /= total[..., -1:]
    return total


def _choose(cdf: FloatArray, row: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw one column for each given row of a table of cumulative probabilities."""
    chosen = np.empty(len(row), dtype=np.int64)
    for one in range(len(cdf)):
        here = np.flatnonzero(row == one)
        chosen[here] = np.searchsorted(cdf[one], rng.random(len(here)))
    return chosen


def load(shape: Shape, folder: Path) -> Incidence:
    """Give the incidence of a shape from `folder`, drawn and written there the first time."""
    key = zlib.crc32(repr(shape).encode())
    file = folder / f"{shape.images}x{shape.concepts}x{shape.classes}-{key:08x}.npz"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        save(generate(shape), file)
    with np.load(file) as saved:
        return Incidence(
            saved["indptr"],
            saved["indices"],
            saved["labels"],
            tuple(saved["concepts"].tolist()),
            tuple(saved["classes"].tolist()),
        )


def save(incidence: Incidence, file: Path) -> None:
    """Write an incidence as arrays."""
    np.savez(
        file,
        indptr=incidence.indptr,
        indices=incidence.indices,
        labels=incidence.labels,
        concepts=np.array(incidence.concepts),
        classes=np.array(incidence.classes),
    )
