"""Count cliques in clusters of images that depend on each other."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cobalance.base import FloatArray, IntArray, positions_of, sparse
from cobalance.counting.cliques import Cliques
from cobalance.counting.incidence import Incidence
from cobalance.counting.subsets import SubsetIndex

# Images that are counted at once, or those of one cluster: it bounds the memory.
IMAGES = 20_000


class ClusterCounts(NamedTuple):
    """Images with each clique, shape (n_cliques, n_groups), by class in each cluster: a group."""

    counts: "sparse.csr_matrix"
    classes: IntArray
    # The cluster of each group, from 0, ascending.
    clusters: IntArray
    # The images of each group, with or without a clique.
    images: FloatArray


def count_in_clusters(incidence: Incidence, cliques: Cliques) -> Iterator[ClusterCounts]:
    """Yield the counts of mined cliques, some clusters at a time; an image without one is its own.

    Time and memory grow with the pairs of an image and a clique that it shows.
    """
    clusters = _number_clusters(incidence)
    n_classes = len(cliques.classes)
    labels = np.searchsorted(cliques.classes, incidence.classes)[incidence.labels]
    keys, group = np.unique(clusters * n_classes + labels, return_inverse=True)

    # Images are cut into blocks between clusters.
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    cuts = starts[np.flatnonzero(np.diff(starts // IMAGES, prepend=0))]

    # A concept that no image of the incidence shows has a row behind the others, which is empty.
    code_of = positions_of(incidence.concepts)
    codes = np.array([code_of.get(name, len(code_of)) for name in cliques.concepts], dtype=int)
    halves = _halves(cliques)
    singles = cliques.members[cliques.sizes() == 1, 0]

    for rows in np.split(order, cuts):
        groups, group_of_row = np.unique(group[rows], return_inverse=True)
        ones, ends = np.ones(len(rows)), np.arange(len(rows) + 1)
        in_group = sparse.csr_matrix((ones, group_of_row, ends), (len(rows), len(groups)))

        # Which images show each clique, size by size: an image shows one that shows both halves.
        empty_row = sparse.csr_matrix((1, len(rows)))
        concepts = sparse.vstack([incidence.take(rows).matrix().T, empty_row], format="csr")
        shown = concepts[codes][singles]
        counts, first = [shown @ in_group], 0
        for left, right in halves:
            first_below, first = first, first + shown.shape[0]
            shown = shown[left - first_below].multiply(shown[right - first_below]).tocsr()
            counts.append(shown @ in_group)

        cluster, label = np.divmod(keys[groups], n_classes)
        _, cluster = np.unique(cluster, return_inverse=True)
        yield ClusterCounts(
            counts=sparse.vstack(counts, format="csr"),
            classes=label,
            clusters=cluster,
            images=np.bincount(group_of_row).astype(np.float64),
        )


def _number_clusters(incidence: Incidence) -> IntArray:
    """The cluster of each image, from 0; an image without one is its own."""
    n_images = len(incidence.labels)
    own = n_images + np.arange(n_images)
    clusters = own if incidence.clusters is None else incidence.clusters
    _, numbers = np.unique(np.where(clusters < 0, own, clusters), return_inverse=True)
    return numbers


def _halves(cliques: Cliques) -> list[tuple[IntArray, IntArray]]:
    """For each size above 1, the rows of the cliques without their last, and first, member."""
    index, sizes = SubsetIndex(cliques.members), cliques.sizes()
    halves = []
    for size in range(2, cliques.members.shape[1] + 1):
        rows = index.combinations(cliques.members[sizes == size, :size])
        halves.append((rows[:, (1 << size - 1) - 1], rows[:, (1 << size) - 2]))
    return halves
