"""Count images in batches, wherever they are: exact counts of parts, which add up.

A batch of images has two columns: `label`, the class of each, and `concepts`, a list of names. A
kernel takes an iterator of batches and gives parts: tables whose columns `n_...` add up where all
other columns are equal. A part travels as one binary cell, so that an engine moves rows of one
kind whatever is counted. What an engine has to do is a `Scan`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import comb

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import (
    DataError,
    IntArray,
    TooManyCliquesError,
    check_known,
    clean_name,
    values_at,
)
from cobalance.counting.cliques import Cliques, clique_order, mine_blocks, mine_cliques
from cobalance.counting.engines.choice import Engine
from cobalance.counting.incidence import Incidence, build_incidence, join_images
from cobalance.counting.mining_options import MiningOptions
from cobalance.counting.sums import sum_cliques

Batches = Iterator[pa.RecordBatch]
Kernel = Callable[[Batches], Batches]
Scan = Callable[[Kernel], Iterable[pa.RecordBatch]]
"""Runs a kernel on all batches of images, in as many tasks as it likes, and gives all their parts.

``lambda kernel: kernel(iter(batches))`` is the shortest.
"""

IMAGES_AT_ONCE = 1_000_000
"""Images that a task counts together: some 40 bytes each are held."""
SUMS_UP_TO = 10_000_000
"""Possible cliques times classes up to which every task may hold all counts: 80 MB."""
MOST_CANDIDATES = 50_000_000
"""Cliques that may be frequent: 600 MB of members."""
_COMPILED_FROM = 1_000_000
"""Images that are counted by compiled code, though one part alone would not pay for loading it."""
_ROWS_TO_ADD = 4_000_000
"""Rows of parts that wait to be added up."""
_HASH_SEED = 13
_MEMBER, _COUNT = "member_", "n_"
_PART = pa.schema({"part": pa.binary()})


@dataclass(frozen=True)
class Singles:
    """Totals of classes and single concepts.

    Parameters
    ----------
    sizes, without_concepts : mapping of str to int
        Images of each class, and those that show no concept.
    counts : mapping of str to mapping of str to int
        Images of each class with each concept, by concept.
    """

    sizes: Mapping[str, int]
    without_concepts: Mapping[str, int]
    counts: Mapping[str, Mapping[str, int]]

    def uncommon(self, common: Sequence[str] | None) -> int:
        """Count the concepts that some class in `common`, None for all, never shows."""
        classes = self.sizes if common is None else common
        return sum(not all(map(counts.get, classes)) for counts in self.counts.values())


def count_names(batches: Batches) -> Batches:
    """Count images by `names_table` (kernel)."""
    for batch in batches:
        yield pack(names_table(batch))


def names_table(batch: pa.RecordBatch) -> pa.Table:
    """Images of a batch by class, by class and concept, and those without concepts.

    They add up to what `singles_of` takes.
    """
    images = images_of_batch(batch, *names_of_batch(batch))
    classes, concepts = pa.array(images.classes, pa.string()), [*images.concepts, "", None]

    # The empty name stands for images without concepts, null for all.
    counts = np.vstack(
        [images.class_concept_counts().T, images.without_concepts(), images.class_sizes()]
    )
    concept, label = np.nonzero(counts)
    return pa.table(
        {
            "label": classes.take(label),
            "concept": pa.array(concepts, pa.string()).take(concept),
            f"{_COUNT}images": counts[concept, label],
        }
    )


def read_singles(scan: Scan) -> Singles:
    """Count the classes and single concepts of all images."""
    return singles_of(run(scan, count_names))


def singles_of(table: pa.Table) -> Singles:
    """Totals from tables of `names_table` that were added up."""
    sizes: dict[str, int] = {}
    without: dict[str, int] = {}
    counts: dict[str, dict[str, int]] = {}
    for row in table.to_pylist():
        concept, by_class = row["concept"], sizes
        if concept is not None:
            by_class = counts.setdefault(concept, {}) if concept else without
        by_class[row["label"]] = row[f"{_COUNT}images"]
    return Singles(sizes, {**dict.fromkeys(sizes, 0), **without}, counts)


def count_scanned(scan: Scan, singles: Singles, mining: MiningOptions, max_cliques: int) -> Cliques:
    """Count every clique of the images of a scan, exactly as `mine_cliques` does.

    Parameters
    ----------
    singles : Singles
        Of the same images.

    Raises
    ------
    UnknownNameError
        A name in `common` is not a class.
    TooManyCliquesError
        More than `max_cliques` are kept, or too many may be.

    Notes
    -----
    While few cliques are possible (5,000,000 for two classes: 80 concepts up to size 4, 600 up to
    size 2), each task counts all of its images, and their counts are added up. Beyond, images are
    gone through twice: a clique that reaches the least support in a class reaches its share of it
    in this class's images of some part (Savasere, Omiecinski and Navathe, "An efficient algorithm
    for mining association rules in large databases", VLDB 1995); what reaches it somewhere is then
    counted everywhere.
    """
    classes = tuple(sorted(singles.sizes))
    check_known("class", mining.common or (), classes)
    concepts = _select_concepts(singles, classes, mining)
    class_sizes = np.array(values_at(singles.sizes, classes), dtype=np.int64)

    possible = sum(comb(len(concepts), size) for size in range(1, mining.max_size + 1))
    if possible * len(classes) <= SUMS_UP_TO:
        table = run(scan, _CountAll(concepts, classes, mining.max_size))
    else:
        finder = _FindCandidates(concepts, classes, class_sizes, mining)
        candidates = run(scan, finder, MOST_CANDIDATES)
        if len(candidates) > MOST_CANDIDATES:
            raise TooManyCliquesError(
                f"More than {MOST_CANDIDATES:,} cliques of up to {mining.max_size} concepts may "
                f"have a joint count of {mining.min_support:,} or more in some class. Ask for a "
                "higher minimum support or a lower maximum size."
            )
        members = _matrix(candidates, _member_columns(mining.max_size), np.int32)
        table = run(scan, _CountCandidates(concepts, classes, members))

    counts = _matrix(table, _count_columns(len(classes)), np.int64)
    is_frequent = counts.max(axis=1, initial=0) >= mining.min_support
    if (n_frequent := int(is_frequent.sum())) > max_cliques:
        raise TooManyCliquesError(
            f"{n_frequent:,} cliques of up to {mining.max_size} concepts have a joint count of "
            f"{mining.min_support:,} or more in some class, and {max_cliques:,} may be kept. Ask "
            "for a higher minimum support or a lower maximum size; or, if memory allows, for more "
            "cliques."
        )

    members = _matrix(table, _member_columns(mining.max_size), np.int32)[is_frequent]
    cliques = Cliques(
        members=members,
        counts=counts[is_frequent],
        class_sizes=class_sizes,
        concepts=concepts,
        classes=classes,
    )
    # Parts come in any order.
    return cliques.take(clique_order(members, len(concepts) + 1))


@dataclass(frozen=True)
class _CountAll:
    """Counts all cliques of a task's images (kernel).

    No least support: a clique that is rare in these images may be frequent in all.
    """

    concepts: tuple[str, ...]
    classes: tuple[str, ...]
    max_size: int

    def __call__(self, batches: Batches) -> Batches:
        total = None
        for part in _incidences(batches, self.concepts, self.classes, IMAGES_AT_ONCE):
            cliques = mine_cliques(
                part,
                max_size=self.max_size,
                common=(),
                engine=_engine_for(part),
                threads=1,
                max_cliques=MOST_CANDIDATES,
            )
            total = cliques if total is None else sum_cliques([total, cliques])

        if total is not None:
            yield pack(_clique_table(total.members, total.counts))


@dataclass(frozen=True)
class _FindCandidates:
    """Finds the cliques that are frequent in some class of some part (kernel)."""

    concepts: tuple[str, ...]
    classes: tuple[str, ...]
    class_sizes: IntArray
    mining: MiningOptions

    def __call__(self, batches: Batches) -> Batches:
        for part in _incidences(batches, self.concepts, self.classes, IMAGES_AT_ONCE):
            for code in np.unique(part.labels).tolist():
                images = part.take(np.flatnonzero(part.labels == code))

                # The share of the least support that falls to these images, rounded up.
                share = self.mining.min_support * len(images.labels)
                least = max(1, -(-share // int(self.class_sizes[code])))
                cliques = mine_cliques(
                    images,
                    max_size=self.mining.max_size,
                    min_support=least,
                    common=(),
                    engine=_engine_for(part),
                    threads=1,
                    max_cliques=MOST_CANDIDATES,
                )
                yield pack(_clique_table(cliques.members, cliques.counts[:, :0]))


@dataclass(frozen=True)
class _CountCandidates:
    """Counts given cliques in a task's images (kernel).

    Parameters
    ----------
    members : int32 array, shape (n_cliques, max_size)
        As of `Cliques`, in any order.
    """

    concepts: tuple[str, ...]
    classes: tuple[str, ...]
    members: IntArray

    def __call__(self, batches: Batches) -> Batches:
        lookup = _Lookup(self.members)
        max_size = self.members.shape[1]
        counts = np.zeros((len(self.members), len(self.classes)), dtype=np.int64)
        for part in _incidences(batches, self.concepts, self.classes, IMAGES_AT_ONCE):
            for members, images in mine_blocks(part, max_size=max_size):
                padded = np.full((len(members), max_size), -1, dtype=np.int32)
                padded[:, : members.shape[1]] = members

                rows = lookup.rows(padded)
                is_candidate = rows >= 0
                counts[rows[is_candidate]] += images[is_candidate]
        yield pack(_clique_table(self.members, counts))


def _engine_for(part: Incidence) -> Engine:
    """The compiled engine where a part is large, as others of its process will be."""
    is_large = len(part.labels) >= _COMPILED_FROM
    return "numba" if is_large and find_spec("numba") is not None else "auto"


def run(scan: Scan, kernel: Kernel, most: int | None = None) -> pa.Table:
    """Run a kernel over all images, and add up its parts.

    Parameters
    ----------
    most : int or None
        Stop soon after there are more rows than this.

    Raises
    ------
    DataError
        There is no part, as there are no images.
    """
    table = add_tables((part for batch in scan(kernel) for part in unpack(batch)), most)
    if table is None:
        raise DataError("There are no images.")
    return table


def add_parts(batches: Batches) -> Batches:
    """Add up parts: rows whose other columns are equal become one (kernel)."""
    table = add_tables(part for batch in batches for part in unpack(batch))
    if table is not None:
        yield pack(table)


def add_tables(tables: Iterable[pa.Table], most: int | None = None) -> pa.Table | None:
    """Add up tables as `run` does, if there are any."""
    at_once = _ROWS_TO_ADD if most is None else min(most, _ROWS_TO_ADD)
    waiting: list[pa.Table] = []
    n_rows = 0
    for table in tables:
        waiting.append(table)
        n_rows += table.num_rows
        if n_rows > at_once:
            waiting = [_add_rows(waiting)]
            if most is not None and waiting[0].num_rows > most:
                break
            # What is left over may be many rows itself.
            n_rows = 0
    return _add_rows(waiting) if waiting else None


def _add_rows(tables: Sequence[pa.Table]) -> pa.Table:
    table = pa.concat_tables(tables)
    if len(tables) == 1:
        return table
    sums = [name for name in table.column_names if name.startswith(_COUNT)]
    keys = [name for name in table.column_names if name not in sums]
    added = table.group_by(keys).aggregate([(name, "sum") for name in sums])
    added = added.rename_columns([name.removesuffix("_sum") for name in added.column_names])
    return added.select(table.column_names)


def pack(table: pa.Table) -> pa.RecordBatch:
    """Put a table into one binary cell."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    cell = pa.array([sink.getvalue().to_pybytes()], pa.binary())
    return pa.RecordBatch.from_arrays([cell], schema=_PART)


