"""How sure a model is of what it predicts."""

import numpy as np
import pandas as pd
from pydantic import Field

from cobalance.base.errors import OptionError
from cobalance.base.options import Options
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, score_frame, stack
from cobalance.evaluation.predictions import PROBABILITY, class_columns, runs


class ConfidenceOptions(Options):
    """Options of the metric sure_share.

    Parameters
    ----------
    above : float
        The probability above which a model is sure.
    """

    above: float = Field(default=0.9, ge=0, le=1)


def sure_share(predictions: pd.DataFrame, above: float = 0.9) -> pd.DataFrame:
    """Share of images whose most probable class has more than a probability, of each run."""
    names = [PROBABILITY + name for name in class_columns(predictions)]
    if not names:
        raise OptionError("the predictions have no probabilities. Add a column p_<class> for each.")
    scores = []
    for method, seed, rows in runs(predictions):
        images = rows["n"].to_numpy()
        sure = rows[names].max(axis=1).to_numpy() > above
        share = np.average(sure, weights=images) if images.sum() else np.nan
        scores.append(score_frame("sure_share", "", share, n=images.sum(), run=(method, seed)))
    return stack(scores)


def _compute(inputs: Inputs, options: ConfidenceOptions) -> pd.DataFrame:
    return sure_share(inputs.need("predictions"), options.above)


PLUGINS = (
    MetricPlugin(
        "sure_share",
        "Share of images that the model is sure of.",
        options=ConfidenceOptions,
        takes=("predictions",),
        compute=_compute,
    ),
)
