"""Mine all concept cliques up to a size, with exact joint counts per class."""

from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from math import comb
from typing import Literal

import numpy as np
import numpy.typing as npt

from graph.errors import OptionError, TooManyCliquesError, UnknownNameError
from graph.incidence import Incidence
from graph.mining import expansion

IntArray = npt.NDArray[np.integer]
BoolArray = npt.NDArray[np.bool_]
Path = Literal["auto", "numpy", "numba"]

MAX_CLIQUES = 5_000_000
MAX_COUNTS = 1 << 28  # cliques x classes: 2 GiB of counts

# Occurrences (image, clique in it) from which numba is the quicker path; see choose_path.
NUMBA_FROM = 20_000_000


@dataclass(frozen=True, eq=False)
class Cliques:
    """Concept cliques with their joint count in every class.

    Rows are ordered by size, then by members as tuples of concept codes.

    Parameters
    ----------
    members : int32 array, shape (n_cliques, max_size)
        Concept codes, ascending, padded with -1 behind the last.
    counts : int64 array, shape (n_cliques, n_classes)
        Images of the class that contain every member (the paper's F), zero included.
    class_sizes : int64 array, shape (n_classes,)
        Images of each class, whatever they contain.
    concepts, classes : tuple of str
        Names by code, both in ascending order of name (Unicode code points).
    """

    members: IntArray
    counts: IntArray
    class_sizes: IntArray
    concepts: tuple[str, ...]
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.members)

    def sizes(self) -> IntArray:
        """Count the members of each clique: int64 array, shape (n_cliques,)."""
        return (self.members >= 0).sum(axis=1)

    def names(self) -> list[tuple[str, ...]]:
        """Give the members of each clique as names."""
        concepts = np.array([*self.concepts, None], dtype=object)
        return [
            tuple(row[:size])
            for row, size in zip(
                concepts[self.members].tolist(), self.sizes().tolist(), strict=True
            )
        ]


