"""Count cliques in clusters of images that depend on each other."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cobalance.base.arrays import FloatArray, IntArray
from cobalance.base.libraries import sparse
from cobalance.counting.cliques import Cliques
from cobalance.counting.incidence import Incidence
from cobalance.counting.subsets import SubsetIndex

IMAGES = 20_000  # counted at once, or one cluster: bounds the memory


class ClusterCounts(NamedTuple):
    """Images with each clique, shape (n_cliques, n_groups), by class in each cluster: a group."""

    counts: "sparse.csr_matrix"
    classes: IntArray
    clusters: IntArray  # of each group, from 0, ascending
    images: FloatArray  # of each group, with or without a clique


def count_in_clusters(incidence: Incidence, cliques: Cliques) -> Iterator[ClusterCounts]:
    """Yield the counts of mined cliques, some clusters at a time; an image without one is its own.

    Time and memory grow with the pairs of an image and a clique that it shows.
    """
    own = len(incidence.labels) + np.arange(len(incidence.labels))
    clusters = own if incidence.clusters is None else incidence.clusters
    _, clusters = np.unique(np.where(clusters < 0, own, clusters), return_inverse=True)
    n_classes = len(cliques.classes)
    labels = np.searchsorted(cliques.classes, incidence.classes)[incidence.labels]
    keys, group = np.unique(clusters * n_classes + labels, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    cuts = starts[np.flatnonzero(np.diff(starts // IMAGES, prepend=0))]
    place = {name: code for code, name in enumerate(incidence.concepts)}
    codes = [place.get(name, len(place)) for name in cliques.concepts]
    index, sizes = SubsetIndex(cliques.members), cliques.sizes()
    parts = []
    for size in range(2, cliques.members.shape[1] + 1):
        rows = index.combinations(cliques.members[sizes == size, :size])
        parts.append((rows[:, (1 << size - 1) - 1], rows[:, (1 << size) - 2]))
    for rows in np.split(order, cuts):
        held, of_group = np.unique(group[rows], return_inverse=True)
        shape = len(rows), len(held)
        grouped = sparse.csr_matrix((np.ones(len(rows)), of_group, np.arange(len(rows) + 1)), shape)
        none = sparse.csr_matrix((1, len(rows)))
        shown = sparse.vstack([incidence.take(rows).matrix().T, none], format="csr")
        level = shown[np.array(codes, dtype=int)][cliques.members[sizes == 1, 0]]
        found, first = [level @ grouped], 0
        for left, right in parts:
            below, first = first, first + level.shape[0]
            level = level[left - below].multiply(level[right - below]).tocsr()
            found.append(level @ grouped)
        cluster, label = np.divmod(keys[held], n_classes)
        _, cluster = np.unique(cluster, return_inverse=True)
        images = np.bincount(of_group).astype(np.float64)
        yield ClusterCounts(sparse.vstack(found, format="csr"), label, cluster, images)
