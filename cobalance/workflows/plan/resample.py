"""Lists of a dataset's images as a baseline without generation takes them, for trainers."""

import pandas as pd

from cobalance.base import IntArray, Progress, check_known, silent
from cobalance.counting import Cliques, Incidence, build_incidence
from cobalance.generation import BASELINES, PlanOptions, image_list
from cobalance.graph import (
    GraphStore,
    dataset_state,
    read_cliques,
    read_image_concepts,
    require_size,
)
from cobalance.workflows.plan.compare import compare_all


def resample_dataset(
    store: GraphStore,
    dataset: str,
    baseline: str,
    options: PlanOptions,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Repeat, drop or weight the images that a dataset was mined from, and measure the effect.

    Parameters
    ----------
    baseline : str
        One of `cobalance.generation.planning.resampling.BASELINES`.
    seed : int
        Which images are repeated or dropped: equal seeds give equal lists.

    Returns
    -------
    images : pandas.DataFrame
        A row an image, by id: ``image``, ``split`` (None for none), and the columns of
        `cobalance.resample`.
    effect : pandas.DataFrame
        One row, as `cobalance.workflows.plan.compare.compare_all` has it.

    Raises
    ------
    UnknownNameError
        There is no such baseline.
    OptionError
        The sizes were not mined.
    StaleError
        The dataset has not been mined, or has changed since.
    """
    check_known("baseline", [baseline], BASELINES)
    progress("read cliques", 0, None)
    state = dataset_state(store, dataset)
    state.require_own_classes("Planning")
    require_size(state, options.max_size)
    # All of them, as the test of each goes by how many there are.
    cliques = read_cliques(store, state)
    chosen = options.rows(cliques)

    images, incidence = read_listed(store, dataset, state.mining_options().split, progress)
    effect = compare_all(cliques, chosen, options, None, incidence, [baseline])
    listed = list_images(images, incidence, cliques, chosen, baseline, seed, options.budget)
    return listed, effect


def read_listed(
    store: GraphStore, dataset: str, split: str | None, progress: Progress = silent
) -> tuple[pd.DataFrame, Incidence]:
    """Images of a split, or of all, by id, with their incidence."""
    progress("read images", 0, None)
    images = read_image_concepts(store, dataset)
    if split is not None:
        images = images[images["split"] == split].reset_index(drop=True)

    mentions = images["concepts"].explode().dropna()
    codes, concepts = pd.factorize(mentions, sort=True)
    labels, classes = pd.factorize(images["class_name"], sort=True)
    incidence = build_incidence(
        mentions.index.to_numpy(), codes, labels, tuple(concepts), tuple(classes)
    )
    return images, incidence


def list_images(
    images: pd.DataFrame,
    incidence: Incidence,
    cliques: Cliques,
    chosen: IntArray,
    baseline: str,
    seed: int,
    most: int | None = None,
) -> pd.DataFrame:
    """The list of `resample_dataset`, for some of the cliques."""
    ids = images["id"].tolist()
    listed = image_list(cliques.take(chosen), incidence, ids, baseline, seed, most)
    listed.insert(1, "split", images["split"].to_numpy())
    return listed.reset_index()
