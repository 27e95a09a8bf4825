"""Observed and expected images of a dataset's combinations."""

from functools import lru_cache

import pandas as pd

from cobalance.base import check_known
from cobalance.counting import Cliques, Incidence
from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import (
    DatasetState,
    dataset_state,
    load_incidence,
    read_cliques,
    read_mining_options,
)
from cobalance.graph.queries.imbalances import Ranking, filter_imbalances
from cobalance.statistics import cooccurrence_table


def read_cooccurrences(store: GraphStore, dataset: str, ranking: Ranking) -> pd.DataFrame:
    """Read the first rows of `cooccurrence_table` that pass a ranking's filters, in its own order.

    All cliques are read, and images in clusters, and compared in memory.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    UnknownNameError
        There is no such concept.
    """
    state = dataset_state(store, dataset)
    check_known("concept", ranking.concepts, read_cliques(store, state).concepts)
    return filter_imbalances(_read_table(store, state), ranking)


@lru_cache(maxsize=2)
def _read_table(store: GraphStore, state: DatasetState) -> pd.DataFrame:
    cliques = read_cliques(store, state)
    images = read_clustered_images(store, state.name, cliques)
    return cooccurrence_table(cliques, images, state.mining_options().min_support)


def read_clustered_images(store: GraphStore, dataset: str, cliques: Cliques) -> Incidence | None:
    """Read the images that were mined where they are in clusters; None where they are not."""
    if cliques.clustering is None:
        return None
    return load_incidence(store, dataset, read_mining_options(store, dataset).split)
