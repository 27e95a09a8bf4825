"""Add and subtract the clique counts of parts of a dataset, exactly."""

from collections.abc import Collection, Sequence

import numpy as np

from cobalance.base import BoolArray, IntArray, OptionError, check_known, positions_of
from cobalance.counting.cliques import Cliques, clique_order, first_of_equal


def sum_cliques(parts: Sequence[Cliques]) -> Cliques:
    """Add the counts of disjoint sets of images, such as shards of a dataset.

    Every part has to be complete: mined with ``min_support=1`` and ``common=()``. A clique that
    is rare in each part may be frequent in the whole, so a part that leaves out rare ones gives
    counts that are too low, which nothing in the sum shows. `select_cliques` applies both
    conditions to the sum.

    Parameters
    ----------
    parts : sequence of Cliques
        With the same `max_size`. Names may differ: the sum has those of all parts.

    Raises
    ------
    OptionError
        For no parts, or parts of different `max_size`.

    Notes
    -----
    Complexity: O(n log n) in the number of cliques of all parts, whatever the number of images.
    """
    return _combine(parts, [1] * len(parts))


def update_cliques(
    cliques: Cliques, *, added: Cliques | None = None, removed: Cliques | None = None
) -> Cliques:
    """Return the counts after images were added and removed, without counting the rest again.

    Parameters
    ----------
    cliques : Cliques
        The counts before: complete, as in `sum_cliques`.
    added, removed : Cliques or None
        Complete counts of these images alone, of the same `max_size`. An image that changed was
        removed as it was, and added as it is.

    Returns
    -------
    Cliques
        What mining all the images anew gives. Names of concepts and classes that no image has any
        more stay; cliques that no image has any more do not.

    Raises
    ------
    OptionError
        For different `max_size`, or removed images that were not counted before.
    """
    changes = [(1, cliques), (1, added), (-1, removed)]
    signed_parts = [(sign, part) for sign, part in changes if part is not None]
    return _combine([part for _, part in signed_parts], [sign for sign, _ in signed_parts])


def select_cliques(
    cliques: Cliques, *, min_support: int = 1, common: Collection[str] | None = None
) -> Cliques:
    """Apply minimum support and common classes to complete counts, as `mine_cliques` does.

    Raises
    ------
    OptionError
        For a `min_support` below 1.
    UnknownNameError
        For a name in `common` that is not a class.
    """
    if min_support < 1:
        raise OptionError(f"min_support is {min_support}. Give a whole number of 1 or more.")
    check_known("class", common or (), cliques.classes)

    # The code -1, behind the last member, is the last, and makes no condition.
    named = np.array([common is None or name in common for name in cliques.classes], dtype=np.bool_)
    single = cliques.sizes() == 1
    adjacent = np.zeros(len(cliques.concepts) + 1, dtype=np.bool_)
    adjacent[cliques.members[single, 0]] = (cliques.counts[single][:, named] > 0).all(axis=1)
    adjacent[-1] = True

    supported = cliques.counts.max(axis=1, initial=0) >= min_support
    return cliques.take(supported & adjacent[cliques.members].all(axis=1))


def align_members(parts: Sequence[Cliques], concepts: tuple[str, ...]) -> IntArray:
    """Put tables of equal `max_size` one below the other: int32 members in codes of `concepts`.

    Names ascend in both, so that members do.
    """
    code_of = positions_of(concepts)
    tables = []
    for part in parts:
        # The code -1, behind the last member, is the last.
        new_codes = [*(code_of.get(name, -1) for name in part.concepts), -1]
        tables.append(np.array(new_codes, dtype=np.int32)[part.members])
    return np.concatenate(tables)


def _combine(parts: Sequence[Cliques], signs: Sequence[int]) -> Cliques:
    """Add the counts of parts, each with its sign."""
    widths = sorted({part.members.shape[1] for part in parts})
    if len(widths) != 1:
        raise OptionError(
            f"the parts have cliques of up to {widths} concepts. Give one part or more, all mined "
            "with the same max_size."
        )

    concepts = tuple(sorted({name for part in parts for name in part.concepts}))
    classes = tuple(sorted({name for part in parts for name in part.classes}))
    members = align_members(parts, concepts)
    counts = np.zeros((len(members), len(classes)), dtype=np.int64)
    sizes = np.zeros(len(classes), dtype=np.int64)
    start = 0
    for part, sign in zip(parts, signs, strict=True):
        columns = [classes.index(name) for name in part.classes]
        counts[start : start + len(part), columns] = sign * part.counts
        sizes[columns] += sign * part.class_sizes
        start += len(part)

    # Rows of equal cliques come together, and are summed.
    order = clique_order(members, len(concepts) + 1)
    members, counts = members.take(order, axis=0), counts.take(order, axis=0)
    is_first = first_of_equal(members)
    totals = counts
    if len(counts):
        totals = np.add.reduceat(counts, np.flatnonzero(is_first), axis=0)
    if (totals < 0).any() or (sizes < 0).any():
        raise OptionError(
            "more images are removed than were counted. Give complete counts (min_support=1, "
            "common=()) from before, and remove only images among them."
        )

    summed = Cliques(
        members=members[is_first],
        counts=totals,
        class_sizes=sizes,
        concepts=concepts,
        classes=classes,
    )
    occurring: BoolArray = (totals != 0).any(axis=1)
    return summed.take(occurring)
