"""Mine all concept cliques up to a size, with exact joint counts per class."""

import sys
from collections.abc import Collection, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from math import comb
from typing import Literal, get_args

import numpy as np

from graph.arrays import BoolArray, IntArray
from graph.counting.engines import expansion
from graph.counting.incidence import Incidence
from graph.errors import OptionError, TooManyCliquesError, UnknownNameError

Block = tuple[IntArray, IntArray]  # members and counts of some cliques
Engine = Literal["auto", "numpy", "numba"]

ENGINES: tuple[str, ...] = get_args(Engine)

MAX_CLIQUES = 5_000_000
MAX_COUNTS = 1 << 28  # cliques x classes: 2 GiB of counts

# Occurrences (image, clique in it) from which numba is the quicker engine; see choose_engine.
NUMBA_FROM = 20_000_000
READY_NUMBA_FROM = 50_000


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
        """Return the number of members of each clique: int64 array, shape (n_cliques,)."""
        sizes: IntArray = (self.members >= 0).sum(axis=1)
        return sizes

    def gaps(self) -> IntArray:
        """Return the gap of each clique, its largest count minus its smallest: shape (n_cliques,).

        Examples
        --------
        >>> Cliques(np.array([[0]]), np.array([[3, 0, 5]]), np.array([9, 9, 9]),
        ...         ("cow",), ("a", "b", "c")).gaps().tolist()
        [5]
        """
        gaps: IntArray = np.ptp(self.counts, axis=1).astype(np.int64)
        return gaps

    def take(self, rows: IntArray | BoolArray | slice) -> "Cliques":
        """Return some rows as a table of their own, with the same names by code.

        Examples
        --------
        >>> cliques = Cliques(np.array([[0], [1]]), np.array([[5, 7], [1, 3]]), np.array([9, 9]),
        ...                   ("cow", "road"), ("country", "urban"))
        >>> cliques.take(np.array([1])).names()
        [('road',)]
        """
        return replace(self, members=self.members[rows], counts=self.counts[rows])

    def names(self) -> list[tuple[str, ...]]:
        """Return the names of the members of each clique."""
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
    engine: Engine = "auto",
    threads: int | None = None,
    max_cliques: int | None = None,
) -> Cliques:
    """Count every concept clique up to a size in every class.

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
    engine : {"auto", "numpy", "numba"}
        Implementation, see `choose_engine`. The result is the same.
    threads : int or None
        Threads of the numba engine, by default one per available core.
    max_cliques : int or None
        Give up above this many, by default 5,000,000 or as many as have 2 GiB of counts.

    Returns
    -------
    Cliques
        By size, then by members; the same for any engine and number of threads.

    Raises
    ------
    OptionError
        For a number below 1 or an unknown engine.
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
    >>> from graph.counting.incidence import build_incidence
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
    if engine not in ENGINES:
        raise UnknownNameError("engine", engine, ENGINES)
    for name in common or ():
        if name not in incidence.classes:
            raise UnknownNameError("class", name, list(incidence.classes))
    limit = max_cliques or max(1, min(MAX_CLIQUES, MAX_COUNTS // max(1, len(incidence.classes))))
    if engine == "auto":
        engine = choose_engine(incidence, max_size, numba_ready=_numba_ready())
    mine = _mine_numba if engine == "numba" else _mine_numpy
    blocks: list[Block] = []
    found = 0
    with closing(mine(incidence, max_size, min_support, common, threads, limit)) as more:
        while found <= limit and (block := next(more, None)) is not None:
            blocks.append(block)
            found += len(block[0])
    if found > limit:
        raise TooManyCliquesError(
            f"More than {limit:,} cliques of up to {max_size} concepts have a joint count of "
            f"{min_support:,} or more in some class. Ask for a higher minimum support or a lower "
            "maximum size; or, if memory allows, for more cliques."
        )
    return _ordered(blocks, max_size, incidence)


def choose_engine(incidence: Incidence, max_size: int, *, numba_ready: bool) -> Engine:
    """Choose the faster engine: "numba" above a number of occurrences, else "numpy".

    An occurrence is an image with a clique of two or more in it; all are counted, supported or
    not, for that takes no time. numba pays from `NUMBA_FROM` on, or from `READY_NUMBA_FROM` on in
    a process that has its machine code already.

    Seconds by ``python -m benchmarks.mining --engines`` on two Xeon cores at 2.6 GHz, with the
    machine code on disk; compiling it the first time of all takes 18 s more:

    ====================  ========  ===========  ======  ==================  ============
    images x concepts     max_size  occurrences   NumPy  numba, new process  numba, ready
    ====================  ========  ===========  ======  ==================  ============
    8,000 x 18                   4      114,767   0.017                 1.7         0.001
    32,582 x 80                  3      595,211   0.067                 1.3         0.009
    32,582 x 80                  4    1,014,535   0.14                  1.2         0.026
    250,000 x 80                 4    7,812,165   0.85                  1.6         0.066
    2,000,000 x 600              3  282,540,376  36                     3.2         1.4
    ====================  ========  ===========  ======  ==================  ============

    Parameters
    ----------
    incidence : Incidence
        What to mine.
    max_size : int
        Members of the largest clique.
    numba_ready : bool
        Whether the machine code is there: compiled or loaded by an earlier call.
    """
    least = READY_NUMBA_FROM if numba_ready else NUMBA_FROM
    occurrences = 0
    for length, images in enumerate(np.bincount(np.diff(incidence.indptr)).tolist()):
        for size in range(2, min(length, max_size) + 1 if images else 0):
            occurrences += images * comb(length, size)
            if occurrences >= least:
                return "numba"
    return "numpy"


def _numba_ready() -> bool:
    """Check for compiled code without importing numba, which alone takes half a second."""
    projection = sys.modules.get("graph.counting.engines.projection")
    return projection is not None and projection.is_ready()


def _mine_numpy(
    incidence: Incidence,
    max_size: int,
    min_support: int,
    common: Collection[str] | None,
    _threads: int | None,
    _limit: int,
) -> Generator[Block]:
    """Yield all cliques in blocks, single concepts first."""
    singles = incidence.class_concept_counts()
    codes = _kept_concepts(singles, incidence.classes, common, min_support)
    yield codes[:, None], singles[:, codes].T
    kept = np.zeros(len(incidence.concepts), dtype=np.bool_)
    kept[codes] = True
    yield from expansion.mine(incidence.restrict(kept), codes, min_support, max_size)


def _mine_numba(
    incidence: Incidence,
    max_size: int,
    min_support: int,
    common: Collection[str] | None,
    threads: int | None,
    limit: int,
) -> Generator[Block]:
    """Yield all cliques in blocks, single concepts first."""
    from graph.counting.engines import projection

    threads = projection.threads_for(incidence, threads)
    singles = projection.count_items(incidence, threads)
    codes = _kept_concepts(singles, incidence.classes, common, min_support)
    yield codes[:, None], singles[:, codes].T
    rarest_first = codes[np.argsort(singles[:, codes].sum(axis=0), kind="stable")]
    yield from projection.mine(incidence, rarest_first, min_support, max_size, threads, limit)


def _kept_concepts(
    singles: IntArray, classes: tuple[str, ...], common: Collection[str] | None, min_support: int
) -> IntArray:
    """Return the concepts with enough support that occur with every class in `common`."""
    named = np.array([common is None or name in common for name in classes], dtype=np.bool_)
    adjacent = (singles[named] > 0).all(axis=0)
    return np.flatnonzero(adjacent & (singles.max(axis=0, initial=0) >= min_support))


def _ordered(blocks: list[Block], max_size: int, incidence: Incidence) -> Cliques:
    """Join blocks into one table, sorted by size, then by members."""
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
    """Return the order by size, then by members, which are packed into 63-bit sort keys."""
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
