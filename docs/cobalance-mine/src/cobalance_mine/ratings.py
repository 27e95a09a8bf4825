"""What people think of images, and the mean of it."""

from pathlib import Path

import pandas as pd

from cobalance.base.options import Options
from cobalance.evaluation.metrics.inputs import Table, read_table
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin
from cobalance.evaluation.metrics.tables import mean_score, number_column, score_rows


def read_ratings(path: Path) -> pd.DataFrame:
    """Ratings of images, none below 1."""
    frame = read_table(path)
    return frame.assign(rating=number_column(frame, "rating", str(path), least=1))


def _compute(inputs: Inputs, _: Options) -> pd.DataFrame:
    return score_rows([mean_score("mean_rating", inputs.need("ratings")["rating"])])


PLUGINS = (
    Table("ratings", "What people think of images: `image`, and `rating`, from 1.", read_ratings),
    MetricPlugin("mean_rating", "Mean of people's ratings.", takes=("ratings",), compute=_compute),
)
