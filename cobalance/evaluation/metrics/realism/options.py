"""Options of realism scores, and shared parts: prompts, batches, the head of linear layers.

No weights are downloaded by default, as each has terms of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field

from cobalance.base import JobBlockedError, OptionError, Options, torch
from cobalance.evaluation.metrics.metric import ImageSet, Inputs
from cobalance.evaluation.metrics.tables import captions_by_image, mean_score, score_rows
from cobalance.vision import ImageArray, fill

# The layers between these are dropout, which has no weights.
_LAYERS = (0, 2, 4, 6, 7)
Floats = npt.NDArray[np.float64]


class WeightOptions(Options):
    """Options of a score whose weights are one file.

    Parameters
    ----------
    weights : str
        Path of the published weights, or of the same tensors as safetensors.
    sha256 : str or None
        Their digest; without one only safetensors are read.
    device : str
        A device of torch, or ``auto`` for a GPU if there is one.
    batch_size : int
        Images per batch; fewer need less memory.
    """

    weights: str = ""
    sha256: str | None = None
    device: str = "auto"
    batch_size: int = Field(default=16, ge=1, le=1024)


def need(metric: str, options: Options, *names: str) -> None:
    """Raise OptionError for the first of some options that is not given."""
    for name in names:
        if not getattr(options, name):
            raise OptionError(
                f"The metric {metric} downloads nothing by itself, and {name} is not given. Set "
                f"{metric}.{name}; the documentation of metrics says where it is from."
            )


def prompts_of(inputs: Inputs) -> list[str]:
    """The prompt of each image: its first caption.

    Raises
    ------
    OptionError
        An image has none.
    """
    images, captions = _images(inputs), captions_by_image(inputs.need("captions"), "captions")
    without = [name for name in images.names if name not in captions]
    if without:
        raise OptionError(
            f"{len(without):,} of {len(images):,} images have no caption, such as {without[0]!r}. "
            "Give one of each, as this score is of image and prompt."
        )
    return [captions[name][0] for name in images.names]


def mean_of(
    metric: str,
    inputs: Inputs,
    batch_size: int,
    score: Callable[[Sequence[ImageArray], slice], Floats],
) -> pd.DataFrame:
    """Mean of a score over images with its interval; `score` takes a batch's pixels and rows."""
    images, values = _images(inputs), []
    for start in range(0, len(images), batch_size):
        rows = slice(start, min(start + batch_size, len(images)))
        values.append(score(images.read(range(rows.start, rows.stop)), rows))
    return score_rows([mean_score(metric, np.concatenate(values))])


def _images(inputs: Inputs) -> ImageSet:
    return cast("ImageSet", inputs.images)


def linear_head(weights: Mapping[str, Any], path: str) -> Any:
    """Five linear layers without anything between them, as aesthetic predictor and ImageReward.

    Raises
    ------
    JobBlockedError
        The weights are of other layers.
    """
    parts = "weight", "bias"
    expected = {f"layers.{number}.{part}" for number in _LAYERS for part in parts}
    if set(weights) != expected:
        odd = min(set(weights) ^ expected)
        raise JobBlockedError(
            f"The weights {path} do not have the five layers of the published head: {odd} is "
            f"{'unknown' if odd in weights else 'missing'}. Give those of this score."
        )

    layers, renamed = [], {}
    for position, number in enumerate(_LAYERS):
        n_outputs, n_inputs = weights[f"layers.{number}.weight"].shape
        layers.append(torch.nn.Linear(n_inputs, n_outputs))
        for part in parts:
            renamed[f"{position}.{part}"] = weights[f"layers.{number}.{part}"]
    return fill(torch.nn.Sequential(*layers), renamed, path)
