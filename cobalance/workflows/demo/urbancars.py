"""Demonstration data: the UrbanCars training annotations, which come with the project."""

import csv
from collections.abc import Iterator
from importlib.resources import files

from cobalance.base.records import ImageRecord, Mention

NAME = "urbancars"
LEFT_OUT = "street"  # the background that the authors' published files leave out (76 images)


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
    table = (
        files("cobalance.workflows.demo")
        .joinpath("urbancars_counts.csv")
        .read_text(encoding="utf-8")
    )
    for row in csv.DictReader(table.splitlines()):
        concepts = [row["background"], row["cooccurring_object"]]
        if not street:
            concepts = [name for name in concepts if name != LEFT_OUT]
        mentions = tuple(Mention(name) for name in concepts)
        for _ in range(int(row["count"])):
            yield ImageRecord(f"uc-{number:05d}", row["class"], mentions, split="train")
            number += 1
