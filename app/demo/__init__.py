"""The UrbanCars training annotations, which the project carries, as records."""

import csv
from collections.abc import Iterator
from importlib.resources import files

from graph.records import ImageRecord, Mention

NAME = "urbancars"
LEFT_OUT = "street"  # the background that the authors' published files leave out (76 images)


def urbancars(*, street: bool = False) -> Iterator[ImageRecord]:
    """Give one record for each of the 8,000 training images of UrbanCars.

    Each has a background and a co-occurring object as its concepts. The images themselves are
    not here: the counts come from the metadata that the authors of ConBias publish (MIT), see
    ``app/demo/SOURCE.md``.

    Parameters
    ----------
    street : bool
        Whether the background ``street`` is a concept. The authors leave it out; the images that
        have it keep their object.
    """
    number = 0
    table = files("app.demo").joinpath("urbancars_counts.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(table.splitlines()):
        concepts = [row["background"], row["cooccurring_object"]]
        if not street:
            concepts = [name for name in concepts if name != LEFT_OUT]
        mentions = tuple(Mention(name) for name in concepts)
        for _ in range(int(row["count"])):
            yield ImageRecord(f"uc-{number:05d}", row["class"], mentions, split="train")
            number += 1