def unpack(batch: pa.RecordBatch) -> Iterator[pa.Table]:
    """Give the tables of a batch of parts."""
    for cell in batch.column(0):
        with pa.ipc.open_stream(cell.as_buffer()) as stream:
            yield stream.read_all()


def _select_concepts(
    singles: Singles, classes: Sequence[str], mining: MiningOptions
) -> tuple[str, ...]:
    """Concepts with enough support that occur with every class in `common`, in order of name."""
    common = classes if mining.common is None else mining.common
    names = []
    for name, by_class in singles.counts.items():
        is_frequent = max(by_class.values(), default=0) >= mining.min_support
        if is_frequent and all(by_class.get(class_name) for class_name in common):
            names.append(name)
    return tuple(sorted(names))


def names_of_batch(batch: pa.RecordBatch) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The concepts and classes of a batch, cleaned, in order."""
    names = []
    for column in (batch.column("concepts").flatten(), batch.column("label")):
        values = column.dictionary if _is_coded(column) else pc.unique(column.cast(pa.string()))
        names.append(tuple(sorted({clean_name(name or "") for name in values.to_pylist()} - {""})))
    concepts, classes = names
    return concepts, classes


def images_of_batch(
    batch: pa.RecordBatch, concepts: tuple[str, ...], classes: tuple[str, ...]
) -> Incidence:
    """Incidence of a batch, of the concepts that are named.

    Raises
    ------
    DataError
        An image has no class, or one that is not named.
    """
    lists = batch.column("concepts")
    codes = _codes(lists.flatten(), concepts)
    labels = _codes(batch.column("label"), classes)
    if (n_unknown := int((labels < 0).sum())) > 0:
        raise DataError(f"{n_unknown:,} images have no class. Give each a text in `label`.")

    is_known = codes >= 0
    images = pc.list_parent_indices(lists).to_numpy()
    return build_incidence(images[is_known], codes[is_known], labels, concepts, classes)


def _incidences(
    batches: Batches, concepts: tuple[str, ...], classes: tuple[str, ...], at_once: int
) -> Iterator[Incidence]:
    """Incidences of about `at_once` images each."""
    blocks: list[Incidence] = []
    n_images = 0
    for batch in batches:
        for start in range(0, batch.num_rows, at_once):
            blocks.append(images_of_batch(batch.slice(start, at_once), concepts, classes))
            n_images += len(blocks[-1].labels)
            if n_images >= at_once:
                yield join_images(blocks)
                blocks, n_images = [], 0

    if blocks:
        yield join_images(blocks)


def _codes(column: pa.Array, names: Sequence[str]) -> IntArray:
    """Positions in `names`, -1 for others; a dictionary is looked up once, and not each value."""
    encoded = column if _is_coded(column) else column.cast(pa.string()).dictionary_encode()
    cleaned = [clean_name(name or "") for name in encoded.dictionary.to_pylist()]
    positions = pc.index_in(pa.array(cleaned, pa.string()), pa.array(names, pa.string()))
    of_value = np.append(positions.fill_null(-1).to_numpy(zero_copy_only=False), -1)
    codes = encoded.indices.fill_null(len(cleaned)).to_numpy(zero_copy_only=False)
    return of_value[codes].astype(np.int64)


def _is_coded(column: pa.Array) -> bool:
    return pa.types.is_dictionary(column.type)


class _Lookup:
    """Finds rows of cliques in a table, by a hash of 64 bits that is verified.

    Parameters
    ----------
    members : int32 array, shape (n_cliques, max_size)
        Each clique once.
    """

    def __init__(self, members: IntArray) -> None:
        self._members = members
        self._factors = np.empty(0, dtype=np.uint64)
        rng = np.random.default_rng(_HASH_SEED)
        while True:
            self._factors = rng.integers(2**64, size=members.shape[1:], dtype=np.uint64)
            hashes = self._hash(members)
            # Two cliques of one hash are as good as never seen, and other factors part them.
            if len(np.unique(hashes)) == len(members):
                break

        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]

    def rows(self, members: IntArray) -> IntArray:
        """The row of each clique, -1 for one that the table lacks."""
        if not len(self._hashes):
            return np.full(len(members), -1)
        places = np.searchsorted(self._hashes, self._hash(members))
        rows = self._order[np.minimum(places, len(self._hashes) - 1)]
        is_same = (self._members[rows] == members).all(axis=1)
        return np.where(is_same, rows, -1)

    def _hash(self, members: IntArray) -> npt.NDArray[np.uint64]:
        hashes = np.zeros(len(members), dtype=np.uint64)
        for column in range(members.shape[1]):
            # -1 becomes 0, and products and sums wrap around.
            hashes += (members[:, column] + 1).astype(np.uint64) * self._factors[column]
        return hashes


def _member_columns(max_size: int) -> list[str]:
    return [f"{_MEMBER}{position}" for position in range(max_size)]


def _count_columns(n_classes: int) -> list[str]:
    return [f"{_COUNT}{code}" for code in range(n_classes)]


def _matrix(rows: pa.Table, names: Sequence[str], kind: type) -> IntArray:
    return np.column_stack([rows.column(name).to_numpy() for name in names]).astype(kind)


def _clique_table(members: IntArray, counts: IntArray) -> pa.Table:
    """Cliques as rows that add up."""
    columns = dict(zip(_member_columns(members.shape[1]), members.T, strict=True))
    columns |= dict(zip(_count_columns(counts.shape[1]), counts.T, strict=True))
    return pa.table(columns)
