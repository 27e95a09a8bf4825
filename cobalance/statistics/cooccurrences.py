"""Concepts that occur together more or less often than their frequencies say."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base.arrays import FloatArray, IntArray
from cobalance.base.errors import OptionError, Setting
from cobalance.base.libraries import stats
from cobalance.counting.cliques import Cliques
from cobalance.counting.incidence import Incidence
from cobalance.counting.subsets import SubsetIndex
from cobalance.statistics.design_effects import independence_effects
from cobalance.statistics.q_values import MAX_Q_VALUE, q_values

_NEGLIGIBLE = 1e-17  # of a sum


def cooccurrence_table(
    cliques: Cliques, incidence: Incidence | None = None, min_support: int = 1
) -> pd.DataFrame:
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
    incidence : Incidence or None
        The images that were mined; needed where they are in clusters.
    min_support : int
        As `cliques` were mined. Above 1, pairs without images cannot be told from rare ones, and
        none are added.

    Returns
    -------
    pandas.DataFrame
        One row a combination of two concepts or more, those with a q-value of at most 0.05 first,
        by how far they are from what is expected.

        - ``concepts`` (tuple of str, ascending), ``size``, ``images`` (int64)
        - ``expected`` (images) and ``ratio``: observed over expected
        - ``clusters``: in how many it stands; only where images are in clusters
        - ``part`` (tuple of str): the first of the two parts that ``expected`` is of
        - ``p_value``: hypergeometric, the smaller tail doubled, exact; ``q_value``:
          Benjamini-Hochberg over all rows. Where images are in clusters, the p-value is at least
          that of the nearest whole counts after division by the design effect (Rao and Scott,
          Biometrics 48, 1992), see `design_effects.independence_effects`, and that of a t
          distribution of one degree of freedom less than clusters show the rarer part

    Raises
    ------
    OptionError
        No pairs were mined.

    Notes
    -----
    O(cliques x divisions x the images that a tail takes), at most 7 divisions of four concepts; by
    cluster also x the clusters that the parts stand in.

    Examples
    --------
    >>> cliques = Cliques(
    ...     np.array([[0, -1], [1, -1], [0, 1]]), np.array([[40], [50], [38]]), np.array([100]),
    ...     ("cow", "meadow"), ("all images",))
    >>> frame = cooccurrence_table(cliques)
    >>> frame[["concepts", "images", "expected", "ratio"]].to_dict("records")
    [{'concepts': ('cow', 'meadow'), 'images': 38, 'expected': 20.0, 'ratio': 1.9}]
    """
    if cliques.members.shape[1] < 2:
        raise OptionError("No pairs were mined. Mine with ", Setting("max_size", 2), ".")
    images, total = np.append(cliques.counts.sum(axis=1), 0), int(cliques.class_sizes.sum())
    index, sizes = SubsetIndex(cliques.members), cliques.sizes()
    found, divisions = [], []
    for size in range(2, int(sizes.max(initial=2)) + 1):
        members = cliques.members[sizes == size, :size]
        if size == 2 and min_support == 1:
            members = np.concatenate([_pairs_never_seen(cliques, total), members])
        subsets = index.combinations(members)
        one = np.arange(1, (1 << size) - 1, 2)  # the first member is in the first part
        found.append(members)
        bits = [-1] * len(one), one, ~one
        divisions.append(np.stack([subsets[:, part] for part in bits]))
    every = np.concatenate([rows.reshape(3, -1) for rows in divisions], axis=1)
    p_value = _test(images[every], total, every, cliques, incidence)
    of_size = np.split(p_value, np.cumsum([rows[0].size for rows in divisions])[:-1])
    names = np.array(cliques.concepts, dtype=object)
    parts = [
        _table(names[members], images[rows], total, some.reshape(rows.shape[1:]))
        for members, rows, some in zip(found, divisions, of_size, strict=True)
    ]
    table = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    if cliques.clustering is not None:
        standing = np.append(cliques.clustering.standing, 0)
        table["clusters"] = np.concatenate([standing[rows[0, :, 0]] for rows in divisions])
    table["q_value"] = q_values(table["p_value"].to_numpy())
    distance = (table["images"] - table["expected"]).abs().round(9)
    order = table.assign(_unproven=table["q_value"] > MAX_Q_VALUE, _distance=-distance)
    order = order.sort_values(["_unproven", "_distance", "size", "concepts"], kind="stable")
    return table.loc[order.index].reset_index(drop=True)


