"""Published counts and shares: directional amplification, MaxSkew and NDKL without images."""

from typing import Any

import numpy as np
import pandas as pd

from cobalance.evaluation.metrics.bias.amplification import Ties, directional_amplification
from cobalance.evaluation.metrics.bias.inputs import MOST_IMAGES
from cobalance.evaluation.metrics.bias.tables import ROUNDING
from cobalance.evaluation.metrics.metric import stack
from cobalance.evaluation.metrics.scores import mean_score, score_rows
from cobalance.evaluation.metrics.tables import number_column, text_column
from cobalance.evaluation.shortcuts import NONE
from cobalance.graph.arrays import FloatArray, IntArray
from cobalance.graph.errors import InputError

DIRECTIONS = {"predicted": ("attribute", "task"), "predicted_attribute": ("task", "attribute")}
"""What each column of predictions is conditioned on, and what it predicts."""


def directional_of_counts(table: pd.DataFrame, ties: Ties = "zero") -> pd.DataFrame:
    """Return `directional_amplification` from joint counts of attributes and tasks.

    Parameters
    ----------
    table : frame
        A row for each pair, with ``attribute`` and ``task`` (``none`` for images without one), and
        counts of images: ``test``, by ground truth, and ``predicted``, by attribute and predicted
        task, or ``predicted_attribute``, by predicted attribute and task, or both; and
        ``training``, by ground truth of training images, by default that of the test images. Pairs
        without a row have no images.

    Raises
    ------
    InputError
        A column is missing, a pair is there twice, a cell is no count, or another number of images
        is predicted than there are.

    Examples
    --------
    The authors' example: 3 images of group a, 5 of group b.

    >>> table = pd.DataFrame({"attribute": list("aabb"), "task": ["cook", "none"] * 2,
    ...                       "test": [2, 1, 1, 4], "predicted": [3, 0, 0, 5]})
    >>> directional_of_counts(table)[["metric", "group", "value"]].round(4).head(1)
                  metric group   value
    0  attribute_to_task        0.2667
    """
    pairs = pd.DataFrame({name: text_column(table, name) for name in ("attribute", "task")})
    if pairs.duplicated().any():
        row = int(pairs.duplicated().to_numpy().argmax())
        what = " and ".join(map(repr, pairs.iloc[row]))
        raise InputError("table", f"row {row + 1}", f"{what} are there twice", "Keep one row.")
    predicted = [name for name in DIRECTIONS if name in table]
    if not predicted:
        reason = f"has no column {' or '.join(DIRECTIONS)}"
        raise InputError("table", None, reason, "Add how many images are predicted to be of each.")
    names = ["test", *predicted, *(["training"] if "training" in table else [])]
    counts = pairs.assign(**{name: _counts(table, name) for name in names})
    frames = []
    for column in predicted:
        given, told = DIRECTIONS[column]
        ordered = counts.sort_values(given, kind="stable")
        truth, guessed = (_repeated(ordered, name) for name in ("test", column))
        if truth[given].tolist() != guessed[given].tolist():
            sizes = counts.groupby(given)[["test", column]].sum()
            name = str((sizes["test"] != sizes[column]).idxmax())
            n, told_of = sizes.loc[name].astype(int)
            reason = f"{name!r} has {n:,} images in test, and {told_of:,} in {column}"
            raise InputError("table", None, reason, "Give a prediction of each test image.")
        training = _repeated(counts, "training" if "training" in names else "test")
        frames.append(
            directional_amplification(
                _labels(truth["task"]),
                _labels(truth["attribute"]),
                **{
                    f"predicted_{'labels' if told == 'task' else 'attributes'}": _labels(
                        guessed[told]
                    )
                },
                training_labels=_labels(training["task"]),
                training_attributes=_labels(training["attribute"]),
                ties=ties,
            )
        )
    return stack(frames)


