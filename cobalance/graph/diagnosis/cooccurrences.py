"""Concepts that occur together more or less often than their frequencies say."""

import numpy as np
import pandas as pd

from cobalance.graph.arrays import BoolArray, FloatArray, IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.counting.subsets import SubsetIndex
from cobalance.graph.diagnosis.q_values import MAX_Q_VALUE, q_values
from cobalance.graph.libraries import special

_NEGLIGIBLE = 1e-17  # of a sum


def cooccurrence_table(cliques: Cliques) -> pd.DataFrame:
    """Return the observed and expected images of each combination, those with evidence first.

    A combination of two parts is expected in as many images as parts of their frequencies have in
    common if they are independent. One of three or more concepts can be divided in several ways:
    the division that comes nearest to what is observed is the one shown, and the p-value is the
    largest of all divisions. So a combination has evidence only beyond each of its parts (the
    productive itemsets of Webb, "Self-sufficient itemsets", ACM TKDD 2010). Where some divisions
    say more and others less, the p-value is 1.

    Parameters
    ----------
    cliques : Cliques
        All mined cliques. Pairs of their concepts that no image shows are added where one image or
        more is expected.

    Returns
    -------
    pandas.DataFrame
        One row a combination of two concepts or more, those with a q-value of at most 0.05 first,
        by how far they are from what is expected.

        - ``concepts`` (tuple of str, ascending), ``size``, ``images`` (int64)
        - ``expected`` (images) and ``ratio``: observed over expected
        - ``part`` (tuple of str): the first of the two parts that ``expected`` is of
        - ``p_value``: hypergeometric, the smaller tail doubled, exact; ``q_value``:
          Benjamini-Hochberg over all rows. Not defined where images are in clusters, whose concepts
          are not independent

    Notes
    -----
    O(cliques x divisions x the images that a tail takes), at most 7 divisions of four concepts.

    Examples
    --------
    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[40], [50], [38]]), np.array([100]),
    ...     ("cow", "meadow"), ("all images",))
    >>> frame = cooccurrence_table(cliques)
    >>> frame[["concepts", "images", "expected", "ratio"]].to_dict("records")
    [{'concepts': ('cow', 'meadow'), 'images': 38, 'expected': 20.0, 'ratio': 1.9}]
    """
    images, total = cliques.counts.sum(axis=1), int(cliques.class_sizes.sum())
    parts = [_pairs_never_seen(cliques, images, total)]
    index, sizes = SubsetIndex(cliques.members), cliques.sizes()
    names = np.array(cliques.concepts, dtype=object)
    for size in range(2, int(sizes.max(initial=0)) + 1):
        rows = np.flatnonzero(sizes == size)
        members = cliques.members[rows, :size]
        of_subset = np.append(images, 0)[index.combinations(members)]
        parts.append(_table(names, members, images[rows], of_subset, total))
    table = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    if cliques.clustering is not None:
        table["p_value"] = np.nan
    known = table["p_value"].notna()
    table.loc[known, "q_value"] = q_values(table.loc[known, "p_value"].to_numpy())
    distance = (table["images"] - table["expected"]).abs().round(9)
    order = table.assign(_unproven=table["q_value"] > MAX_Q_VALUE, _distance=-distance)
    order = order.sort_values(["_unproven", "_distance", "size", "concepts"], kind="stable")
    return table.loc[order.index].reset_index(drop=True)


