"""Leakage: how well groups can be told from predictions, beyond the labels themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import DataError, FloatArray, IntArray, check_known
from cobalance.evaluation.metrics import tables
from cobalance.evaluation.metrics.metric import score_frame, stack
from cobalance.evaluation.predictions import PROBABILITY
from cobalance.statistics import NORMAL_95, proportions

LeakageScore = Literal["confidence", "accuracy", "folded"]
Probabilities = pd.DataFrame | npt.ArrayLike


def leakage(
    model: Probabilities,
    groups: Sequence[Any] | npt.NDArray[Any] | None = None,
    *,
    data: Probabilities | None = None,
    score: LeakageScore = "confidence",
) -> pd.DataFrame:
    r"""Return the leakage of attackers that guess groups: from predictions minus from true labels.

    LK is the mean of f_g(y)·1[argmax f(y) = g]: the attacker's probability of the true group g
    where it is right, and 0 where it is wrong. The leakage is LK_M - LK_D, of an attacker that
    sees the model's predictions minus one that sees the labels of the data (Resampled Datasets,
    section 3.1, equation 7). Attackers are trained by
    `cobalance.evaluation.metrics.bias.label_leakage.label_leakage`.

    Parameters
    ----------
    model, data : frame or array, shape (n_images, n_groups)
        Each attacker's probabilities: a frame with the columns ``group`` and ``p_<group>``, and
        ``n`` where a row stands for several images; a frame with a column for each group; or an
        array, of shape (n_images,) with the probability of the second of two groups.
    groups : sequence, length n_images, optional
        True groups, where frames have no column ``group``: names, or columns of arrays from 0.
    score : {"confidence", "accuracy", "folded"}
        ``"accuracy"`` counts each right image as 1; ``"folded"`` is .5 + \|accuracy - .5\|, as
        Wang et al. [1]_ compute it, so that an attacker that is always wrong tells as much.

    Returns
    -------
    frame of scores
        ``leakage_model`` and ``attacker_accuracy_model``; with `data` also ``leakage_data``,
        ``attacker_accuracy_data`` and their difference ``leakage``. Intervals are of 95%: Wilson's
        of accuracies, else by the normal approximation, cut where no score can be, and paired over
        images for the difference; the folded score has none.

    Raises
    ------
    OptionError
        A probability is NaN or not between 0 and 1, a row does not add up to 1, or a group is
        unknown.

    Notes
    -----
    Of equal probabilities the first group is guessed.

    References
    ----------
    .. [1] Wang, T. et al., *Balanced datasets are not enough* (ICCV 2019), section 3, and their
       ``natural_leakage.py``.

    Examples
    --------
    Right with .9, .6 and .8, and once wrong:

    >>> found = leakage([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3]], [0, 0, 1, 1])
    >>> found.set_index("metric")["value"].to_dict()
    {'leakage_model': 0.575, 'attacker_accuracy_model': 0.75}
    """
    check_known("score", [score], get_args(LeakageScore))
    attacks = {"model": _read(model, groups, "model")}
    if data is not None:
        attacks["data"] = _read(data, groups, "data")

    scores, estimates = [], {}
    for name, attack in attacks.items():
        estimates[name] = attack.estimate(score)
        scores.append(_score(f"leakage_{name}", *estimates[name], n=attack.total))
        right, low, high = map(float, proportions(attack.n @ attack.right, attack.total))
        accuracy = f"attacker_accuracy_{name}"
        scores.append(tables.Score(accuracy, "", right, low, high, attack.total))

    if data is not None:
        first, second = attacks["model"], attacks["data"]
        difference = estimates["model"][0] - estimates["data"][0]
        error = float(np.hypot(estimates["model"][1], estimates["data"][1]))
        # On the same images, the error is that of the paired differences.
        is_paired = np.array_equal(first.groups, second.groups)
        if score != "folded" and is_paired and np.array_equal(first.n, second.n):
            error = _standard_error(first.values(score) - second.values(score), first.n)
        scores.append(_score("leakage", difference, error, n=first.total, least=-1))
    return tables.score_rows(scores)


@dataclass(frozen=True, eq=False)
class _Attack:
    """Probabilities of an attacker, the columns of the true groups, and images a row."""

    probabilities: FloatArray
    groups: IntArray
    n: FloatArray

    @property
    def total(self) -> float:
        return float(self.n.sum())

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.probabilities.argmax(axis=1) == self.groups)

    def values(self, score: LeakageScore) -> FloatArray:
        if score != "confidence":
            return self.right.astype(np.float64)
        of_true_group = self.probabilities[np.arange(len(self.groups)), self.groups]
        return np.asarray(np.where(self.right, of_true_group, 0.0))

    def estimate(self, score: LeakageScore) -> tuple[float, float]:
        """The score and its standard error."""
        values = self.values(score)
        mean = float(self.n @ values) / self.total
        if score == "folded":
            chance = 1 / self.probabilities.shape[1]
            return chance + abs(mean - chance), float("nan")
        return mean, _standard_error(values, self.n)


def _standard_error(values: FloatArray, n: FloatArray) -> float:
    total = float(n.sum())
    mean = float(n @ values) / total
    return float(np.sqrt(n @ (values - mean) ** 2 / max(total - 1, 1) / total))


def _score(metric: str, value: float, error: float, *, n: float, least: float = 0) -> tables.Score:
    """A score from `least` to 1; `error` is its standard error."""
    if n <= 1:
        error = float("nan")
    low, high = np.clip([value - NORMAL_95 * error, value + NORMAL_95 * error], least, 1)
    return tables.Score(metric, "", value, low, high, n)


def _read(
    table: Probabilities, groups: Sequence[Any] | npt.NDArray[Any] | None, name: str
) -> _Attack:
    n: Any = None
    if isinstance(table, pd.DataFrame):
        frame = table
        if "group" in frame:
            groups, n = frame["group"].tolist(), frame.get("n")
            frame = frame.filter(regex=f"^{PROBABILITY}")
        names = frame.columns.astype(str).str.removeprefix(PROBABILITY).tolist()
        values = frame.to_numpy(np.float64)
    else:
        values = np.asarray(table, dtype=np.float64)
        if values.ndim == 1:
            values = np.column_stack([1 - values, values])
        names = list(map(str, range(values.shape[1])))
    if values.ndim != 2 or values.shape[1] < 2:
        raise DataError(
            f"{name} has the shape {values.shape}; give probabilities for at least two groups, in "
            "columns p_<group>."
        )
    _check(values, names, name)

    sizes = np.ones(len(values)) if n is None else np.asarray(n, dtype=np.float64)
    attack = _Attack(values, _group_columns(groups, names, len(values), name), sizes)
    if not (np.isfinite(sizes).all() and (sizes >= 0).all() and sizes.sum() > 0):
        raise DataError(f"{name} has no images: n must be counts from 0, and not all of them 0.")
    return attack


def _group_columns(
    groups: Sequence[Any] | npt.NDArray[Any] | None, names: list[str], n_rows: int, source: str
) -> IntArray:
    """The column of each row's true group; DataError where a row has none."""
    if groups is None:
        raise DataError(f"{source} has no column group. Add it, or give groups.")
    # A group that is numbered 1.0 is that of the column 1.
    texts = [
        str(int(group) if isinstance(group, float) and group.is_integer() else group)
        for group in groups
    ]
    if len(texts) != n_rows:
        raise DataError(
            f"{source} has {n_rows} rows, and {len(texts)} groups are given. Give one for each."
        )

    codes = pd.Index(names).get_indexer(pd.Index(texts))
    if (codes < 0).any():
        raise DataError(
            f"{source} has no probabilities of the group {texts[int(np.argmax(codes < 0))]!r}; its "
            f"groups: {', '.join(names)}. Name the columns p_<group>, or number groups from 0."
        )
    return np.asarray(codes, dtype=np.int64)


def _check(values: FloatArray, names: list[str], name: str) -> None:
    wrong = ~((values >= 0) & (values <= 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(
            f"{name}, row {row + 1}, group {names[column]!r} is {values[row, column]}; give "
            "probabilities from 0 to 1."
        )

    off = np.abs(values.sum(axis=1) - 1) > tables.ROUNDING
    if off.any():
        row = int(np.argmax(off))
        raise DataError(
            f"{name}, row {row + 1} adds up to {values[row].sum():.3g}; give the probabilities of "
            "all groups, which add up to 1."
        )


def difference_of_attackers(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Scores of `metric` from published scores of attackers.

    Raises
    ------
    InputError
        The table has none of the model or of the data, or a cell is no number.
    """
    model, data = f"{metric}_model", f"{metric}_data"
    sides = {name: tables.number_column(table, name) for name in (model, data)}
    sides[metric] = sides[model] - sides[data]
    return stack(
        score_frame(name, group, values[row], run=run)
        for row, (run, group) in enumerate(tables.rows_of_table(table))
        for name, values in sides.items()
    )
