"""Clique mining in vectorised NumPy, without a compiler, for small data."""

from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np

from cobalance.base import IntArray
from cobalance.counting.incidence import Incidence

# Occurrences expanded at once, at about 60 bytes and a row of counts each.
BLOCK = 500_000


class _Grown(NamedTuple):
    """Cliques of one size with their occurrences: grouped by clique, one entry an image."""

    # Concept codes: (n_cliques, size).
    members: IntArray
    # Which clique an occurrence is of, ascending.
    owners: IntArray
    # Where in `items` the clique's last member stands in the image.
    positions: IntArray


def mine(
    incidence: Incidence, codes: IntArray, min_support: int, max_size: int
) -> Generator[tuple[IntArray, IntArray]]:
    """Yield every clique of two or more concepts, in blocks of one size each.

    An occurrence is a clique in one image, held as the position of the clique's last member.
    Appending every later concept of the image to it gives the occurrences of all cliques one
    longer; sorting those by (clique, class) groups and counts them at once. Blocks are extended
    depth first, so that memory stays at `max_size` blocks however many cliques there are.

    Complexity: O(w log w) time for w = images x cliques contained in the image.

    Parameters
    ----------
    incidence : Incidence
        Which image contains which concept: those to combine, and no others.
    codes : int array, shape (n_concepts,)
        What to call each concept in the result.
    min_support, max_size : int
        As in `cobalance.counting.cliques.mine_cliques`.

    Yields
    ------
    members : int array, shape (n, size)
    counts : int64 array, shape (n, n_classes)
    """
    lengths = np.diff(incidence.indptr)
    ends = np.repeat(incidence.indptr[1:], lengths)
    items = incidence.indices.astype(np.int64)
    classes = np.repeat(incidence.labels.astype(np.int64), lengths)
    n_classes = len(incidence.classes)
    if max_size < 2:
        return

    # With more classes the rows of counts are longer, and blocks are smaller.
    order = np.argsort(items, kind="stable")
    alone = _Grown(np.arange(len(codes))[:, None], items[order], order)
    block = max(1, BLOCK * 8 // max(8, n_classes))
    pending = list(_split(alone, ends, block))
    while pending:
        shorter = pending.pop()
        longer, counts = _extend(shorter, ends, items, classes, n_classes, min_support)
        if len(counts):
            yield codes[longer.members], counts
            if longer.members.shape[1] < max_size:
                pending.extend(_split(longer, ends, block))


def _split(grown: _Grown, ends: IntArray, block: int) -> Iterator[_Grown]:
    """Split between cliques into parts that extend to about `block` occurrences."""
    work = np.append(0, np.cumsum(ends[grown.positions] - grown.positions - 1))
    starts = np.searchsorted(grown.owners, np.arange(len(grown.members) + 1))
    cuts = np.flatnonzero(np.diff(work[starts[:-1]] // block)) + 1
    for low, high in zip([0, *cuts], [*cuts, len(grown.members)], strict=True):
        part = slice(starts[low], starts[high])
        if work[starts[high]] > work[starts[low]]:
            yield _Grown(grown.members[low:high], grown.owners[part] - low, grown.positions[part])


def _extend(
    shorter: _Grown,
    ends: IntArray,
    items: IntArray,
    classes: IntArray,
    n_classes: int,
    min_support: int,
) -> tuple[_Grown, IntArray]:
    """Extend cliques by every later item, count, and keep those with enough support."""
    tails = ends[shorter.positions] - shorter.positions - 1
    owners = np.repeat(shorter.owners, tails)
    before = np.cumsum(tails) - tails
    positions = np.repeat(shorter.positions + 1 - before, tails) + np.arange(len(owners))
    n_items = int(items.max()) + 1
    cells = owners * n_items + items[positions]
    keys = cells * n_classes + classes[positions]
    order = np.argsort(keys)
    keys, positions = keys[order], positions[order]

    # One run for each clique and class that occurs together.
    runs = _starts(keys)
    run_cells, run_classes = np.divmod(keys[runs], n_classes)
    run_counts = np.diff(runs, append=len(keys))
    firsts = _starts(run_cells)
    supported = np.maximum.reduceat(run_counts, firsts) >= min_support
    n_runs = np.diff(firsts, append=len(runs))
    clique_of_run = np.repeat(np.cumsum(supported) - 1, n_runs)
    run_supported = np.repeat(supported, n_runs)

    counts = np.zeros((int(supported.sum()), n_classes), dtype=np.int64)
    counts[clique_of_run[run_supported], run_classes[run_supported]] = run_counts[run_supported]

    owner, item = np.divmod(run_cells[firsts[supported]], n_items)
    members = np.column_stack([shorter.members[owner], item])
    is_supported = np.repeat(run_supported, run_counts)
    owners = np.repeat(clique_of_run, run_counts)[is_supported]
    return _Grown(members, owners, positions[is_supported]), counts


def _starts(ascending: IntArray) -> IntArray:
    """Return where each run of equal values begins."""
    return np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
