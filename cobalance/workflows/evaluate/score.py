"""Score predictions of evaluations, and tables of others."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cobalance.base import STRING, InputError, check_known
from cobalance.evaluation import (
    METRICS,
    Inputs,
    Scored,
    Shortcuts,
    align_groups,
    score_metrics,
    shortcut_groups,
)
from cobalance.graph import GraphStore, read_clusters, read_image_concepts
from cobalance.workflows.evaluate.settings import choose_shortcuts


def score_tables(
    inputs: Inputs, metrics: Sequence[str] = (), options: Mapping[str, Any] | None = None
) -> Scored:
    """Score tables with some metrics, by default all that the tables suffice for.

    Parameters
    ----------
    metrics : sequence of str
        Names in `cobalance.evaluation.metrics.METRICS`.
    options : mapping of str to mapping
        Options by the metric's name.

    Raises
    ------
    UnknownNameError, OptionError, InputError
        There is no such metric or option, or one that is named cannot be computed.
    """
    options = options or {}
    check_known("metric", [*metrics, *options], list(METRICS))
    if not metrics and not options:
        return score_metrics(inputs)
    return score_metrics(inputs, {name: options.get(name, {}) for name in [*metrics, *options]})


def with_clusters(store: GraphStore, dataset: str, predictions: pd.DataFrame) -> pd.DataFrame:
    """Predictions with the cluster of each image, where the dataset has any."""
    clusters = read_clusters(store, dataset).set_index("id")["cluster"]
    if clusters.isna().all() or "image" not in predictions:
        return predictions
    return predictions.assign(cluster=predictions["image"].map(clusters).astype(STRING))


def with_groups(predictions: pd.DataFrame, groups: pd.DataFrame | None) -> pd.DataFrame:
    """Predictions with a column for each shortcut, so that they can be scored by themselves.

    Raises
    ------
    InputError
        An image has no group, or the groups cannot be used.
    """
    if groups is None:
        return predictions
    states = align_groups(groups, predictions["image"])
    others = predictions.reset_index(drop=True).drop(columns=list(states), errors="ignore")
    return others.join(states)


def dataset_groups(
    store: GraphStore, dataset: str, shortcuts: Path | None
) -> tuple[pd.DataFrame, Shortcuts]:
    """Groups of a dataset's images by shortcuts of a file or its imbalances.

    The frame has ``class_name`` and ``split`` of each image, too.

    Raises
    ------
    NotFoundError, StaleError
        There is no such dataset, or its imbalances are needed and it is not mined.
    InputError, OptionError
        The file cannot be read, or no concept leans to a class.
    """
    chosen = choose_shortcuts(store, shortcuts, dataset)
    if chosen is None:
        raise InputError(str(shortcuts), None, "names no shortcuts", "Give a TOML file.")

    concepts = read_image_concepts(store, dataset).rename(columns={"id": "image"})
    groups = shortcut_groups(concepts, chosen)
    classes = concepts["class_name"].astype(STRING).to_numpy()
    return groups.assign(class_name=classes, split=concepts["split"].to_numpy()), chosen
