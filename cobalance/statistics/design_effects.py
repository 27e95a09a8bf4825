"""Design effects of clusters: how many images of a class say as much as one that is independent.

Counts divided by their design effect are tested as independent images are: J. N. K. Rao and A. J.
Scott, "A simple method for the analysis of clustered binary data" (Biometrics 48, 1992), and of
tables Rao and Scott (Annals of Statistics 12, 1984). The design effect comes from the scores of the
hypothesis, summed in each cluster: images of one class in a cluster correlate as pairs in all
classes do, for a class by its own sizes of clusters. Where the scores vary more between the classes
than that (a class may be clustered more than others), that counts; where clusters reach across
classes, and both go together in them, the part that cancels does not.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cobalance.base.arrays import BoolArray, FloatArray, IntArray
from cobalance.base.libraries import sparse
from cobalance.counting.cliques import Cliques, Clustering
from cobalance.counting.clusters import ClusterCounts, count_in_clusters
from cobalance.counting.incidence import Incidence
from cobalance.counting.subsets import SubsetIndex
from cobalance.statistics.interaction import fit_cells, signs
from cobalance.statistics.own_effect import BLOCK, presence_blocks


class _Scores(NamedTuple):
    """Scores of images: coefficients of the counts of subsets, and sums of squares, by class."""

    rows: IntArray
    subsets: IntArray
    weights: FloatArray
    information: FloatArray


def with_clusters(cliques: Cliques, incidence: Incidence) -> Cliques:
    """Return mined cliques with their clustering; as they are where every cluster is one image.

    Notes
    -----
    28,000 cliques of 30,000 images in 3,000 clusters take 8 s of one core. Time grows with the
    cliques times the clusters, and with the pairs of an image and a clique that it shows.
    """
    known = incidence.clusters
    if known is None or len(np.unique(known[known >= 0])) == np.count_nonzero(known >= 0):
        return cliques
    n, n_classes = cliques.counts.shape
    own = _own_scores(cliques)
    second, product, scored = np.zeros((3, n, n_classes))  # sums over clusters
    second_of_all, product_of_all, crossing = np.zeros((3, n))
    standing, full = np.zeros((2, n), dtype=np.int64)
    within, of_all, n_clusters = np.zeros(n_classes), 0.0, 0
    for some in count_in_clusters(incidence, cliques):
        starts = np.flatnonzero(np.diff(some.clusters, prepend=-1))
        of_class = np.eye(n_classes)[some.classes]
        one = np.ones(len(some.classes)), some.clusters, np.arange(len(some.classes) + 1)
        together = some.counts @ sparse.csr_matrix(one)
        whole = np.add.reduceat(some.images, starts)
        second += some.counts.power(2) @ of_class
        product += some.counts @ (of_class * some.images[:, None])
        second_of_all += together.power(2).sum(axis=1).A1
        product_of_all += together @ whole
        standing += together.getnnz(axis=1)
        are_full = together.data == whole[together.indices]
        full += np.bincount(np.repeat(np.arange(n), together.getnnz(axis=1))[are_full], minlength=n)
        within += some.images**2 @ of_class
        of_all += (whole**2).sum()
        n_clusters += len(starts)
        by_class = [np.flatnonzero(some.classes == code) for code in range(n_classes)]
        parts = [(groups, some.counts[:, groups]) for groups in by_class]
        for part in own:
            cells = part.rows.size * len(some.classes)
            for at in np.array_split(np.arange(len(part.rows)), 1 + cells // BLOCK):
                scores = _sum_scores(part, at, some, parts)
                scored[part.rows[at]] += scores**2 @ of_class
                of_cluster = np.add.reduceat(scores, starts, axis=1)
                crossing[part.rows[at]] += (of_cluster**2).sum(axis=1)
    information = np.concatenate([part.information for part in own])  # rows are by size
    sizes = cliques.class_sizes
    mean = within / np.maximum(sizes, 1)
    rates = cliques.counts / np.maximum(sizes, 1)
    rate = cliques.counts.sum(axis=1, keepdims=True) / sizes.sum()
    alike, apart = (second - 2 * of * product + of**2 * within for of in (rate, rates))
    all_alike = second_of_all - 2 * rate[:, 0] * product_of_all + rate[:, 0] ** 2 * of_all
    single = cliques.counts * (1 - 2 * rate) + sizes * rate**2
    spread = sizes * rate * (1 - rate)
    tests, paired = design_effects(alike, all_alike, spread, mean, single=single)
    intervals, _ = design_effects(apart, apart.sum(axis=1), sizes * rates * (1 - rates), mean)
    own_tests, _ = design_effects(scored, crossing, information, mean)
    varying = np.minimum(standing, n_clusters - full)
    freedom = np.where(paired, np.maximum(varying - 1, 0), -1)
    return replace(cliques, clustering=Clustering(standing, freedom, tests, intervals, own_tests))


def design_effects(
    squares: FloatArray,
    crossing: FloatArray,
    information: FloatArray,
    mean: FloatArray,
    *,
    single: FloatArray | None = None,
) -> tuple[FloatArray, BoolArray]:
    """Return the design effect of each class, 1 or more, and whether pairing lowered it.

    Parameters
    ----------
    squares : float array, shape (n, n_classes)
        Squared sums of the scores of a class in a cluster.
    crossing : float array, shape (n,)
        Likewise of all classes in a cluster.
    information : float array, shape (n, n_classes)
        Squared scores of independent images, as the hypothesis has them.
    mean : float array, shape (n_classes,)
        Images of the class in the cluster of an image of it, on average.
    single : float array, shape (n, n_classes), or None
        Squared scores of single images, where these differ; pairs within clusters count then.
    """
    total, has, more = information.sum(axis=1), information > 0, np.maximum(mean - 1, 0)
    together = np.maximum(squares.sum(axis=1) - total, 0)
    room = information @ more
    share = np.divide(together, room, out=np.ones_like(room), where=room > 0)  # all, if none tells
    found = 1 + np.minimum(share, 1)[:, None] * more
    total = np.maximum(total, 1e-9)

    def variance(of: FloatArray, of_all: FloatArray) -> FloatArray:
        known = np.divide(of, information, out=np.zeros_like(of), where=has)
        return np.asarray(known.sum(axis=1) - of_all / total)

    alone = variance(found * information, (found * information).sum(axis=1))
    expected, seen = alone, variance(squares, crossing)
    if single is not None:
        lean = variance(single, single.sum(axis=1)) / np.maximum(has.sum(axis=1) - 1, 1)
        seen = seen / np.maximum(lean, 1)
        expected = alone - (crossing - squares.sum(axis=1)) / total
    more_than_alone = np.maximum(expected, seen)
    factor = np.divide(more_than_alone, alone, out=np.ones_like(alone), where=alone > 1e-9)
    return np.maximum(found * factor[:, None], 1.0), factor < 1 - 1e-9


def independence_effects(cliques: Cliques, incidence: Incidence, divisions: IntArray) -> FloatArray:
    """Return design effects of tests that two parts are independent: shape (n,), 1 or more.

    The score of an image is the product of both parts' deviations from their rates. By clusters,
    the variance of their sum is larger by the covariance of two images in one part times that in
    the other, summed over the pairs of images in each cluster.

    Parameters
    ----------
    divisions : int array, shape (3, n)
        Rows of `cliques`: both parts together, -1 where no image shows them, and each part.
    """
    total, (_, *parts) = len(incidence.labels), divisions
    rates = np.append(cliques.counts.sum(axis=1) / total, 0)
    of_part, found, of_all = np.zeros(len(cliques)), np.zeros(divisions.shape[1]), 0.0
    labels = np.zeros_like(incidence.labels)  # one class of all
    incidence = replace(incidence, labels=labels, classes=("",))
    for some in count_in_clusters(incidence, replace(cliques, classes=("",))):
        counts, others = some.counts, some.images - 1
        pairs = np.sqrt(some.images * others)
        rate = np.repeat(rates[:-1], counts.getnnz(axis=1))
        counts.data *= counts.data - 1 - 2 * rate * others[counts.indices]
        counts.data /= np.maximum(pairs, 1)[counts.indices]
        of_part += counts @ pairs
        of_all += float(pairs @ pairs)
        for at in np.array_split(np.arange(len(found)), 1 + len(found) * len(pairs) // BLOCK):
            one, other = (counts[part[at]] for part in parts)
            found[at] += one.multiply(other).sum(axis=1).A1
    both, one, other = rates[divisions]
    found += other**2 * of_part[parts[0]] + one**2 * of_part[parts[1]] + (one * other) ** 2 * of_all
    squares = both * (1 - 2 * one) * (1 - 2 * other) + (one * other) ** 2  # of scores
    squares += one * (1 - 2 * one) * other**2 + other * (1 - 2 * other) * one**2
    more = np.divide(found, total * squares, out=np.zeros_like(found), where=squares > 1e-12)
    return np.asarray(np.maximum(more, 0) + 1)


def _own_scores(cliques: Cliques) -> list[_Scores]:
    """Scores of the highest interaction: an image counts by the fitted images that are like it."""
    parts = []
    for rows, subsets, cells in presence_blocks(cliques, SubsetIndex(cliques.members)):
        size, n_classes = subsets.shape[1].bit_length() - 1, cells.shape[2]
        fitted, free = fit_cells(cells)
        weights = signs(size)[:, None] / np.maximum(fitted, 1.0) * free[:, None]
        information = (cells * weights**2).sum(axis=1)
        weights = weights / np.maximum(information, 1e-300)[:, None]
        information = (cells * weights**2).sum(axis=1)
        for part in range(size):  # of exactly these parts to at least these
            view = weights.reshape(len(rows), 1 << size - part - 1, 2, 1 << part, n_classes)
            view[:, :, 1] -= view[:, :, 0]
        parts.append(_Scores(rows, subsets, weights, information))
    return parts


def _sum_scores(
    part: _Scores,
    at: IntArray,
    some: ClusterCounts,
    parts: "Sequence[tuple[IntArray, sparse.csr_matrix]]",
) -> FloatArray:
    """Sums of scores in each group, shape (n, n_groups), from the groups and counts by class."""
    found = np.empty((len(at), len(some.classes)))
    ends = np.arange(len(at) + 1) * (part.subsets.shape[1] - 1)
    subsets, shape = part.subsets[at, 1:].ravel(), (len(at), some.counts.shape[0])
    for code, (groups, counts) in enumerate(parts):
        weights = sparse.csr_matrix((part.weights[at, 1:, code].ravel(), subsets, ends), shape)
        constant = part.weights[at, 0, code, None] * some.images[groups]
        found[:, groups] = (weights @ counts).toarray() + constant
    return found
