"""Concepts compared in place of a dataset's classes, each with the images without it.

Nothing of a comparison is stored but its concepts: it is counted from the packed images when it is
read, which takes milliseconds for tens of thousands of images.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from cobalance.base import Action, StaleError, check_known, clean_name
from cobalance.counting import Cliques, Incidence, label_by, mine_one_against_rest
from cobalance.graph.database import GraphStore
from cobalance.graph.database.statements import UPDATE_DATASET
from cobalance.graph.dataset.incidence_table import SplitIncidence
from cobalance.graph.dataset.read import load_images
from cobalance.graph.dataset.state import DatasetState, dataset_state
from cobalance.statistics import imbalance_table, with_clusters


def compare_by(store: GraphStore, dataset: str, concepts: Sequence[str]) -> None:
    """Compare a mined dataset by concepts, the first of them from now on; none for its classes.

    Raises
    ------
    StaleError, DataError
        The dataset has not been mined, or its images are elsewhere.
    UnknownNameError
        No image shows one of them.
    """
    state = dataset_state(store, dataset)
    state.require_mined()
    values = read_comparison(store, state, concepts, state.mining_options().split)
    if concepts or state.compared:
        store.write(UPDATE_DATASET, dataset=dataset, values=values)


def read_comparison(
    store: GraphStore,
    state: DatasetState,
    concepts: Sequence[str] | None,
    split: str | None,
    images: SplitIncidence | None = None,
) -> dict[str, Any]:
    """Read the properties of a dataset's comparison: ``compared`` and ``compared_images``.

    Parameters
    ----------
    concepts : sequence of str or None
        Names; empty for the dataset's classes, None for what it is compared by already.
    split : str or None
        The images that count.
    images : SplitIncidence or None
        All images; None reads them where they are needed.

    Raises
    ------
    StaleError
        No image shows a concept any more that the dataset is compared by already.
    UnknownNameError, DataError
        No image shows one that is named; the images are elsewhere.
    """
    names = [*state.compared] if concepts is None else [clean_name(name) for name in concepts]
    if not names:
        return {"compared": None, "compared_images": None}

    incidence = (images or load_images(store, state.name)).of_split(split)
    gone = sorted(set(names) - set(incidence.concepts))
    if gone and concepts is None:
        raise StaleError(
            f"No image of {state.name!r} shows {gone[0]!r} any more, which it is compared by. To "
            "compare its classes, ",
            Action("mine", state.name, classes=()),
            ".",
        )
    check_known("concept", names, incidence.concepts)

    code = incidence.concepts.index(names[0])
    return {"compared": names, "compared_images": int((incidence.indices == code).sum())}


@lru_cache(maxsize=2)
def read_one_against_rest(store: GraphStore, state: DatasetState) -> Cliques:
    """Count the cliques with and without the concept that a dataset is compared by."""
    return _count(store, state, state.compared[:1])[state.compared[0]]


@lru_cache(maxsize=2)
def read_compared_table(store: GraphStore, state: DatasetState) -> pd.DataFrame:
    """The imbalance table of `read_one_against_rest`, not to be changed."""
    confidence = state.mining_options().confidence
    return imbalance_table(read_one_against_rest(store, state), confidence=confidence)


def count_leaning(store: GraphStore, state: DatasetState) -> dict[str, int]:
    """Count the combinations that lean, with a q-value of at most 0.05, for each compared concept.

    All are counted in one run of the kernel.
    """
    if not state.compared:
        return {}
    cliques_by_concept = _count(store, state, state.compared)
    return {
        name: int(imbalance_table(cliques)["leans"].sum())
        for name, cliques in cliques_by_concept.items()
    }


def _count(store: GraphStore, state: DatasetState, compared: tuple[str, ...]) -> dict[str, Cliques]:
    """The cliques with and without each of some concepts, with the images' clusters."""
    options, incidence = state.mining_options(), _mined_images(store, state)
    sizes = {"max_size": options.max_size, "min_support": options.min_support}
    counted = mine_one_against_rest(incidence, compared, **sizes)
    return {name: with_clusters(counted.of(name), label_by(incidence, name)) for name in compared}


def _mined_images(store: GraphStore, state: DatasetState) -> Incidence:
    return load_images(store, state.name).of_split(state.mining_options().split)
