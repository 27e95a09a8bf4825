"""Demonstration data: the UrbanCars training annotations, which come with the project."""

import csv
from collections.abc import Iterator
from importlib.resources import files

from cobalance.base import ImageRecord, Mention

NAME = "urbancars"
LEFT_OUT = "street"
"""The background that the authors' published files leave out (76 images)."""


def urbancars(*, street: bool = False) -> Iterator[ImageRecord]:
    """Records of the 8,000 training images of UrbanCars, without the images themselves.

    The concepts of each are its background and its co-occurring object. The counts come from the
    metadata that the authors of ConBias publish (MIT), see ``SOURCE.md`` beside this file.

    Parameters
    ----------
    street : bool
        Keep the background ``street``, which the authors leave out, as a concept. Images with it
        keep their object either way.
    """
    number = 0
    file = files("cobalance.workflows.demo").joinpath("urbancars_counts.csv")
    table = file.read_text(encoding="utf-8")

    for row in csv.DictReader(table.splitlines()):
        mentions = [Mention(row["background"]), Mention(row["cooccurring_object"])]
        if row["background"] == LEFT_OUT and not street:
            del mentions[0]
        for _ in range(int(row["count"])):
            yield ImageRecord(f"uc-{number:05d}", row["class"], tuple(mentions), split="train")
            number += 1