def _pairs_never_seen(cliques: Cliques, images: IntArray, total: int) -> pd.DataFrame:
    """The table of pairs that no image shows, though one or more is expected."""
    sizes = cliques.sizes()
    single, pairs = cliques.members[sizes == 1, 0], cliques.members[sizes == 2][:, :2]
    counts = images[sizes == 1]
    order = np.argsort(-counts, kind="stable")
    codes, counts = single[order], counts[order]
    ends = np.searchsorted(-counts, -total / np.maximum(counts, 1), side="right")
    first = np.repeat(np.arange(len(codes)), np.maximum(ends - np.arange(len(codes)) - 1, 0))
    second = np.arange(len(first)) - np.searchsorted(first, first) + first + 1
    found = np.sort(np.column_stack([codes[first], codes[second]]), axis=1)
    width = len(cliques.concepts)
    unseen = ~np.isin(found @ [width, 1], pairs @ [width, 1])
    of_subset = np.column_stack([counts[first], counts[first], counts[second], counts[second]])
    names = np.array(cliques.concepts, dtype=object)
    none = np.zeros(int(unseen.sum()), dtype=np.int64)
    return _table(names, found[unseen], none, of_subset[unseen], total)


def _table(
    names: "np.ndarray[tuple[int], np.dtype[np.object_]]",
    members: IntArray,
    observed: IntArray,
    of_subset: IntArray,
    total: int,
) -> pd.DataFrame:
    """The rows of combinations of one size; `of_subset` has the images of each subset's bits."""
    n, size = members.shape
    whole = (1 << size) - 1
    p_value, nearest = np.zeros(n), np.full(n, np.inf)
    expected, chosen = np.zeros(n), np.zeros(n, dtype=np.int64)
    above, below = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for mask in range(1, whole, 2):  # the first member is in the first part
        one, other = of_subset[:, mask], of_subset[:, whole ^ mask]
        mean = one * (other / total)
        p_value = np.maximum(p_value, hypergeometric_test(observed, one, other, total))
        above |= observed > mean
        below |= observed < mean
        distance = np.abs(observed - mean)
        closer = distance < nearest
        nearest, expected = np.where(closer, distance, nearest), np.where(closer, mean, expected)
        chosen[closer] = mask
    concepts = [tuple(row) for row in names[members].tolist()]
    part = [
        tuple(name for bit, name in enumerate(row) if mask >> bit & 1)
        for row, mask in zip(concepts, chosen.tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "concepts": pd.Series(concepts, dtype=object),
            "size": np.full(n, size),
            "images": observed,
            "expected": expected,
            "ratio": observed / np.where(expected > 0, expected, np.nan),
            "part": pd.Series(part, dtype=object),
            "p_value": np.where(above & below, 1.0, p_value),
        }
    )


def hypergeometric_test(both: IntArray, one: IntArray, other: IntArray, total: int) -> FloatArray:
    """Return two-sided p-values of how many images show both of two things.

    The tail on the side of the observation, doubled, of the hypergeometric distribution: exact
    where the two are independent, and their frequencies are given.

    Parameters
    ----------
    both, one, other : int arrays of equal shape
        Images that show both, the first and the second.
    total : int
        Images.

    Examples
    --------
    >>> hypergeometric_test(np.array([3, 1]), np.array([3, 2]), np.array([3, 5]), 10).round(4)
    array([0.0167, 1.    ])
    """
    first = one.astype(np.float64)
    # Few images with both are many of the first without the second.
    few = both * total < first * other
    second = np.where(few, total - other, other).astype(np.float64)
    at = np.where(few, one - both, both).astype(np.float64)
    log_p = _log_choose(second, at) + _log_choose(total - second, first - at)
    log_p -= _log_choose(np.full_like(first, total), first)
    tail, term = np.ones_like(first), np.ones_like(first)
    running = np.flatnonzero(at < np.minimum(first, second))
    while len(running):
        i, a, b = at[running], first[running], second[running]
        term[running] *= (a - i) * (b - i) / ((i + 1) * (total - a - b + i + 1))
        tail[running] += term[running]
        at[running] += 1
        going: BoolArray = (term[running] > _NEGLIGIBLE * tail[running]) & (
            at[running] < np.minimum(a, b)
        )
        running = running[going]
    found: FloatArray = np.minimum(1.0, 2 * np.exp(log_p) * tail)
    return found


def _log_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    log_gamma = special.gammaln
    found: FloatArray = log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1)
    return found
