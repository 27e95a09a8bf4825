"""Tables of predictions for tests."""

from collections.abc import Sequence

import pandas as pd

from cobalance.evaluation.predictions import check_predictions

CELLS = (
    ("common", "common"),
    ("uncommon", "common"),
    ("common", "uncommon"),
    ("uncommon", "uncommon"),
)


def cars(urban: Sequence[int], country: Sequence[int], size: int = 100) -> pd.DataFrame:
    """Counts of two classes with two shortcuts: how many of each cell are right."""
    rows = []
    for name, other, right in (("urban", "country", urban), ("country", "urban", country)):
        for (background, concept), hits in zip(CELLS, right, strict=True):
            cell = {"class_name": name, "background": background, "object": concept}
            rows.append({**cell, "predicted": name, "n": hits})
            rows.append({**cell, "predicted": other, "n": size - hits})
    return check_predictions(pd.DataFrame(rows))


def frame_f() -> pd.DataFrame:
    """100 images in each group: common, background rare, object rare, both rare."""
    return cars((98, 84, 74, 40), (96, 82, 72, 42))


def background_reader() -> pd.DataFrame:
    """Predictions that follow the background alone."""
    return cars((100, 0, 100, 0), (100, 0, 100, 0))


def one_row_an_image(counts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The same predictions with a row for each image, and the groups as a table of their own."""
    rows = counts.loc[counts.index.repeat(counts["n"].astype(int))].drop(columns="n")
    rows["image"] = [f"{row}.jpg" for row in range(len(rows))]
    shortcuts = ["background", "object"]
    groups = rows[["image", *shortcuts]].sample(frac=1, random_state=1)
    return check_predictions(rows.drop(columns=shortcuts)), groups
