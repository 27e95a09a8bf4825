"""Summary tables of annotations that were read."""

import numpy as np
import pandas as pd

from cobalance.graph.errors import Words, render
from cobalance.graph.records import Annotations
from cobalance.ingest.problems import SkippedRecord


def images_by_class(annotations: Annotations) -> pd.DataFrame:
    """Images of each class, and how many of them have no concept.

    Examples
    --------
    >>> from cobalance.graph.records import ImageRecord, Mention
    >>> records = [ImageRecord("1", "cat", (Mention("sofa"),)), ImageRecord("2", "cat")]
    >>> images_by_class(Annotations.from_records(records)).to_dict("records")
    [{'class': 'cat', 'images': 2, 'without concept': 1}]
    """
    has_concept = np.zeros(len(annotations.images), dtype=bool)
    has_concept[annotations.mentions["image"].to_numpy()] = True
    lacks = pd.Series(~has_concept).groupby(annotations.images["class_name"], observed=True)
    counted = lacks.agg(["size", "sum"]).reset_index()
    counted = counted.set_axis(["class", "images", "without concept"], axis=1)
    return counted.astype({"class": object, "images": int, "without concept": int})


def images_by_concept(annotations: Annotations) -> pd.DataFrame:
    """Images with each concept, the most frequent first.

    Examples
    --------
    >>> from cobalance.graph.records import ImageRecord, Mention
    >>> record = ImageRecord("1", "cat", (Mention("sofa"), Mention("sofa"), Mention("toy")))
    >>> images_by_concept(Annotations.from_records([record])).to_dict("records")
    [{'concept': 'sofa', 'images': 1}, {'concept': 'toy', 'images': 1}]
    """
    mentions = annotations.mentions
    codes = mentions["concept"].cat.codes.to_numpy()
    names = mentions["concept"].cat.categories
    pairs = pd.unique(mentions["image"].to_numpy() * len(names) + codes)
    images = np.bincount(pairs % max(len(names), 1), minlength=len(names))
    frame = pd.DataFrame({"concept": names.astype(object), "images": images})
    return frame.sort_values(["images", "concept"], ascending=[False, True], ignore_index=True)


def first_images(annotations: Annotations, most: int = 10) -> pd.DataFrame:
    """First images: id, class, concepts, split, uri."""
    mentions = annotations.mentions
    first = mentions[mentions["image"] < most]
    named = first.groupby("image")["concept"].agg(lambda names: list(dict.fromkeys(names)))
    images = annotations.images.head(most)
    return pd.DataFrame(
        {
            "id": images["id"].astype(object),
            "class": images["class_name"].astype(object),
            "concepts": [named.get(row, []) for row in range(len(images))],
            "split": images["split"].astype(object),
            "uri": images["uri"].astype(object),
        }
    )


def skipped_records(annotations: Annotations, most: int = 1000, words: Words = str) -> pd.DataFrame:
    """Malformed records that were skipped: file, record, reason, remedy."""
    rows = [
        (error.file, error.record, render(error.reason, words), render(error.remedy, words))
        for message in annotations.skipped[:most]
        if isinstance(message, SkippedRecord) and (error := message.error)
    ]
    return pd.DataFrame(rows, columns=["file", "record", "reason", "remedy"])
