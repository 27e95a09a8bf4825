"""The concept graph as tables: concepts, pairs and classes, with counts, lean and centrality."""

from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from cobalance.base import check_known
from cobalance.counting import Cliques, Incidence, mine_cliques
from cobalance.counting.cooccurrence import cooccurrence
from cobalance.graph import GraphStore, dataset_state, load_incidence, split_sizes
from cobalance.statistics import COUNT, imbalance_table
from cobalance.statistics.centrality import centrality

LEAN = [
    "gap",
    "over_represented",
    "under_represented",
    "lift",
    "effect",
    "highest_rate",
    "lowest_rate",
    "log_odds_ratio",
]
"""How counts lean to a class; see `cobalance.statistics.imbalance.imbalance_table`."""


@dataclass(frozen=True, eq=False)
class GraphTables:
    """The concept graph as tables.

    Parameters
    ----------
    concepts : pandas.DataFrame
        A row a concept: ``concept``, ``images``, and further columns.
    pairs : pandas.DataFrame
        A row for two concepts that share an image: ``concept_1``, ``concept_2``, ``images``, and
        further columns.
    class_sizes : dict of str to int
        Images of each class.
    class_counts : pandas.DataFrame
        A row for a class and a concept that share an image: ``class_name``, ``concept``,
        ``images``.
    cliques : Cliques, optional
        Mined cliques that go with it.
    """

    concepts: pd.DataFrame
    pairs: pd.DataFrame
    class_sizes: dict[str, int] = field(default_factory=dict)
    class_counts: pd.DataFrame = field(default_factory=pd.DataFrame)
    cliques: Cliques | None = None


def graph_tables(
    incidence: Incidence, *, with_centrality: bool = False, cliques: Cliques | None = None
) -> GraphTables:
    """Count the concept graph with all classes, and measure how it leans.

    Parameters
    ----------
    with_centrality : bool
        With the columns of `cobalance.statistics.centrality.centrality` for concepts.
    cliques : Cliques, optional
        Mined cliques, kept as they are.

    Returns
    -------
    GraphTables
        ``concepts`` and ``pairs`` with ``count_<class>`` and the columns of `LEAN`.
    """
    names = np.array(incidence.concepts, dtype=object)
    counted = _count(incidence)
    table = imbalance_table(counted)
    table = table[[*(COUNT + name for name in incidence.classes), *LEAN]]

    # The first rows are of the concepts, the others of pairs.
    n, images = len(names), counted.counts.sum(axis=1)
    members = counted.members[n:]
    concepts = pd.DataFrame({"concept": names, "images": images[:n]}).join(table[:n])
    if with_centrality:
        concepts = concepts.join(centrality(members, images[n:], n))

    first, second = names[members[:, 0]], names[members[:, 1]]
    pairs = pd.DataFrame({"concept_1": first, "concept_2": second, "images": images[n:]})
    return GraphTables(
        concepts=concepts,
        pairs=pairs.join(table[n:].reset_index(drop=True)),
        class_sizes=dict(zip(incidence.classes, incidence.class_sizes().tolist(), strict=True)),
        class_counts=class_counts(incidence),
        cliques=cliques,
    )


def class_counts(incidence: Incidence) -> pd.DataFrame:
    """A row for a class and a concept that share an image: class_name, concept, images."""
    counts = incidence.class_concept_counts()
    class_code, concept_code = np.nonzero(counts)
    return pd.DataFrame(
        {
            "class_name": np.array(incidence.classes, dtype=object)[class_code],
            "concept": np.array(incidence.concepts, dtype=object)[concept_code],
            "images": counts[class_code, concept_code],
        }
    )


def dataset_incidence(store: GraphStore, dataset: str, split: str | None = None) -> Incidence:
    """Read the images of a dataset, or of a split of it, to count them.

    Raises
    ------
    NotFoundError, UnknownNameError
        There is no such dataset, or no image of the split.
    """
    dataset_state(store, dataset)
    if split is not None:
        check_known("split", [split], list(filter(None, split_sizes(store, dataset))))
    return load_incidence(store, dataset, split)


def dataset_centrality(store: GraphStore, dataset: str) -> pd.DataFrame:
    """A row a concept of a dataset: ``concept``, and how central it is."""
    incidence = dataset_incidence(store, dataset)
    edges = cooccurrence(incidence)
    table = centrality(edges.concept_pairs, edges.pair_images, len(incidence.concepts))
    table.insert(0, "concept", list(incidence.concepts))
    return table


def _count(incidence: Incidence) -> Cliques:
    """Count all concepts, unused ones included, and all pairs in each class."""
    n = len(incidence.concepts)
    mined = mine_cliques(incidence, max_size=2, common=(), max_cliques=n * (n + 1) // 2 or 1)
    pairs = mined.take(mined.sizes() == 2)

    # Mining leaves out concepts that no image shows.
    single = np.column_stack([np.arange(n), np.full(n, -1)])
    return replace(
        pairs,
        members=np.vstack([single, pairs.members]).astype(np.int32),
        counts=np.vstack([incidence.class_concept_counts().T, pairs.counts]),
    )