def _counts(table: pd.DataFrame, name: str) -> IntArray:
    values = number_column(table, name)
    wrong = ~np.isfinite(values) | (values % 1 != 0)
    if wrong.any():
        row = int(wrong.argmax())
        reason = f"{name} is {values[row]:g}, which is no number of images"
        raise InputError("table", f"row {row + 1}", reason, "Give whole numbers.")
    if values.sum() > MOST_IMAGES:
        reason = f"{name} adds up to {values.sum():,.0f} images, more than {MOST_IMAGES:,}"
        raise InputError("table", None, reason, "Divide all counts by the same number.")
    return values.astype(np.int64)


def _repeated(counts: pd.DataFrame, name: str) -> pd.DataFrame:
    return counts.loc[counts.index.repeat(counts[name])].reset_index(drop=True)


def _labels(names: "pd.Series[Any]") -> "pd.Series[Any]":
    """A label an image, None for none."""
    labels = names.astype(object)
    return labels.where(labels != NONE, None)


def skew_of_shares(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return ``max_skew`` or ``ndkl`` from the shares of groups among the best images.

    Parameters
    ----------
    table : frame
        ``group``, ``share`` (or counts) and ``parity``, by default the same for all groups; of
        several rankings ``query``, and of several lengths ``k``. ``ndkl`` needs the shares among
        the best 1, 2, ... k. A share of 0 adds nothing.

    Raises
    ------
    InputError
        A column is missing or cannot be used, shares or parities do not add up, or lengths are left
        out.
    """
    groups = text_column(table, "group")
    n_groups = len({*groups})
    frame = pd.DataFrame(
        {
            "group": groups,
            "share": number_column(table, "share"),
            "fair": number_column(table, "parity") if "parity" in table else 1 / n_groups,
            "query": text_column(table, "query") if "query" in table else "",
            "k": _counts(table, "k") if "k" in table else 0,
        }
    )
    twice = frame.duplicated(["query", "k", "group"])
    if twice.any():
        row = int(twice.to_numpy().argmax())
        reason = f"the group {groups[row]!r} has a second share"
        remedy = "Keep one, or tell rankings apart with query and k."
        raise InputError("table", f"row {row + 1}", reason, remedy)
    if metric == "ndkl":
        values = [_ndkl(str(query), rows) for query, rows in frame.groupby("query", sort=False)]
        return score_rows([mean_score("ndkl", values)])
    rows_of = frame.groupby(["k", "query"], sort=False)
    found: dict[Any, list[float]] = {}
    for (k, _), rows in rows_of:
        share, fair = _shares(rows)
        found.setdefault(k, []).append(float(np.log(share / fair).max()))
    return score_rows(
        [mean_score(f"max_skew@{k}" if k else "max_skew", one) for k, one in found.items()]
    )


def _ndkl(query: str, rows: pd.DataFrame) -> float:
    lengths = sorted(rows["k"].unique())
    if lengths != [*range(1, len(lengths) + 1)]:
        reason = f"has no shares among the best 1, 2, ... images{f' of {query!r}' if query else ''}"
        remedy = "Give a column k with each number from 1, or choose max_skew."
        raise InputError("table", None, reason, remedy)
    weights = 1 / np.log2(np.array(lengths) + 1)
    divergences = []
    for _, of_length in rows.groupby("k"):
        share, fair = _shares(of_length)
        divergences.append(float(share @ np.log(share / fair)))
    return float(divergences @ weights / weights.sum())


def _shares(rows: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Shares and fair shares of the groups that are there."""
    share, fair = (rows[name].to_numpy(np.float64) for name in ("share", "fair"))
    where = f"row {rows.index[0] + 1}"
    if not 0 < share.sum() < np.inf:
        raise InputError("table", where, "shares add up to nothing", "Give shares or counts.")
    if fair.sum() > 1 + ROUNDING:  # counts
        fair = fair / fair.sum()
    there = share > 0
    if not (fair[there] > 0).all():
        reason = "a group that is there has no parity"
        raise InputError("table", where, reason, "Give fair shares that add up to 1.")
    if abs(share.sum() - 1) > ROUNDING:
        share = share / share.sum()
    return share[there], fair[there]
