"""How much accuracy is lost where shortcuts are uncommon."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from cobalance.base import BoolArray, FloatArray, InputError, OptionError
from cobalance.evaluation.groups import Grouping
from cobalance.evaluation.metrics.group_accuracy import AccuracyOptions, accuracy_of_runs
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, stack
from cobalance.evaluation.metrics.tables import number_column
from cobalance.evaluation.shortcuts import COMMON, UNCOMMON

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
        From `cobalance.evaluation.predictions.check_predictions`.
    groups : pandas.DataFrame or None
        As `cobalance.evaluation.groups.group_rows` takes them. Only shortcuts count, not other
        attributes; images where a shortcut is ``none`` take no part.
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
    >>> from cobalance.evaluation.predictions import check_predictions
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
        # All runs have the same groups, and so the same shortcuts.
        shortcuts = run.grouping.need_shortcuts("shortcut_gaps")
        if rates is None:
            if id == "common":
                training = dict.fromkeys(shortcuts, 1.0)
            rates = training_rates(training, shortcuts)
        scores += [
            run.score_sum(term.metric, term.group, term.coefficients, term.needs)
            for term in gap_sums(run.grouping, run.n, rates)
        ]
    return stack(scores)


@dataclass(frozen=True, eq=False)
class GapSum:
    """In-distribution accuracy or a gap, as a sum over groups.

    Parameters
    ----------
    coefficients : float64 array, shape (n_groups,)
        Of the groups' accuracies.
    needs : bool array, shape (n_groups,)
        Groups without which it is not defined.
    """

    metric: str
    group: str
    coefficients: FloatArray
    needs: BoolArray


def gap_sums(grouping: Grouping, n: FloatArray, rates: Mapping[str, float]) -> list[GapSum]:
    """In-distribution accuracy, then the gaps, for groups of class and shortcuts alone.

    Parameters
    ----------
    n : float64 array, shape (n_groups,)
        Images of each group; classes without any are left out of means.
    rates : mapping of str to float
        Share of the images of a distribution in which each shortcut is common.
    """
    class_names, shortcuts = grouping.table["class_name"], grouping.shortcuts
    has_images = class_names.isin(class_names[n > 0]).to_numpy()
    cells = {
        uncommon: grouping.in_state(*uncommon) & has_images
        for size in range(len(shortcuts) + 1)
        for uncommon in combinations(shortcuts, size)
    }
    means = {cell: groups / max(groups.sum(), 1) for cell, groups in cells.items()}

    # Each cell of shortcuts weighs as much as in a training set where they are independent.
    reference = np.zeros(len(n))
    for cell, mean in means.items():
        shares = [1 - rates[name] if name in cell else rates[name] for name in shortcuts]
        reference += np.prod(shares) * mean

    sums = [GapSum("id_accuracy", "", reference, reference != 0)]
    for cell, mean in means.items():
        if cell:
            needs = cells[cell] | (reference != 0)
            sums.append(GapSum("shortcut_gaps", " + ".join(cell), mean - reference, needs))
    return sums


def common_rates(training: pd.DataFrame, shortcuts: list[str]) -> dict[str, float]:
    """Share of training images in which each shortcut is common, of the images that have it.

    Raises
    ------
    InputError
        A shortcut has no column, or no training image has it.
    """
    n = number_column(training, "n", "training") if "n" in training else np.ones(len(training))
    rates = {}
    for name in shortcuts:
        if name not in training:
            columns = ", ".join(map(str, training))
            reason = f"has no column of the shortcut {name}; its columns: {columns}"
            raise InputError("training", None, reason, "Add it, or leave it out of the groups.")

        # Images without the shortcut do not count.
        common = float(n[training[name] == COMMON].sum())
        total = common + float(n[training[name] == UNCOMMON].sum())
        if not total:
            reason = f"no image has the shortcut {name}, common or uncommon"
            raise InputError("training", None, reason, "Check the groups of the training images.")
        rates[name] = common / total
    return rates


def training_rates(
    training: pd.DataFrame | Mapping[str, float] | None, shortcuts: list[str]
) -> Mapping[str, float]:
    """The share of training images in which each shortcut is common, computed or as given."""
    if training is None:
        raise OptionError(
            "shortcut_gaps weighs groups by their share in training. Give the groups of the "
            'training images or the rates of the shortcuts, or choose id = "common".'
        )

    if isinstance(training, pd.DataFrame):
        return common_rates(training, shortcuts)

    for name in shortcuts:
        if not 0 <= training.get(name, -1) <= 1:
            rates = ", ".join(f"{key} = {value}" for key, value in training.items())
            raise OptionError(
                f"the shortcut {name} needs the share of training images in which it is common, "
                f"from 0 to 1; given: {rates or 'none'}."
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
        inputs.get("groups"),
        options.rates or inputs.get("training"),
        id=options.id,
        confidence=options.confidence,
    )


PLUGIN = MetricPlugin(
    "shortcut_gaps",
    "In-distribution accuracy, and how far accuracy falls where shortcuts are uncommon.",
    options=GapOptions,
    takes=("predictions",),
    may_take=("groups", "training"),
    compute=_compute,
)
