"""Concepts that occur together more or less often than their frequencies say."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from cobalance.base import FloatArray, IntArray, OptionError, Setting, stats
from cobalance.counting import Cliques, Incidence, SubsetIndex
from cobalance.statistics.design_effects import independence_effects
from cobalance.statistics.q_values import MAX_Q_VALUE, q_values

# A term that is a smaller share of a sum is the last.
_NEGLIGIBLE = 1e-17
# Between the name of a column and the value that a concept is.
_OF_COLUMN = ": "


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
        more is expected, but for values of one column (``animal: cat``, ``animal: dog``): an image
        has one of them.
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
    # The row -1, of parts that no image shows together, is the last and has no images.
    images, total = np.append(cliques.counts.sum(axis=1), 0), int(cliques.class_sizes.sum())
    index, sizes = SubsetIndex(cliques.members), cliques.sizes()

    members_by_size, divisions_by_size = [], []
    for size in range(2, int(sizes.max(initial=2)) + 1):
        members = cliques.members[sizes == size, :size]
        if size == 2 and min_support == 1:
            members = np.concatenate([_pairs_never_seen(cliques, total), members])
        subsets = index.combinations(members)
        # Each division once: the first member is in the first part, whose bits are odd numbers.
        first_parts = np.arange(1, (1 << size) - 1, 2)
        whole = [-1] * len(first_parts)
        divisions = [subsets[:, masks] for masks in (whole, first_parts, ~first_parts)]
        members_by_size.append(members)
        divisions_by_size.append(np.stack(divisions))

    # All are tested at once, as those by cluster pass over all images.
    all_divisions = np.concatenate([rows.reshape(3, -1) for rows in divisions_by_size], axis=1)
    p_value = _test(images[all_divisions], total, all_divisions, cliques, incidence)
    ends = np.cumsum([rows[0].size for rows in divisions_by_size])
    p_values_by_size = np.split(p_value, ends[:-1])

    names = np.array(cliques.concepts, dtype=object)
    tables = [
        _table(names[members], images[rows], total, p_values.reshape(rows.shape[1:]))
        for members, rows, p_values in zip(
            members_by_size, divisions_by_size, p_values_by_size, strict=True
        )
    ]
    table = pd.concat([part for part in tables if len(part)] or tables[:1], ignore_index=True)
    if cliques.clustering is not None:
        standing = np.append(cliques.clustering.standing, 0)
        table["clusters"] = np.concatenate([standing[rows[0, :, 0]] for rows in divisions_by_size])
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

    # The most frequent concepts first: each is expected with those behind it up to an end.
    order = np.argsort(-counts, kind="stable")
    codes, counts = single[order], counts[order]
    ends = np.searchsorted(-counts, -total / np.maximum(counts, 1), side="right")
    first = np.repeat(np.arange(len(codes)), np.maximum(ends - np.arange(len(codes)) - 1, 0))
    second = np.arange(len(first)) - np.searchsorted(first, first) + first + 1

    expected_pairs = np.sort(np.column_stack([codes[first], codes[second]]), axis=1)
    width = len(cliques.concepts)
    unseen = ~np.isin(expected_pairs @ [width, 1], pairs @ [width, 1])

    # Values of a column are named after it; a name without one is a column of its own.
    names = [name.partition(_OF_COLUMN) for name in cliques.concepts]
    columns, _ = pd.factorize(np.array([column + sign for column, sign, _ in names], dtype=object))
    has_column = np.array([bool(sign) for _, sign, _ in names])
    first, second = expected_pairs.T
    of_one_column = has_column[first] & (columns[first] == columns[second])
    return expected_pairs[unseen & ~of_one_column]


def _test(
    images: IntArray, total: int, divisions: IntArray, cliques: Cliques, incidence: Incidence | None
) -> FloatArray:
    """P-values of each division, by cluster where images are in clusters."""
    both, first, second = images
    exact = hypergeometric_test(both, first, second, total)
    if incidence is None or cliques.clustering is None:
        return exact

    # The nearest whole counts after division by the design effect (Rao and Scott 1992).
    effects = independence_effects(cliques, incidence, divisions)
    neither = total - first - second + both
    cells = np.stack([both, first - both, second - both, neither]) / effects
    few = np.rint(cells).astype(np.int64)
    nearest = hypergeometric_test(few[0], few[0] + few[1], few[0] + few[2], few.sum(axis=0))

    # A t distribution, of one degree of freedom less than clusters show the rarer part.
    mean = first * second / total
    spread = mean * (1 - first / total) * (1 - second / total) * effects
    t = np.abs(both - mean) / np.sqrt(np.maximum(spread, 1e-300))
    freedom = cliques.clustering.standing[divisions[1:]].min(axis=0) - 1
    by_clusters = np.where(freedom > 0, 2 * stats.t.sf(t, np.maximum(freedom, 1)), 1.0)
    return np.maximum(exact, np.maximum(nearest, by_clusters))


def _table(
    names: npt.NDArray[np.object_], images: IntArray, total: int, p_value: FloatArray
) -> pd.DataFrame:
    """The rows of combinations of one size, from the images of each division."""
    (n, size), (observed, first, second) = names.shape, images
    mean = first * (second / total)
    contradicted = (observed > mean).any(axis=1) & (observed < mean).any(axis=1)
    nearest = np.abs(observed - mean).argmin(axis=1)
    expected = mean[np.arange(n), nearest]

    # The bits of a division's first part are the odd number that follows from its position.
    concepts = [tuple(row) for row in names.tolist()]
    parts = []
    for row, mask in zip(concepts, (2 * nearest + 1).tolist(), strict=True):
        parts.append(tuple(name for bit, name in enumerate(row) if mask >> bit & 1))

    return pd.DataFrame(
        {
            "concepts": pd.Series(concepts, dtype=object),
            "size": np.full(n, size),
            "images": observed[:, 0],
            "expected": expected,
            "ratio": observed[:, 0] / expected,
            "part": pd.Series(parts, dtype=object),
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
    count = np.where(few, one - both, both).astype(np.float64)

    # The terms of the tail, as shares of the first, follow from each other.
    first_term = np.exp(stats.hypergeom.logpmf(count, total, second, first))
    neither, most = total - first - second, np.minimum(first, second)
    tail, term = np.ones_like(first), np.ones_like(first)
    running = np.flatnonzero(count < most)
    while len(running):
        i, a, b = count[running], first[running], second[running]
        term[running] *= (a - i) * (b - i) / ((i + 1) * (neither[running] + i + 1))
        tail[running] += term[running]
        count[running] += 1
        going = (term[running] > _NEGLIGIBLE * tail[running]) & (count[running] < most[running])
        running = running[going]
    return np.asarray(np.minimum(1.0, 2 * first_term * tail))
