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

from cobalance.base import BoolArray, FloatArray, IntArray, sparse
from cobalance.counting import (
    Cliques,
    ClusterCounts,
    Clustering,
    Incidence,
    SubsetIndex,
    count_in_clusters,
)
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
    codes = incidence.clusters
    if codes is None or len(np.unique(codes[codes >= 0])) == np.count_nonzero(codes >= 0):
        return cliques

    # Sums over clusters of squared counts, counts times images and squared scores, in each class
    # and in all together; clusters that show the clique, and that show it in all of their images.
    n, n_classes = cliques.counts.shape
    all_scores = _own_scores(cliques)
    squares, products, score_squares = np.zeros((3, n, n_classes))
    joint_squares, joint_products, score_crossing = np.zeros((3, n))
    standing, full = np.zeros((2, n), dtype=np.int64)
    size_squares, joint_size_squares, n_clusters = np.zeros(n_classes), 0.0, 0
    for groups in count_in_clusters(incidence, cliques):
        in_class = np.eye(n_classes)[groups.classes]
        squares += groups.counts.power(2) @ in_class
        products += groups.counts @ (in_class * groups.images[:, None])
        size_squares += groups.images**2 @ in_class

        starts = np.flatnonzero(np.diff(groups.clusters, prepend=-1))
        n_groups = len(groups.classes)
        in_cluster = np.ones(n_groups), groups.clusters, np.arange(n_groups + 1)
        joint = groups.counts @ sparse.csr_matrix(in_cluster)
        images = np.add.reduceat(groups.images, starts)
        joint_squares += joint.power(2).sum(axis=1).A1
        joint_products += joint @ images
        joint_size_squares += (images**2).sum()
        n_clusters += len(starts)

        standing += joint.getnnz(axis=1)
        full += _count_full(joint, images)
        _add_scores(score_squares, score_crossing, all_scores, groups)

    sizes = cliques.class_sizes
    mean = size_squares / np.maximum(sizes, 1)

    # Of the test, the scores are deviations from the rate of all classes together.
    rate = cliques.counts.sum(axis=1, keepdims=True) / sizes.sum()
    alike = squares - 2 * rate * products + rate**2 * size_squares
    all_alike = (
        joint_squares - 2 * rate[:, 0] * joint_products + rate[:, 0] ** 2 * joint_size_squares
    )
    single = cliques.counts * (1 - 2 * rate) + sizes * rate**2
    tests, paired = design_effects(alike, all_alike, sizes * rate * (1 - rate), mean, single=single)

    # Of the interval, they are deviations from the rate of each class.
    rates = cliques.counts / np.maximum(sizes, 1)
    apart = squares - 2 * rates * products + rates**2 * size_squares
    intervals, _ = design_effects(apart, apart.sum(axis=1), sizes * rates * (1 - rates), mean)

    # Cliques are by size, as the scores are.
    information = np.concatenate([scores.information for scores in all_scores])
    own, _ = design_effects(score_squares, score_crossing, information, mean)

    # A cluster varies in a clique unless none or all of its images show it.
    varying = np.minimum(standing, n_clusters - full)
    freedom = np.where(paired, np.maximum(varying - 1, 0), -1)
    clustering = Clustering(
        standing=standing, freedom=freedom, tests=tests, intervals=intervals, own=own
    )
    return replace(cliques, clustering=clustering)


