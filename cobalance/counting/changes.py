"""Follow images that come and go in mined cliques, without counting the others again."""

from collections.abc import Collection, Mapping, Sequence
from itertools import compress

import numpy as np

from cobalance.base.arrays import BoolArray, IntArray
from cobalance.base.errors import TooManyCliquesError
from cobalance.counting.cliques import Cliques, clique_order, count_chosen, mine_cliques
from cobalance.counting.incidence import Incidence
from cobalance.counting.sums import align_members

MOST_CANDIDATES = 500
"""Cliques that may have become frequent; where there are more, counting all images is quicker."""
_HASH_SEED = 11


def find_changes(before: Incidence, after: Incidence) -> tuple[Incidence, Incidence]:
    """Return images of `after` that `before` lacks, and images of `before` that `after` lacks.

    An image is its class and its concepts: one that changed is in both, and of several equal ones
    only as many are as there are more or fewer.

    Notes
    -----
    Images are compared by hashes of 64 bits, so that two different ones may count as equal: of ten
    million images with a chance of 10^-5.

    Complexity: O(n log n) in the number of images, and linear in their concepts.
    """
    old, new = _equal_groups(before, after)
    n_groups = 1 + max(old.max(initial=-1), new.max(initial=-1))
    added = after.take(_beyond(new, np.bincount(old, minlength=n_groups)))
    removed = before.take(_beyond(old, np.bincount(new, minlength=n_groups)))
    return added, removed


def count_changed(
    before: Incidence, ids_before: Sequence[str], after: Incidence, ids_after: Sequence[str]
) -> int:
    """Count the images that came, went, or have another class or other concepts, by their ids."""
    old, new = _equal_groups(before, after)
    group_before = dict(zip(ids_before, old.tolist(), strict=True))
    group_after = dict(zip(ids_after, new.tolist(), strict=True))
    return len({image for image, _ in group_before.items() ^ group_after.items()})


def _equal_groups(before: Incidence, after: Incidence) -> tuple[IntArray, IntArray]:
    """Number of each image's class and concepts: equal images have the same."""
    concepts = sorted({*before.concepts, *after.concepts})
    classes = sorted({*before.classes, *after.classes})
    rng = np.random.default_rng(_HASH_SEED)
    of_concept, of_class = (
        dict(zip(names, rng.integers(-(2**63), 2**63 - 1, len(names)).tolist(), strict=True))
        for names in (concepts, classes)
    )
    hashes = [_hashes(part, of_concept, of_class) for part in (before, after)]
    group = np.unique(np.concatenate(hashes), return_inverse=True)[1]
    return group[: len(hashes[0])], group[len(hashes[0]) :]


def update_mined(
    former: Cliques,
    before: Incidence,
    after: Incidence,
    *,
    max_size: int,
    min_support: int,
    common: Collection[str] | None,
    max_cliques: int,
) -> tuple[Cliques, int] | None:
    """Update mined cliques by counting only the images that changed.

    Parameters
    ----------
    former : Cliques
        What `mine_cliques` gives of `before` with these options.
    before, after : Incidence
        Without classes and concepts that no image has.

    Returns
    -------
    Cliques, int
        What `mine_cliques` gives of `after` with these options, and the number of images that were
        added or removed. None where the difference does not tell, or not sooner than counting all:
        a class came or went, a quarter of the images changed, or too many cliques that were too
        rare before may have become frequent.

    Notes
    -----
    Cliques in `former` gain and lose what the changed images show. One that is missing there was
    below `min_support`, and has to be in an added image to reach it: with ``min_support=1`` its
    former count is zero, otherwise it is counted by itself. What contains a concept that was not
    common to the classes before is counted in the images that show such a concept.
    """
    if before.classes != after.classes:
        return None
    added, removed = find_changes(before, after)
    changed = len(added.labels) + len(removed.labels)
    if 4 * changed > len(after.labels) or not _adds_up(before, after, added, removed):
        return None
    frequent = after.class_concept_counts().max(axis=0, initial=0) >= min_support
    now = set(compress(after.concepts, frequent & after.concepts_of_all(common)))
    then = set(compress(before.concepts, before.concepts_of_all(common)))
    try:
        gained, lost = (
            mine_cliques(
                part.restrict(_are(part, now & then)),
                max_size=max_size,
                common=(),
                max_cliques=max_cliques,
            )
            for part in (added, removed)
        )
        recent = _with_any(after, now, now - then, max_size, min_support, max_cliques)
    except TooManyCliquesError:
        return None
    table = _follow(_within(former, now & then), gained, lost, after, min_support)
    if table is None:
        return None
    members = align_members([table, recent], after.concepts)
    counts = np.concatenate([table.counts, recent.counts])
    order = clique_order(members, len(after.concepts) + 1)
    if len(order) > max_cliques:
        return None  # for the error that mining raises
    cliques = Cliques(
        members[order], counts[order], after.class_sizes(), after.concepts, after.classes
    )
    return cliques, changed