def _pairs_never_seen(cliques: Cliques, total: int) -> IntArray:
    """Pairs that no image shows, though one or more is expected."""
    sizes = cliques.sizes()
    single, pairs = cliques.members[sizes == 1, 0], cliques.members[sizes == 2][:, :2]
    counts = cliques.counts.sum(axis=1)[sizes == 1]
    order = np.argsort(-counts, kind="stable")
    codes, counts = single[order], counts[order]
    ends = np.searchsorted(-counts, -total / np.maximum(counts, 1), side="right")
    first = np.repeat(np.arange(len(codes)), np.maximum(ends - np.arange(len(codes)) - 1, 0))
    second = np.arange(len(first)) - np.searchsorted(first, first) + first + 1
    found = np.sort(np.column_stack([codes[first], codes[second]]), axis=1)
    width = len(cliques.concepts)
    unseen = ~np.isin(found @ [width, 1], pairs @ [width, 1])
    return found[unseen]


def _test(
    images: IntArray, total: int, divisions: IntArray, cliques: Cliques, incidence: Incidence | None
) -> FloatArray:
    """P-values of each division, by cluster where images are in clusters."""
    both, one, other = images
    exact = hypergeometric_test(both, one, other, total)
    if incidence is None or cliques.clustering is None:
        return exact
    effects = independence_effects(cliques, incidence, divisions)
    cells = np.stack([both, one - both, other - both, total - one - other + both]) / effects
    few = np.rint(cells).astype(np.int64)
    nearest = hypergeometric_test(few[0], few[0] + few[1], few[0] + few[2], few.sum(axis=0))
    mean = one * other / total
    spread = mean * (1 - one / total) * (1 - other / total) * effects
    t = np.abs(both - mean) / np.sqrt(np.maximum(spread, 1e-300))
    freedom = cliques.clustering.standing[divisions[1:]].min(axis=0) - 1
    limit = np.where(freedom > 0, 2 * stats.t.sf(t, np.maximum(freedom, 1)), 1.0)
    return np.maximum(exact, np.maximum(nearest, limit))


def _table(
    names: npt.NDArray[np.object_], images: IntArray, total: int, p_value: FloatArray
) -> pd.DataFrame:
    """The rows of combinations of one size, from the images of each division."""
    (n, size), (observed, one, other) = names.shape, images
    mean = one * (other / total)
    contradicted = (observed > mean).any(axis=1) & (observed < mean).any(axis=1)
    nearest = np.abs(observed - mean).argmin(axis=1)
    expected = mean[np.arange(n), nearest]
    concepts = [tuple(row) for row in names.tolist()]
    part = [
        tuple(name for bit, name in enumerate(row) if mask >> bit & 1)
        for row, mask in zip(concepts, (2 * nearest + 1).tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "concepts": pd.Series(concepts, dtype=object),
            "size": np.full(n, size),
            "images": observed[:, 0],
            "expected": expected,
            "ratio": observed[:, 0] / expected,
            "part": pd.Series(part, dtype=object),
            "p_value": np.where(contradicted, 1.0, p_value.max(axis=1)),
        }
    )


def hypergeometric_test(
    both: IntArray, one: IntArray, other: IntArray, total: int | IntArray
) -> FloatArray:
    """Return two-sided p-values of how many images show both of two things.

    The tail on the side of the observation, doubled, of the hypergeometric distribution: exact
    where the two are independent, and their frequencies are given.

    Parameters
    ----------
    both, one, other : int arrays of equal shape
        Images that show both, the first and the second.
    total : int or int array of that shape
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
    first_term = np.exp(stats.hypergeom.logpmf(at, total, second, first))
    neither, most = total - first - second, np.minimum(first, second)
    tail, term = np.ones_like(first), np.ones_like(first)
    running = np.flatnonzero(at < most)
    while len(running):
        i, a, b = at[running], first[running], second[running]
        term[running] *= (a - i) * (b - i) / ((i + 1) * (neither[running] + i + 1))
        tail[running] += term[running]
        at[running] += 1
        going = (term[running] > _NEGLIGIBLE * tail[running]) & (at[running] < most[running])
        running = running[going]
    return np.asarray(np.minimum(1.0, 2 * first_term * tail))