def mine_cliques(
    incidence: Incidence,
    *,
    max_size: int = 4,
    min_support: int = 1,
    common: Collection[str] | None = None,
    path: Path = "auto",
    threads: int | None = None,
    max_cliques: int | None = None,
) -> Cliques:
    """Give every concept clique up to a size with its joint count in every class.

    A clique is kept when the class that has it most has it in `min_support` images or more: a
    count of zero in another class is the strongest imbalance there is, so no lower bound applies
    to it. Two concepts of a clique share an image as soon as one image holds the whole clique, so
    pairwise adjacency in the co-occurrence graph follows from ``min_support >= 1`` and needs no
    test of its own; a clique of the graph that no image contains is left out, for it has no
    imbalance.

    Parameters
    ----------
    incidence : Incidence
        Which image contains which concept. Classes without images and images without concepts
        are fine.
    max_size : int
        Members of the largest clique. The paper uses up to 4.
    min_support : int
        Least value of the largest per-class count, in images.
    common : collection of str or None
        Classes that every concept of a clique must be adjacent to (share an image with): the
        paper's common class cliques. None stands for all classes, an empty collection for no
        condition. Counts are given for all classes in any case.
    path : {"auto", "numpy", "numba"}
        Implementation, see `choose_path`. The result is the same.
    threads : int or None
        Threads of the numba path, by default one per available core.
    max_cliques : int or None
        Give up above this many, by default 5,000,000 or as many as have 2 GiB of counts.

    Returns
    -------
    Cliques
        By size, then by members; the same for any path and number of threads.

    Raises
    ------
    OptionError
        For a number below 1 or an unknown path.
    UnknownNameError
        For a name in `common` that is not a class.
    TooManyCliquesError
        As soon as more than `max_cliques` have been found.

    Notes
    -----
    Concept graph diagnosis, section 3.3 of Chakraborty et al., "Visual Data Diagnosis and
    Debiasing with Concept Graphs" (NeurIPS 2024), whose count w is the joint count here. The
    largest count over classes never rises as a clique grows, so a clique is only sought among
    extensions of kept ones. Complexity: linear in the (image, clique of the image) pairs.

    Examples
    --------
    >>> from graph.incidence import build_incidence
    >>> incidence = build_incidence(
    ...     [0, 0, 1, 2, 2], [0, 1, 0, 0, 1], [0, 0, 1], ("sand", "sea"), ("gull", "wren")
    ... )
    >>> cliques = mine_cliques(incidence)
    >>> for names, counts in zip(cliques.names(), cliques.counts.tolist()):
    ...     print(names, dict(zip(cliques.classes, counts)))
    ('sand',) {'gull': 2, 'wren': 1}
    ('sea',) {'gull': 1, 'wren': 1}
    ('sand', 'sea') {'gull': 1, 'wren': 1}
    """
    for option, value in (
        ("max_size", max_size),
        ("min_support", min_support),
        ("threads", threads),
        ("max_cliques", max_cliques),
    ):
        if value is not None and value < 1:
            raise OptionError(f"{option} is {value}. Give a whole number of 1 or more.")
    if path not in ("auto", "numpy", "numba"):
        raise UnknownNameError("path", path, ["auto", "numpy", "numba"])
    limit = max_cliques or min(MAX_CLIQUES, MAX_COUNTS // max(1, len(incidence.classes)))

    if path == "auto":
        path = choose_path(incidence, max_size)
    if path == "numba":
        from graph.mining import projection  # takes a second, even when compiled before

        threads = projection.threads_for(incidence, threads)
        singles = projection.count_items(incidence, threads)
    else:
        singles = incidence.class_concept_counts()
    kept = _common_concepts(singles, incidence.classes, common)
    kept &= singles.max(axis=0, initial=0) >= min_support
    codes = np.flatnonzero(kept)
    blocks = [(codes[:, None], singles[:, codes].T)]
    found = len(codes)
    if path == "numba":
        rarest_first = codes[np.argsort(singles[:, codes].sum(axis=0), kind="stable")]
        more = projection.mine(incidence, rarest_first, min_support, max_size, threads, limit)
    else:
        more = expansion.mine(incidence.restrict(kept), codes, min_support, max_size)
    with closing(more):
        while found <= limit and (block := next(more, None)) is not None:
            blocks.append(block)
            found += len(block[0])
    if found > limit:
        raise TooManyCliquesError(
            f"More than {limit:,} cliques of up to {max_size} concepts have a joint count of "
            f"{min_support:,} or more. Raise min_support, lower max_size, or set max_cliques "
            "above its present value if memory allows."
        )
    return _ordered(blocks, max_size, incidence)


def choose_path(incidence: Incidence, max_size: int) -> Path:
    """Choose the quicker implementation: "numpy" below `NUMBA_FROM` occurrences, else "numba".

    TODO measurement

    Parameters
    ----------
    incidence : Incidence
        What to mine.
    kept : bool array, shape (n_concepts,)
        The concepts that will be combined.
    max_size : int
        Members of the largest clique.
    """
    lengths = np.bincount(np.diff(incidence.indptr))
    occurrences = sum(
        images * comb(length, size)
        for length, images in enumerate(lengths.tolist())
        for size in range(2, min(length, max_size) + 1)
    )
    return "numpy" if occurrences < NUMBA_FROM else "numba"


def _row_lengths(incidence: Incidence, kept: BoolArray) -> IntArray:
    """Count the kept concepts of each image."""
    return np.diff(np.append(0, np.cumsum(kept[incidence.indices]))[incidence.indptr])


def _common_concepts(
    singles: IntArray, classes: tuple[str, ...], common: Collection[str] | None
) -> BoolArray:
    """Mark the concepts that are adjacent to every class named."""
    for name in common or ():
        if name not in classes:
            raise UnknownNameError("class", name, list(classes))
    chosen = np.array([common is None or name in common for name in classes], dtype=bool)
    return (singles[chosen] > 0).all(axis=0)


def _ordered(
    blocks: list[tuple[IntArray, IntArray]], max_size: int, incidence: Incidence
) -> Cliques:
    """Join blocks into one table by size, then by members."""
    total = sum(len(members) for members, _ in blocks)
    width = max(members.shape[1] for members, _ in blocks)
    members = np.full((total, max_size), -1, dtype=np.int32)
    counts = np.empty((total, len(incidence.classes)), dtype=np.int64)
    at = 0
    while blocks:
        some, their_counts = blocks.pop()
        members[at : at + len(some), : some.shape[1]] = some
        counts[at : at + len(some)] = their_counts
        at += len(some)
    order = _order(members[:, :width], len(incidence.concepts) + 1)
    return Cliques(
        members.take(order, axis=0),  # several times as fast as members[order]
        counts.take(order, axis=0),
        incidence.class_sizes(),
        incidence.concepts,
        incidence.classes,
    )


def _order(members: IntArray, base: int) -> IntArray:
    """Sort by size, then by members, packed into as few 63-bit numbers a row as they fit."""
    digits = np.add(members.T, 1, dtype=np.int64, order="C")  # 0 behind the last member
    keys = [(digits > 0).sum(axis=0, dtype=np.int64)]
    room = (1 << 63) // (members.shape[1] + 1)
    for digit in digits:
        if room < base:
            keys.append(np.zeros_like(digit))
            room = 1 << 63
        keys[-1] *= base
        keys[-1] += digit
        room //= base
    return np.lexsort(keys[::-1]) if len(keys) > 1 else np.argsort(keys[0])