def _count_full(joint: "sparse.csr_matrix", images: FloatArray) -> IntArray:
    """How many clusters show each clique in all of their images."""
    n = joint.shape[0]
    rows = np.repeat(np.arange(n), joint.getnnz(axis=1))
    is_full = joint.data == images[joint.indices]
    return np.bincount(rows[is_full], minlength=n)


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
    total, has_information = information.sum(axis=1), information > 0
    further_images = np.maximum(mean - 1, 0)

    # Images of one class in a cluster correlate as pairs in all classes do, for a class by its own
    # sizes of clusters; where no pair tells, as if they were one image.
    together = np.maximum(squares.sum(axis=1) - total, 0)
    room = information @ further_images
    correlation = np.divide(together, room, out=np.ones_like(room), where=room > 0)
    effects = 1 + np.minimum(correlation, 1)[:, None] * further_images
    total = np.maximum(total, 1e-9)

    def variance(of_classes: FloatArray, of_all: FloatArray) -> FloatArray:
        shares = np.zeros_like(of_classes)
        np.divide(of_classes, information, out=shares, where=has_information)
        return np.asarray(shares.sum(axis=1) - of_all / total)

    # Where the scores vary more between the classes than that, this counts; where clusters reach
    # across classes, the part that cancels does not.
    alone = variance(effects * information, (effects * information).sum(axis=1))
    expected, observed = alone, variance(squares, crossing)
    if single is not None:
        n_others = np.maximum(has_information.sum(axis=1) - 1, 1)
        lean = variance(single, single.sum(axis=1)) / n_others
        observed = observed / np.maximum(lean, 1)
        expected = alone - (crossing - squares.sum(axis=1)) / total
    larger = np.maximum(expected, observed)
    factor = np.divide(larger, alone, out=np.ones_like(alone), where=alone > 1e-9)
    return np.maximum(effects * factor[:, None], 1.0), factor < 1 - 1e-9


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
    total, (_, first_rows, second_rows) = len(incidence.labels), divisions
    rates = np.append(cliques.counts.sum(axis=1) / total, 0)

    # All images are of one class here.
    labels = np.zeros_like(incidence.labels)
    incidence = replace(incidence, labels=labels, classes=("",))

    # The covariances of two images in a part, summed over the pairs of images in each cluster but
    # for the square of the part's rate, which is the same for all pairs and is added below.
    part_sums, n_pairs = np.zeros(len(cliques)), 0.0
    covariance = np.zeros(divisions.shape[1])
    for clusters in count_in_clusters(incidence, replace(cliques, classes=("",))):
        counts, others = clusters.counts, clusters.images - 1
        pair_roots = np.sqrt(clusters.images * others)
        rate = np.repeat(rates[:-1], counts.getnnz(axis=1))
        counts.data *= counts.data - 1 - 2 * rate * others[counts.indices]
        counts.data /= np.maximum(pair_roots, 1)[counts.indices]
        part_sums += counts @ pair_roots
        n_pairs += float(pair_roots @ pair_roots)

        n_blocks = 1 + len(covariance) * len(pair_roots) // BLOCK
        for block in np.array_split(np.arange(len(covariance)), n_blocks):
            products = counts[first_rows[block]].multiply(counts[second_rows[block]])
            covariance[block] += products.sum(axis=1).A1

    both, first, second = rates[divisions]
    covariance += (
        second**2 * part_sums[first_rows]
        + first**2 * part_sums[second_rows]
        + (first * second) ** 2 * n_pairs
    )

    # The expected square of an image's score.
    squares = both * (1 - 2 * first) * (1 - 2 * second) + (first * second) ** 2
    squares += first * (1 - 2 * first) * second**2 + second * (1 - 2 * second) * first**2
    further = np.zeros_like(covariance)
    np.divide(covariance, total * squares, out=further, where=squares > 1e-12)
    return np.asarray(np.maximum(further, 0) + 1)


def _own_scores(cliques: Cliques) -> list[_Scores]:
    """Scores of the highest interaction: an image counts by the fitted images that are like it."""
    all_scores = []
    for rows, subsets, cells in presence_blocks(cliques, SubsetIndex(cliques.members)):
        size, n_classes = subsets.shape[1].bit_length() - 1, cells.shape[2]
        fitted, free = fit_cells(cells)
        weights = signs(size)[:, None] / np.maximum(fitted, 1.0) * free[:, None]
        information = (cells * weights**2).sum(axis=1)
        weights = weights / np.maximum(information, 1e-300)[:, None]
        information = (cells * weights**2).sum(axis=1)

        # From weights of images with exactly some parts to those of images with at least these.
        for part in range(size):
            view = weights.reshape(len(rows), 1 << size - part - 1, 2, 1 << part, n_classes)
            view[:, :, 1] -= view[:, :, 0]
        scores = _Scores(rows=rows, subsets=subsets, weights=weights, information=information)
        all_scores.append(scores)
    return all_scores


def _add_scores(
    squares: FloatArray,
    crossing: FloatArray,
    all_scores: Sequence[_Scores],
    groups: ClusterCounts,
) -> None:
    """Add the squared sums of scores in some clusters, of each class and of all classes."""
    n_classes = squares.shape[1]
    in_class = np.eye(n_classes)[groups.classes]
    starts = np.flatnonzero(np.diff(groups.clusters, prepend=-1))
    positions = [np.flatnonzero(groups.classes == code) for code in range(n_classes)]
    counts = [groups.counts[:, columns] for columns in positions]

    for scores in all_scores:
        n_blocks = 1 + scores.rows.size * len(groups.classes) // BLOCK
        for block in np.array_split(np.arange(len(scores.rows)), n_blocks):
            sums = _sum_scores(scores, block, groups, positions, counts)
            squares[scores.rows[block]] += sums**2 @ in_class
            joint = np.add.reduceat(sums, starts, axis=1)
            crossing[scores.rows[block]] += (joint**2).sum(axis=1)


def _sum_scores(
    scores: _Scores,
    block: IntArray,
    groups: ClusterCounts,
    positions: Sequence[IntArray],
    counts: "Sequence[sparse.csr_matrix]",
) -> FloatArray:
    """Sums of scores in each group, shape (n, n_groups), from the groups and counts by class."""
    sums = np.empty((len(block), len(groups.classes)))
    ends = np.arange(len(block) + 1) * (scores.subsets.shape[1] - 1)
    subsets = scores.subsets[block, 1:].ravel()
    shape = len(block), groups.counts.shape[0]
    for code, columns in enumerate(positions):
        coefficients = scores.weights[block, 1:, code].ravel()
        weights = sparse.csr_matrix((coefficients, subsets, ends), shape)
        constant = scores.weights[block, 0, code, None] * groups.images[columns]
        sums[:, columns] = (weights @ counts[code]).toarray() + constant
    return sums
