"""How much accuracy is lost where shortcuts are uncommon."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from evaluation.metrics.accuracy import AccuracyOptions, GroupAccuracy, accuracy_of_runs
from evaluation.metrics.metric import Inputs, MetricPlugin, stack
from evaluation.shortcuts import COMMON, UNCOMMON
from graph.arrays import BoolArray, FloatArray
from graph.errors import InputError, OptionError

Reference = Literal["training", "common"]


def shortcut_gaps(
    predictions: pd.DataFrame,
    groups: pd.DataFrame | None = None,
    training: pd.DataFrame | Mapping[str, float] | None = None,
    *,
    id: Reference = "training",  # noqa: A002
    confidence: float = 0.95,
) -> pd.DataFrame:
    """In-distribution accuracy, and how far accuracy falls below it where shortcuts are uncommon.

    Parameters
    ----------
    predictions : pandas.DataFrame
        From `evaluation.predictions.check_predictions`.
    groups : pandas.DataFrame or None
        As `evaluation.groups.group_rows` takes them. Only shortcuts count, not other attributes;
        images where a shortcut is ``none`` take no part.
    training : pandas.DataFrame, mapping of str to float, or None
        The same columns for training images (with ``n`` where a row stands for several), or the
        share of training images in which each shortcut is common. Not needed for ``id="common"``.
    id : str
        What the in-distribution accuracy is. ``"training"``: of a test set in which each shortcut
        is as common as in training, and shortcuts independent, as Whac-A-Mole's authors compute it
        (arXiv 2212.04825, section 3). ``"common"``: where all shortcuts are common, as ConBias
        describes it (section 4.3).

    Returns
    -------
    pandas.DataFrame
        Scores of each run: ``id_accuracy``, and ``shortcut_gaps`` for each combination of
        shortcuts, such as ``background + object``, which is negative where accuracy falls. The
        accuracy of a combination is the mean over classes that have test images. NaN where a class
        has no images of a combination that counts.

    Raises
    ------
    InputError, OptionError
        There is no shortcut, or no rate of one in training.

    Examples
    --------
    >>> from evaluation.predictions import check_predictions
    >>> table = check_predictions(pd.DataFrame({
    ...     "class_name": "urban", "background": ["common", "uncommon"],
    ...     "accuracy": [0.9, 0.5], "n": 100}))
    >>> shortcut_gaps(table, training={"background": 0.95})[["metric", "group", "value"]]
              metric       group  value
    0    id_accuracy               0.88
    1  shortcut_gaps  background  -0.38
    """
    scores = []
    rates: Mapping[str, float] | None = None
    for run in accuracy_of_runs(predictions, groups, confidence, "shortcuts"):
        shortcuts = run.grouping.need_shortcuts("shortcut_gaps")
        if rates is None:
            rates = dict.fromkeys(shortcuts, 1.0) if id == "common" else _rates(training, shortcuts)
        reference, gaps = gap_coefficients(run, rates)
        scores.append(run.combined("id_accuracy", "", reference))
        for uncommon, gap in gaps.items():
            needs = (gap != 0) | run.grouping.in_state(*uncommon) & present_classes(run)
            scores.append(run.combined("shortcut_gaps", " + ".join(uncommon), gap, needs))
    return stack(scores)


def gap_coefficients(
    run: GroupAccuracy, rates: Mapping[str, float]
) -> tuple[FloatArray, dict[tuple[str, ...], FloatArray]]:
    """In-distribution accuracy and gaps as sums over groups: the coefficients of each.

    Gaps are by the shortcuts that are uncommon.

    Parameters
    ----------
    rates : mapping of str to float
        Share of the images of a distribution in which each shortcut is common.
    """
    shortcuts = run.grouping.shortcuts
    present = present_classes(run)
    cells, weights = {}, {}
    for size in range(len(shortcuts) + 1):
        for uncommon in combinations(shortcuts, size):
            in_cell = run.grouping.in_state(*uncommon) & present
            cells[uncommon] = in_cell / max(in_cell.sum(), 1)
            weights[uncommon] = np.prod(
                [1 - rates[name] if name in uncommon else rates[name] for name in shortcuts]
            )
    reference = sum(weights[cell] * cells[cell] for cell in cells)
    gaps = {cell: cells[cell] - reference for cell in cells if cell}
    return np.asarray(reference, dtype=np.float64), gaps


def present_classes(run: GroupAccuracy) -> BoolArray:
    """Which groups are of a class that has test images."""
    class_names = run.grouping.table["class_name"]
    return class_names.isin(class_names[run.n > 0]).to_numpy()


def common_rates(training: pd.DataFrame, shortcuts: list[str]) -> dict[str, float]:
    """Share of training images in which each shortcut is common, without those that have none.

    Raises
    ------
    InputError
        A shortcut has no column, or no training image has it.
    """
    n = pd.to_numeric(training["n"]) if "n" in training else pd.Series(1.0, training.index)
    rates = {}
    for name in shortcuts:
        if name not in training:
            there = ", ".join(str(column) for column in training)
            reason = f"has no column of the shortcut {name}; its columns: {there}"
            raise InputError("training", None, reason, "Add it, or leave it out of the groups.")
        common = float(n[training[name] == COMMON].sum())
        total = common + float(n[training[name] == UNCOMMON].sum())
        if not total:
            reason = f"no image has the shortcut {name}, common or uncommon"
            raise InputError("training", None, reason, "Check the groups of the training images.")
        rates[name] = common / total
    return rates


def _rates(
    training: pd.DataFrame | Mapping[str, float] | None, shortcuts: list[str]
) -> Mapping[str, float]:
    if training is None:
        raise OptionError(
            "shortcut_gaps weighs groups by their share in training. Give the groups of the "
            'training images or the rates of the shortcuts, or choose id = "common".'
        )
    if isinstance(training, pd.DataFrame):
        return common_rates(training, shortcuts)
    for name in shortcuts:
        if not 0 <= training.get(name, -1) <= 1:
            given = ", ".join(f"{key} = {value}" for key, value in training.items())
            raise OptionError(
                f"the shortcut {name} needs the share of training images in which it is common, "
                f"from 0 to 1; given: {given or 'none'}."
            )
    return training


class GapOptions(AccuracyOptions):
    """Options of the metric shortcut_gaps.

    Parameters
    ----------
    id : str
        ``"training"`` for the accuracy with shortcuts as common as in training, ``"common"`` for
        that where all are common.
    rates : mapping of str to float
        Share of training images in which each shortcut is common, in place of their groups.
    """

    id: Reference = "training"
    rates: dict[str, float] = Field(default_factory=dict)


def _compute(inputs: Inputs, options: Any) -> pd.DataFrame:
    return shortcut_gaps(
        inputs.need("predictions"),
        inputs.groups,
        options.rates or inputs.training,
        id=options.id,
        confidence=options.confidence,
    )


PLUGINS = (
    MetricPlugin(
        "shortcut_gaps",
        "In-distribution accuracy, and how far accuracy falls where shortcuts are uncommon.",
        options=GapOptions,
        takes=("predictions",),
        may_take=("groups", "training"),
        compute=_compute,
    ),
)
