"""The few combinations that stand on their own, grouped by communities of concepts."""

import random

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import IntArray, OptionError
from cobalance.counting import Cliques
from cobalance.statistics.association import class_rates
from cobalance.statistics.imbalance import COUNT, RATE, class_columns
from cobalance.statistics.own_effect import own_effects
from cobalance.statistics.q_values import MAX_Q_VALUE, check_q_value

MOST = 20
"""Rows of a summary, by default: one screen."""
SEED = 0


def communities(
    edges: npt.ArrayLike, weights: npt.ArrayLike, n_concepts: int, *, seed: int = SEED
) -> IntArray:
    """Return the community of each concept in the co-occurrence graph, by Leiden.

    Parameters
    ----------
    edges : int array, shape (n_edges, 2)
        Pairs of concepts that share an image.
    weights : array, shape (n_edges,)
        Images that show both.
    n_concepts : int
    seed : int
        Of the order in which Leiden visits the concepts.

    Returns
    -------
    int array, shape (n_concepts,)
        The largest community is 0; a concept of no pair is one of its own.

    References
    ----------
    Traag, Waltman and van Eck, "From Louvain to Leiden: guaranteeing well-connected communities"
    (Scientific Reports 2019), with modularity; igraph's implementation.

    Examples
    --------
    >>> communities([[0, 1], [2, 3], [1, 2], [3, 4]], [9, 9, 1, 8], 5).tolist()
    [1, 1, 0, 0, 0]
    """
    import igraph

    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    graph = igraph.Graph(n=n_concepts, edges=pairs.tolist())
    # igraph draws from one generator for the whole process, which is given back.
    igraph.set_random_number_generator(random.Random(seed))  # noqa: S311 - no secret
    try:
        clustering = graph.community_leiden(
            "modularity", weights=np.asarray(weights, dtype=float).tolist(), n_iterations=-1
        )
    finally:
        igraph.set_random_number_generator(random)

    # The largest community first; of equal ones that of the first concept.
    labels = np.asarray(clustering.membership, dtype=np.int64)
    if not n_concepts:
        return labels
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(first))
    return rank[labels]


def summarize(
    cliques: Cliques, *, limit: int = MOST, max_q_value: float = MAX_Q_VALUE
) -> pd.DataFrame:
    """Return the cliques that stand on their own, grouped by communities of concepts.

    A clique does so if it is closed, and its interaction with the class is significant beyond what
    its parts explain. The largest effects are taken; a group comes where its largest would.

    Parameters
    ----------
    cliques : Cliques
        All mined cliques; the pairs among them are the co-occurrence graph.
    limit : int
        Most rows.
    max_q_value : float
        Of ``own_q_value``.

    Returns
    -------
    pandas.DataFrame
        ``group`` (int, from 1) and ``about`` (tuple: its up to three most frequent concepts; the
        community that most of a clique's concepts are of), ``concepts``, ``size``,
        ``count_<class>``, ``rate_<class>``, and the columns of `own_effects`.

    Raises
    ------
    OptionError
        `limit` is below 1, or `max_q_value` not from 0 to 1.
    """
    if limit < 1:
        raise OptionError(f"limit is {limit}; give 1 or more")
    check_q_value(max_q_value)

    # Equal effects may differ by rounding, and stay in the order of the cliques.
    effects = own_effects(cliques)
    stands = effects["closed"] & (effects["own_q_value"] <= max_q_value)
    stands &= effects["own_effect"] > 0
    strength = effects.loc[stands, "own_effect"].round(12)
    rows = strength.sort_values(ascending=False, kind="stable").index.to_numpy()[:limit]
    selected = cliques.take(rows)

    # A clique is of the community that most of its concepts are of, of several the first.
    community, about = _communities(cliques)
    labels = []
    for members in selected.members:
        codes = community[members[members >= 0]].tolist()
        labels.append(max(dict.fromkeys(codes), key=codes.count))
    groups, _ = pd.factorize(np.array(labels, dtype=np.int64))

    rates = class_rates(selected.counts, selected.class_sizes)
    table = pd.DataFrame(
        {
            "group": pd.Series(groups + 1, dtype="int64"),
            "about": pd.Series([about[label] for label in labels], dtype=object),
            "concepts": pd.Series(selected.names(), dtype=object),
            "size": selected.sizes(),
            **class_columns(COUNT, selected.classes, selected.counts),
            **class_columns(RATE, selected.classes, rates),
        }
    )
    table = pd.concat([table, effects.loc[rows].reset_index(drop=True)], axis=1)
    return table.sort_values("group", kind="stable", ignore_index=True)


def first_of_summary(summary: pd.DataFrame, limit: int = MOST) -> pd.DataFrame:
    """Return the rows of a summary with the largest own effects, as `summarize` has so many."""
    strength = summary["own_effect"].round(12)
    rows = strength.sort_values(ascending=False, kind="stable").index[:limit]
    return summary.loc[rows.sort_values()].reset_index(drop=True)


def _communities(cliques: Cliques) -> tuple[IntArray, dict[int, tuple[str, ...]]]:
    """The community of each concept, and the most frequent concepts of each."""
    sizes, images = cliques.sizes(), cliques.counts.sum(axis=1)
    pairs, single = sizes == 2, sizes == 1
    edges = cliques.members[pairs][:, :2] if pairs.any() else np.empty((0, 2), dtype=np.int64)
    community = communities(edges, images[pairs], len(cliques.concepts))

    frequency = np.zeros(len(cliques.concepts), dtype=np.int64)
    frequency[cliques.members[single, 0]] = images[single]
    about: dict[int, tuple[str, ...]] = {}
    for code in np.argsort(-frequency, kind="stable").tolist():
        label = int(community[code])
        names = about.get(label, ())
        if len(names) < 3:
            about[label] = (*names, cliques.concepts[code])
    return community, about
