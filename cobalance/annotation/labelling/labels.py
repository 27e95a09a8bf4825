"""Labels of images from their scores, by the rule of a run (GELDA, section 3.2)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from cobalance.annotation.annotators.annotator import Floats
from cobalance.annotation.labelling.score_files import ScoreFiles
from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.base import BoolArray, FloatArray


def image_level(scores: FloatArray, base: FloatArray, *, multi: bool = False) -> BoolArray:
    """Which attributes of a category images show, by their scores and that of a base caption.

    The attribute with the highest score is present if it is above the base caption's; the first of
    several with the same.

    Parameters
    ----------
    scores : float array, shape (images, attributes)
        Of one category. NaN is never present.
    base : float array, shape (images,)
        Scores of the caption that names the domain alone.
    multi : bool
        Whether every attribute above the base caption is present.

    Returns
    -------
    bool array, shape (images, attributes)
    """
    above: BoolArray = scores > base[:, None]
    if multi or not scores.shape[1]:
        return above
    # Of a category, an image shows the best attribute alone.
    best = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)
    above &= np.arange(scores.shape[1]) == best[:, None]
    return above


def present(scores: Floats, settings: LabelSettings) -> BoolArray:
    """Which of a run's attributes images show.

    Parameters
    ----------
    scores : float array, shape (images, texts)
        Of `LabelSettings.texts`; NaN where there is none.

    Returns
    -------
    bool array, shape (images, attributes)
    """
    attributes = settings.attributes
    if settings.rule == "threshold":
        # The paper's α, for objects.
        limits = [
            settings.thresholds.get(attribute.concept, settings.threshold)
            for attribute in attributes
        ]
        return scores >= np.array(limits, np.float32)

    is_shown = np.zeros((len(scores), len(attributes)), bool)
    categories = np.array([attribute.category for attribute in attributes], dtype=object)
    for category in dict.fromkeys(categories):
        columns = np.flatnonzero(categories == category)
        is_shown[:, columns] = image_level(
            scores[:, columns].astype(np.float64),
            # The last score is that of the base caption.
            scores[:, -1].astype(np.float64),
            multi=settings.multi,
        )
    return is_shown


def read_labels(files: ScoreFiles, settings: LabelSettings) -> pd.DataFrame:
    """Read a run's labels: ``image``, ``concept`` and ``score``, each pair once.

    Attributes that become the same concept count as one, with the higher score. Where scores are
    missing, OutputMissingError is raised.
    """
    concepts = np.array([attribute.concept for attribute in settings.attributes], dtype=object)
    frames = [pd.DataFrame({"image": [], "concept": [], "score": []})]
    for ids, scores in files.read_scores(settings.chunks, len(settings.texts)):
        rows, columns = np.nonzero(present(scores.matrix, settings))
        frames.append(
            pd.DataFrame(
                {
                    "image": np.array(ids, dtype=object)[rows],
                    "concept": concepts[columns],
                    "score": scores.matrix[rows, columns].astype(np.float64),
                }
            )
        )

    # pandas will no longer take an empty frame's types into account.
    labels = pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True)
    highest = labels.groupby(["image", "concept"], sort=True)["score"].max().reset_index()
    return highest.astype({"image": object, "concept": object, "score": np.float64})


def label_summary(files: ScoreFiles, settings: LabelSettings) -> pd.DataFrame:
    """How many images have each attribute, and how many could not be read.

    Returns
    -------
    pandas.DataFrame
        ``category``, ``concept``, ``caption``, ``images`` (with the attribute), ``share`` (of those
        read, NaN where none was), ``unreadable``.
    """
    counts = np.zeros(len(settings.attributes), np.int64)
    total = unreadable = 0
    for ids, scores in files.read_scores(settings.chunks, len(settings.texts)):
        counts += present(scores.matrix, settings).sum(axis=0)
        total += len(ids)
        # Without texts an image has no scores, all of which would be NaN.
        if len(settings.texts):
            unreadable += int(np.isnan(scores.matrix).all(axis=1).sum())

    read = total - unreadable
    names = ["category", "concept", "caption"]
    rows = [
        (attribute.category, attribute.concept, attribute.caption)
        for attribute in settings.attributes
    ]
    return pd.DataFrame(rows, columns=names).assign(
        images=counts,
        share=counts / read if read else np.full(len(counts), np.nan),
        unreadable=unreadable,
    )


class Example(NamedTuple):
    """An image to look at: ``high``, ``middling`` or ``low``; its id and score; its best box.

    The box is x, y, width and height in pixels of the upright image, NaN where the model has none.
    """

    rank: str
    id: str
    score: float
    x_px: float
    y_px: float
    w_px: float
    h_px: float


def examples(
    files: ScoreFiles, settings: LabelSettings, attribute: int, n: int = 4
) -> Iterator[Example]:
    """Images with high, middling and low scores of an attribute, for people to look at.

    Yields
    ------
    Example
        `n` of each rank at most, no image twice; equal scores go by the order of the images.
    """
    ids: list[str] = []
    values: list[Floats] = [np.empty(0, np.float32)]
    boxes: list[Floats] = [np.empty((0, 4), np.float32)]
    for names, scores in files.read_scores(settings.chunks, len(settings.texts)):
        ids += names
        values.append(scores.matrix[:, attribute])
        no_boxes = np.full((len(names), 4), np.nan, np.float32)
        boxes.append(no_boxes if scores.boxes is None else scores.boxes[:, attribute])

    score, box = np.concatenate(values), np.concatenate(boxes)
    order = np.argsort(-np.where(np.isnan(score), -np.inf, score), kind="stable")
    order = order[: int((~np.isnan(score)).sum())]

    # Images are shown once: few ones are high before they are low, and low before middling.
    high, low = order[:n], order[n:][-n:]
    rest = order[len(high) : len(order) - len(low)]
    start = max((len(rest) - n) // 2, 0)
    for rank, chosen in (("high", high), ("middling", rest[start : start + n]), ("low", low)):
        for row in chosen.tolist():
            yield Example(rank, ids[row], float(score[row]), *map(float, box[row]))