def _follow(
    former: Cliques, gained: Cliques, lost: Cliques, after: Incidence, min_support: int
) -> Cliques | None:
    """Add and subtract counts; None where too many cliques would have to be counted."""
    names = tuple(sorted({*former.concepts, *gained.concepts, *lost.concepts}))
    members = align_members([former, gained, lost], names)
    counts = np.concatenate([former.counts, gained.counts, -lost.counts])
    source = np.repeat(np.arange(3), [len(former), len(gained), len(lost)])
    order = clique_order(members, len(names) + 1)
    members, counts, source = members[order], counts[order], source[order]
    first = np.ones(len(members), dtype=np.bool_)
    first[1:] = (members[1:] != members[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    if not len(starts):
        return former
    totals = np.add.reduceat(counts, starts, axis=0)
    known, grown = (np.add.reduceat(source == at, starts) > 0 for at in (0, 1))
    table = Cliques(members[first], totals, former.class_sizes, names, former.classes)
    if min_support > 1:
        candidates = np.flatnonzero(~known & grown)
        if len(candidates) > MOST_CANDIDATES:
            return None
        totals[~known] = 0
        totals[candidates] = count_chosen(after, table.take(candidates).names())
    supported: BoolArray = totals.max(axis=1, initial=0) >= min_support
    return table.take(supported)


def _with_any(
    after: Incidence,
    names: Collection[str],
    some: Collection[str],
    max_size: int,
    min_support: int,
    max_cliques: int,
) -> Cliques:
    """Count the cliques of concepts in `names` that have one of `some`."""
    marked = _are(after, some)
    images = after.take(np.flatnonzero(after.sum_rows(marked)))
    cliques = mine_cliques(
        images.restrict(_are(images, names)),
        max_size=max_size,
        min_support=min_support,
        common=(),
        max_cliques=max_cliques,
    )
    has_one = np.array([*(name in some for name in cliques.concepts), False])
    rows = np.flatnonzero(has_one[cliques.members].any(axis=1))
    return cliques.take(rows)


def _within(cliques: Cliques, names: Collection[str]) -> Cliques:
    """Keep the cliques of concepts in `names`."""
    kept = np.array([*(name in names for name in cliques.concepts), True])
    return cliques.take(np.flatnonzero(kept[cliques.members].all(axis=1)))


def _are(incidence: Incidence, names: Collection[str]) -> BoolArray:
    return np.array([name in names for name in incidence.concepts], dtype=np.bool_)


def _hashes(
    part: Incidence, of_concept: Mapping[str, int], of_class: Mapping[str, int]
) -> IntArray:
    """Hash each image's class and concepts as a sum of random numbers, which wraps around."""
    concept, label = (
        np.array([of[name] for name in names], dtype=np.int64)
        for of, names in ((of_concept, part.concepts), (of_class, part.classes))
    )
    hashed: IntArray = part.sum_rows(concept) + label[part.labels]
    return hashed


def _adds_up(before: Incidence, after: Incidence, added: Incidence, removed: Incidence) -> bool:
    """Verify the difference by concept counts, as two different images may share a hash."""
    names = sorted({*before.concepts, *after.concepts}), before.classes
    left, right = (
        _counts(whole, *names) + _counts(part, *names)
        for whole, part in ((before, added), (after, removed))
    )
    return np.array_equal(left, right)


def _beyond(group: IntArray, others: IntArray) -> IntArray:
    """Rows of a group beyond as many as `others` has of it."""
    order = np.argsort(group, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(group, minlength=len(others))))
    rank = np.arange(len(order)) - starts[group[order]]
    beyond: IntArray = order[rank >= others[group[order]]]
    return beyond


def _counts(part: Incidence, concepts: Sequence[str], classes: Sequence[str]) -> IntArray:
    """Images of each class, and of each class with each concept, by all names."""
    found = np.zeros((len(classes), len(concepts) + 1), dtype=np.int64)
    rows = np.searchsorted(classes, part.classes)
    columns = np.searchsorted(concepts, part.concepts)
    found[np.ix_(rows, columns)] = part.class_concept_counts()
    found[rows, -1] = part.class_sizes()
    return found
