"""Mine all concept cliques up to a size, with exact joint counts per class."""

import logging
from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, reduce
from importlib.util import find_spec

import numpy as np

from cobalance.base import (
    BoolArray,
    FloatArray,
    IntArray,
    OptionError,
    TooManyCliquesError,
    check_known,
    install_command,
)
from cobalance.counting.engines.choice import (
    ENGINES,
    Block,
    Engine,
    choose_engine,
    mine,
    numba_ready,
)
from cobalance.counting.incidence import Incidence

MAX_CLIQUES = 5_000_000
# Cliques times classes: 2 GiB of counts.
MAX_COUNTS = 1 << 28


@dataclass(frozen=True, eq=False)
class Clustering:
    """How images depend on each other; see `cobalance.statistics.design_effects`.

    Parameters
    ----------
    standing : int array, shape (n_cliques,)
        Clusters in which some image shows the clique.
    freedom : int array, shape (n_cliques,)
        Degrees of freedom that remain where pairs within clusters are compared; -1 elsewhere.
    tests, intervals, own : float arrays, shape (n_cliques, n_classes)
        Design effects for the test of one rate, the odds ratio's interval, and the own effect.
    """

    standing: IntArray
    freedom: IntArray
    tests: FloatArray
    intervals: FloatArray
    own: FloatArray

    def take(self, rows: IntArray | BoolArray | slice) -> "Clustering":
        """Return that of some cliques."""
        return Clustering(
            standing=self.standing[rows],
            freedom=self.freedom[rows],
            tests=self.tests[rows],
            intervals=self.intervals[rows],
            own=self.own[rows],
        )


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
    clustering : Clustering or None
        None where images are independent.
    """

    members: IntArray
    counts: IntArray
    class_sizes: IntArray
    concepts: tuple[str, ...]
    classes: tuple[str, ...]
    clustering: Clustering | None = None

    def __len__(self) -> int:
        return len(self.members)

    def sizes(self) -> IntArray:
        """Return the number of members of each clique: int64 array, shape (n_cliques,)."""
        return (self.members >= 0).sum(axis=1)

    def gaps(self) -> IntArray:
        """Return the largest count of each clique less its smallest: shape (n_cliques,)."""
        return np.ptp(self.counts, axis=1).astype(np.int64)

    def class_images(self) -> dict[str, int]:
        """Return the images of each class, by name in ascending order."""
        return dict(zip(self.classes, self.class_sizes.tolist(), strict=True))

    def independent(self) -> tuple[IntArray | FloatArray, IntArray | FloatArray]:
        """Return counts and class sizes; by cluster as of images that are independent."""
        if self.clustering is None:
            return self.counts, self.class_sizes
        return self.counts / self.clustering.tests, self.class_sizes / self.clustering.tests

    def take(self, rows: IntArray | BoolArray | slice) -> "Cliques":
        """Return some rows as a table of their own, with the same names by code."""
        clustering = None if self.clustering is None else self.clustering.take(rows)
        return replace(
            self, members=self.members[rows], counts=self.counts[rows], clustering=clustering
        )

    def names(self) -> list[tuple[str, ...]]:
        """Return the names of the members of each clique."""
        names = np.empty(len(self.members), dtype=object)
        concepts = np.array(self.concepts, dtype=object)
        sizes = self.sizes()
        for size in range(1, self.members.shape[1] + 1):
            rows = np.flatnonzero(sizes == size)
            columns = concepts[self.members[rows, :size].T].tolist()
            names[rows] = np.fromiter(zip(*columns, strict=True), dtype=object, count=len(rows))
        return names.tolist()


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
        Implementation, see `cobalance.counting.engines.choice.choose_engine`; NumPy where
        numba is not installed, with a warning in the log. The result is the same.
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
    MissingExtraError
        For the engine numba without the extra ``compiled``.
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
    >>> from cobalance.counting.incidence import build_incidence
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

    check_known("engine", [engine], ENGINES)
    check_known("class", common or (), incidence.classes)

    limit = max_cliques
    if limit is None:
        limit = max(1, min(MAX_CLIQUES, MAX_COUNTS // max(1, len(incidence.classes))))
    if engine == "auto":
        engine = _choose_engine(incidence, max_size)

    # Closing the generator stops the threads of the engine after their present tasks.
    blocks: list[Block] = []
    n_cliques = 0
    mined = mine(engine, incidence, max_size, min_support, common, threads, limit)
    with closing(mined):
        for block in mined:
            blocks.append(block)
            n_cliques += len(block[0])
            if n_cliques > limit:
                break

    if n_cliques > limit:
        raise TooManyCliquesError(
            f"More than {limit:,} cliques of up to {max_size} concepts have a joint count of "
            f"{min_support:,} or more in some class. Ask for a higher minimum support or a lower "
            "maximum size; or, if memory allows, for more cliques."
        )
    return _sort_cliques(blocks, max_size, incidence)


def mine_blocks(incidence: Incidence, *, max_size: int) -> Generator[Block]:
    """Yield all cliques with their counts, on one thread, without putting them into one table."""
    engine = _choose_engine(incidence, max_size)
    return mine(engine, incidence, max_size, 1, (), threads=1, limit=np.iinfo(np.int64).max - 1)


def _choose_engine(incidence: Incidence, max_size: int) -> Engine:
    engine = choose_engine(incidence, max_size, numba_ready=numba_ready())
    if engine == "numba" and find_spec("numba") is None:
        _recommend_compiled()
        return "numpy"
    return engine


@cache
def _recommend_compiled() -> None:
    """Log once how so many images are counted faster."""
    logging.getLogger(__name__).warning(
        "So many images are counted about ten times as fast by compiled code: %s",
        install_command("compiled"),
    )


def _sort_cliques(blocks: list[Block], max_size: int, incidence: Incidence) -> Cliques:
    """Join blocks into one table, sorted by size, then by members."""
    total = sum(len(members) for members, _ in blocks)
    width = max(members.shape[1] for members, _ in blocks)
    members = np.full((total, max_size), -1, dtype=np.int32)
    counts = np.empty((total, len(incidence.classes)), dtype=np.int64)
    start = 0
    # Each block is given up once it is copied: it bounds the memory.
    while blocks:
        block_members, block_counts = blocks.pop()
        end = start + len(block_members)
        members[start:end, : block_members.shape[1]] = block_members
        counts[start:end] = block_counts
        start = end

    # Taking rows is several times as fast as members[order].
    order = clique_order(members[:, :width], len(incidence.concepts) + 1)
    return Cliques(
        members=members.take(order, axis=0),
        counts=counts.take(order, axis=0),
        class_sizes=incidence.class_sizes(),
        concepts=incidence.concepts,
        classes=incidence.classes,
    )


def clique_order(members: IntArray, base: int) -> IntArray:
    """Return the order by size, then by members, which are packed into 63-bit sort keys."""
    # 0 stands behind the last member.
    digits = np.add(members.T, 1, dtype=np.int64, order="C")
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


def first_of_equal(members: IntArray) -> BoolArray:
    """Return which rows of a sorted table are not the same as the row before."""
    is_first = np.ones(len(members), dtype=np.bool_)
    is_first[1:] = (members[1:] != members[:-1]).any(axis=1)
    return is_first


def count_chosen(incidence: Incidence, chosen: Sequence[Sequence[str]]) -> IntArray:
    """Return the images of each class that show all concepts of each combination.

    Parameters
    ----------
    chosen : sequence of sequences of str
        Combinations of one concept or more; one that no image shows counts zero.

    Returns
    -------
    int64 array, shape (len(chosen), n_classes)

    Examples
    --------
    >>> from cobalance.counting.incidence import build_incidence
    >>> held = build_incidence([0, 0, 1], [0, 1, 0], [0, 1], ("cow", "road"), ("farm", "town"))
    >>> count_chosen(held, [["road", "cow"], ["cow"], ["cow", "owl"]]).tolist()
    [[1, 0], [1, 1], [0, 0]]
    """
    image = np.repeat(np.arange(len(incidence.labels)), np.diff(incidence.indptr))
    order = np.argsort(incidence.indices, kind="stable")
    starts = np.searchsorted(incidence.indices[order], np.arange(len(incidence.concepts) + 1))
    showing: dict[str, IntArray] = {
        name: image[order[starts[code] : starts[code + 1]]]
        for code, name in enumerate(incidence.concepts)
    }

    counts = np.zeros((len(chosen), len(incidence.classes)), dtype=np.int64)
    for row, names in enumerate(chosen):
        if all(name in showing for name in names):
            first, *others = sorted((showing[name] for name in names), key=len)
            labels = incidence.labels[reduce(intersect_ascending, others, first)]
            counts[row] = np.bincount(labels, minlength=len(incidence.classes))
    return counts


def intersect_ascending(few: IntArray, many: IntArray) -> IntArray:
    """Intersect two ascending arrays, quickly where the first is much the shorter."""
    if not len(many):
        return few[:0]
    positions = np.searchsorted(many, few)
    positions[positions == len(many)] = 0
    return few[many[positions] == few]
