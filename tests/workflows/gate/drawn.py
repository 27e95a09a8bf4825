"""Drawn images for tests of gates."""

import numpy as np

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.workflows.gate.subjects import Subject, from_annotations

CLASSES = ("farm", "town")


def records(
    seed: int,
    n: int,
    rates: dict[str, tuple[float, float]],
    *,
    first: int = 0,
    split: str | None = None,
) -> list[ImageRecord]:
    """`n` images of each class, numbered from `first`; `rates` are of each concept by class."""
    rng = np.random.default_rng(seed)
    images = []
    for code, class_name in enumerate(CLASSES):
        for number in range(first, first + n):
            shown = [name for name, of_class in rates.items() if rng.random() < of_class[code]]
            mentions = tuple(map(Mention, shown))
            images.append(ImageRecord(f"{class_name} {number}", class_name, mentions, split))
    return images


def subject(images: list[ImageRecord], name: str = "cars.csv") -> Subject:
    return from_annotations(Annotations.from_records(images), name)
