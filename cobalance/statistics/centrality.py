"""Centrality and communities of the concepts in the co-occurrence graph."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.statistics.summary import SEED, communities


def centrality(
    edges: npt.ArrayLike, weights: npt.ArrayLike, n_concepts: int, *, seed: int = SEED
) -> pd.DataFrame:
    """Return how central each concept is, and which community it belongs to.

    Parameters
    ----------
    edges : int array, shape (n_edges, 2)
        Pairs of different concepts that share an image, each pair once.
    weights : array, shape (n_edges,)
        Images that show both, above 0.
    n_concepts : int
    seed : int
        Of the communities.

    Returns
    -------
    pandas.DataFrame
        A row a concept.

        - ``degree`` (int64): concepts that it shares an image with
        - ``strength`` (int64): the sum of the images it shares with each of them
        - ``betweenness``: the share of the other concepts' pairs whose shortest paths lead through
          it, where two concepts are the closer the more images they share: their distance is
          1 / images (Newman 2001; Brandes 2001)
        - ``pagerank``: by images, with a damping factor of 0.85; they add up to 1
        - ``community`` (int64): see `cobalance.statistics.summary.communities`

    Notes
    -----
    Betweenness takes O(concepts x edges); the rest is linear in the edges.

    Examples
    --------
    >>> centrality([[0, 1], [1, 2]], [9, 2], 3)[["degree", "strength", "betweenness"]]
       degree  strength  betweenness
    0       1         9          0.0
    1       2        11          1.0
    2       1         2          0.0
    """
    import igraph

    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    images = np.asarray(weights, dtype=float)
    graph = igraph.Graph(n=n_concepts, edges=pairs.tolist())

    # igraph counts paths; the share is of the pairs of the other concepts.
    other_pairs = (n_concepts - 1) * (n_concepts - 2) / 2 or 1.0
    betweenness = graph.betweenness(directed=False, weights=(1 / images).tolist())
    return pd.DataFrame(
        {
            "degree": np.asarray(graph.degree(), dtype=np.int64),
            "strength": np.asarray(graph.strength(weights=images.tolist()), dtype=np.int64),
            "betweenness": np.asarray(betweenness, dtype=float) / other_pairs,
            "pagerank": np.asarray(graph.pagerank(weights=images.tolist()), dtype=float),
            "community": communities(pairs, images, n_concepts, seed=seed),
        }
    )
