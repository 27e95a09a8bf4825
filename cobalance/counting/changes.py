"""Follow images that come and go in mined cliques, without counting the others again."""

from collections.abc import Collection, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from cobalance.base import BoolArray, IntArray, TooManyCliquesError
from cobalance.counting.cliques import (
    Cliques,
    clique_order,
    count_chosen,
    first_of_equal,
    mine_cliques,
)
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
    concept_hashes, class_hashes = _random_hashes(rng, concepts), _random_hashes(rng, classes)
    hashes_before = _hash_images(before, concept_hashes, class_hashes)
    hashes_after = _hash_images(after, concept_hashes, class_hashes)

    hashes = np.concatenate([hashes_before, hashes_after])
    _, group = np.unique(hashes, return_inverse=True)
    return group[: len(hashes_before)], group[len(hashes_before) :]


def _random_hashes(rng: np.random.Generator, names: Sequence[str]) -> dict[str, int]:
    """A random signed number of 64 bits for each name."""
    numbers = rng.integers(-(2**63), 2**63 - 1, len(names)).tolist()
    return dict(zip(names, numbers, strict=True))


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
    n_changed = len(added.labels) + len(removed.labels)
    # Where more than a quarter of the images changed, counting all is not slower.
    if 4 * n_changed > len(after.labels) or not _adds_up(before, after, added, removed):
        return None

    is_frequent = after.class_concept_counts().max(axis=0, initial=0) >= min_support
    concepts_now = set(compress(after.concepts, is_frequent & after.concepts_of_all(common)))
    concepts_before = set(compress(before.concepts, before.concepts_of_all(common)))
    stable, new = concepts_now & concepts_before, concepts_now - concepts_before
    limits: Any = {"max_size": max_size, "max_cliques": max_cliques}
    try:
        gained = mine_cliques(added.restrict(_are(added, stable)), common=(), **limits)
        lost = mine_cliques(removed.restrict(_are(removed, stable)), common=(), **limits)
        recent = _with_any(after, concepts_now, new, max_size, min_support, max_cliques)
    except TooManyCliquesError:
        return None
    table = _follow(_within(former, stable), gained, lost, after, min_support)
    if table is None:
        return None

    members = align_members([table, recent], after.concepts)
    counts = np.concatenate([table.counts, recent.counts])
    order = clique_order(members, len(after.concepts) + 1)
    # Too many cliques: mining all of them raises the error.
    if len(order) > max_cliques:
        return None
    cliques = Cliques(
        members=members[order],
        counts=counts[order],
        class_sizes=after.class_sizes(),
        concepts=after.concepts,
        classes=after.classes,
    )
    return cliques, n_changed


def _follow(
    former: Cliques, gained: Cliques, lost: Cliques, after: Incidence, min_support: int
) -> Cliques | None:
    """Add and subtract counts; None where too many cliques would have to be counted."""
    names = tuple(sorted({*former.concepts, *gained.concepts, *lost.concepts}))
    members = align_members([former, gained, lost], names)
    counts = np.concatenate([former.counts, gained.counts, -lost.counts])
    source = np.repeat(np.arange(3), [len(former), len(gained), len(lost)])

    # Rows of equal cliques come together, and are summed.
    order = clique_order(members, len(names) + 1)
    members, counts, source = members[order], counts[order], source[order]
    starts = np.flatnonzero(first_of_equal(members))
    if not len(starts):
        return former
    totals = np.add.reduceat(counts, starts, axis=0)
    table = Cliques(
        members=members[starts],
        counts=totals,
        class_sizes=former.class_sizes,
        concepts=names,
        classes=former.classes,
    )

    # A clique without a former count was too rare before, and its count is not known.
    if min_support > 1:
        was_counted = np.add.reduceat(source == 0, starts) > 0
        has_gained = np.add.reduceat(source == 1, starts) > 0
        candidates = np.flatnonzero(~was_counted & has_gained)
        if len(candidates) > MOST_CANDIDATES:
            return None
        totals[~was_counted] = 0
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
    shows_some = after.sum_rows(_are(after, some))
    images = after.take(np.flatnonzero(shows_some))
    cliques = mine_cliques(
        images.restrict(_are(images, names)),
        max_size=max_size,
        min_support=min_support,
        common=(),
        max_cliques=max_cliques,
    )
    # The code -1, behind the last member, is the last.
    is_some = np.array([*(name in some for name in cliques.concepts), False])
    rows = np.flatnonzero(is_some[cliques.members].any(axis=1))
    return cliques.take(rows)


def _within(cliques: Cliques, names: Collection[str]) -> Cliques:
    """Keep the cliques of concepts in `names`."""
    is_named = np.array([*(name in names for name in cliques.concepts), True])
    return cliques.take(np.flatnonzero(is_named[cliques.members].all(axis=1)))


def _are(incidence: Incidence, names: Collection[str]) -> BoolArray:
    return np.array([name in names for name in incidence.concepts], dtype=np.bool_)


def _hash_images(
    images: Incidence, concept_hashes: Mapping[str, int], class_hashes: Mapping[str, int]
) -> IntArray:
    """Hash each image's class and concepts as a sum of random numbers, which wraps around."""
    by_concept = np.array([concept_hashes[name] for name in images.concepts], dtype=np.int64)
    by_class = np.array([class_hashes[name] for name in images.classes], dtype=np.int64)
    return images.sum_rows(by_concept) + by_class[images.labels]


def _adds_up(before: Incidence, after: Incidence, added: Incidence, removed: Incidence) -> bool:
    """Verify the difference by concept counts, as two different images may share a hash."""
    names = sorted({*before.concepts, *after.concepts}), before.classes
    with_added = _counts(before, *names) + _counts(added, *names)
    with_removed = _counts(after, *names) + _counts(removed, *names)
    return np.array_equal(with_added, with_removed)


def _beyond(group: IntArray, others: IntArray) -> IntArray:
    """Rows of a group beyond as many as `others` has of it."""
    order = np.argsort(group, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(group, minlength=len(others))))
    rank = np.arange(len(order)) - starts[group[order]]
    return order[rank >= others[group[order]]]


def _counts(part: Incidence, concepts: Sequence[str], classes: Sequence[str]) -> IntArray:
    """Images of each class, and of each class with each concept, by all names."""
    counts = np.zeros((len(classes), len(concepts) + 1), dtype=np.int64)
    rows = np.searchsorted(classes, part.classes)
    columns = np.searchsorted(concepts, part.concepts)
    counts[np.ix_(rows, columns)] = part.class_concept_counts()
    counts[rows, -1] = part.class_sizes()
    return counts
