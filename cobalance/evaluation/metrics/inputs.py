"""Tables that metrics take: how the file of each is read and checked."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.base import Declaration
from cobalance.evaluation.groups import check_groups
from cobalance.evaluation.predictions import read_predictions
from cobalance.evaluation.table_files import lower_names, number_cells, read_frame

_COLUMNS = (
    "image",
    "class_name",
    "method",
    "seed",
    "n",
    "object",
    "group",
    "before",
    "after",
    "score",
    "query",
    "k",
    "share",
    "parity",
    "attribute",
    "task",
    "training",
    "test",
    "predicted",
    "predicted_attribute",
    "caption",
)
"""Columns of tables that files may write with capitals, too."""


def read_table(path: Path) -> pd.DataFrame:
    """Read a table of any columns.

    Raises
    ------
    InputError
        It cannot be read.
    """
    return lower_names(read_frame(path), _COLUMNS)


def read_groups(path: Path) -> pd.DataFrame:
    """Read groups of images, as `cobalance.evaluation.groups.check_groups` gives them."""
    frame = lower_names(read_frame(path, "groups"), ("image",))
    if "image" not in frame:
        frame = frame.rename(columns={"image_id": "image", "id": "image"})
    return check_groups(frame, str(path))


def read_vectors(path: Path) -> pd.DataFrame:
    """Read embeddings: numbers in all columns but the image's, which CSV has as text."""
    frame = read_table(path)
    for column in frame.columns.drop("image", errors="ignore"):
        frame[column] = number_cells(frame, column, str(path))
    return frame


@dataclass(frozen=True)
class Table(Declaration):
    """The declaration of a table that metrics take, by its name.

    Its purpose is what a row and the columns are. A metric takes a new kind of table once that is
    declared: whoever scores can then give it, as a file or as what `read` returns.

    Parameters
    ----------
    read : callable
        Reads and checks a file; raises InputError. What it returns is what metrics get.
    """

    read: Callable[[Path], Any] = read_table


PLUGINS = (
    Table(
        "predictions",
        "Predictions for images, of any number of methods and seeds.",
        read_predictions,
    ),
    Table(
        "edited",
        "Predictions for the same images after an edit that should not change them.",
        read_predictions,
    ),
    Table("groups", "`image`, and a column for each shortcut or attribute.", read_groups),
    Table(
        "training",
        "The same columns for the training images, and `class_name` or `y_<class>` where a metric "
        "asks for labels.",
    ),
    Table(
        "attributes", "Of generated images: `image`, and a column for each category of attributes."
    ),
    Table("real_attributes", "The same of real images."),
    Table("captions", "`image` and `caption`, generated, any number of rows an image."),
    Table("references", "The same by people."),
    Table("embeddings", "`image`, and a column of numbers for each dimension.", read_vectors),
    Table("real_embeddings", "The same of real images.", read_vectors),
    Table("texts", "The same of texts, and the image of each.", read_vectors),
    Table("table", "Figures, such as a paper's, in the metric's own columns."),
    Table(
        "detections",
        "What a detector found: `image`, `concept`, `bbox` (COCO's) and `score`.",
    ),
    Table(
        "objects",
        "What is there: `image`, `concept`, `bbox` and `iscrowd`; without `bbox` what else the "
        "image shows.",
    ),
)
