"""Images that stay in Parquet files: their totals, their cliques, and a few of every clique."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import Hashes, UnknownNameError, hash_texts, mix_bits
from cobalance.counting import (
    Batches,
    Cliques,
    Incidence,
    Kernel,
    MiningOptions,
    Scan,
    Singles,
    count_scanned,
    images_of_batch,
    join_images,
    names_of_batch,
    pack,
    priorities,
    read_singles,
    run,
    sample_rows,
)
from cobalance.graph import (
    Counted,
    DatasetState,
    GraphStore,
    Sample,
    SplitIncidence,
    choose_sample,
    load_images,
)
from cobalance.ingest import ReadOptions
from cobalance.workflows.in_files.files import Files
from cobalance.workflows.in_files.rows import RowReader, list_concepts, plain_columns

_SEPARATOR = "\0"  # no name has it
_MISSING = "\1"  # nor this
_TEXTS = ("id", "uri", "split")
_SAMPLED_AT_ONCE = 2_000_000
"""Images of a part that is sampled: each takes a look at every clique."""


@dataclass(frozen=True, eq=False)
class FileImages:
    """Images in Parquet files.

    Parameters
    ----------
    files : Files
        As an engine reads them.
    options : ReadOptions
        From `decide_columns`.
    counted : Singles or None
        Totals of all images, if they are known.
    """

    files: Files
    options: ReadOptions
    counted: Singles | None = None
    _unread: Collection[str] = field(init=False)
    _plain: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        unread = {name for name, kind in self.options.field.items() if kind == "ignore"}
        object.__setattr__(self, "_unread", unread)
        object.__setattr__(self, "_plain", plain_columns(self.files, self.options))

    def scan(self, of_split: str | None = None, *, whole: bool = False) -> Scan:
        """Scan all images, or a split: `label` and `concepts`.

        Parameters
        ----------
        whole : bool
            Read `id`, `uri` and `split`, too.
        """
        options = replace(self.options, on_error="skip")
        reader = RowReader(self.files.path, self.files.features, options)
        plain, unread = self._plain, set(self._unread)
        if not (whole or of_split):
            unread |= {name for role, name in plain.items() if role in ("id", "uri", "split")}

        def images(batch: pa.RecordBatch) -> pa.RecordBatch:
            if not plain:
                return reader.images(batch)
            if whole or of_split:
                return reader.plain_images(batch, plain)
            return batch.select([plain["label"], plain["concepts"]]).rename_columns(
                ["label", "concepts"]
            )

        def scan(kernel: Kernel) -> Iterable[pa.RecordBatch]:
            def read(batches: Batches) -> Batches:
                of_all: Batches = map(images, batches)
                if of_split is not None:
                    of_all = (batch.filter(pc.equal(batch["split"], of_split)) for batch in of_all)
                return kernel(of_all)

            return self.files.scan(read, unread)

        return scan

    @cached_property
    def singles(self) -> Singles:
        """Totals of all images."""
        return self.counted or read_singles(self.scan())

    @property
    def digest(self) -> int:
        """64-bit digest of all images: the sum of a hash of each, so that order does not matter."""
        digests = self._of_splits["n_digest"].to_numpy()
        # The sum wraps around as that of integers of 64 bits does.
        return int(np.add.reduce(digests, dtype=np.int64))

    @property
    def splits(self) -> dict[str | None, int]:
        """Images of each split, by name; of none (None) last."""
        table = self._of_splits
        counts = zip(table["split"].to_pylist(), table["n_images"].to_pylist(), strict=True)
        return dict(sorted(counts, key=lambda count: (count[0] is None, count[0])))

    @cached_property
    def _of_splits(self) -> pa.Table:
        """The number of images of each split, and the sum of their hashes."""
        return run(self.scan(whole=True), _sum_hashes)

    def load(self, store: GraphStore, state: DatasetState) -> SplitIncidence:
        """All images in memory, from the graph; DataError where it has no more than a sample."""
        return load_images(store, state)

    def count(self, options: MiningOptions, max_cliques: int) -> Counted:
        """Count in the files."""
        scan = self.scan(options.split)
        singles = self.singles
        if options.split is not None:
            if options.split not in self.splits:
                raise UnknownNameError("split", options.split, sorted(filter(None, self.splits)))
            singles = read_singles(scan)

        cliques = count_scanned(scan, singles, options, max_cliques)
        return Counted(cliques, singles.uncommon(options.common))

    def sample(self, cliques: Cliques, sample: Sample, split: str | None) -> SplitIncidence:
        """Sample in every task, then among the tasks' samples."""
        concepts = tuple(sorted(self.singles.counts))
        classes = cliques.classes

        def choose(batches: Batches) -> Batches:
            for part, texts in _gather(batches, concepts, classes):
                priority = priorities(texts["id"].to_pylist(), sample.seed)
                rows = sample_rows(part, priority, cliques, sample.per_class, part=True)
                yield pack(_as_texts(part.take(rows), texts.take(pa.array(rows))))

        # Each task chooses for itself, and so some more than are needed in all.
        table = run(self.scan(split, whole=True), choose)
        (images,) = _as_lists(table).to_batches()
        splits = images["split"].dictionary_encode()
        of_tasks = SplitIncidence(
            images_of_batch(images, concepts, classes),
            splits.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64),
            tuple(splits.dictionary.to_pylist()),
            images["id"].to_pylist(),
            images["uri"].to_pylist(),
        )
        return choose_sample(of_tasks, cliques, sample)


def _gather(
    batches: Batches, concepts: tuple[str, ...], classes: tuple[str, ...]
) -> Iterator[tuple[Incidence, pa.Table]]:
    """Images in parts of a few million, each with its ids, addresses and splits."""
    blocks: list[Incidence] = []
    texts: list[pa.Table] = []
    for batch in batches:
        blocks.append(images_of_batch(batch, concepts, classes))
        columns = {name: batch[name].cast(pa.string()) for name in _TEXTS}
        texts.append(pa.table(columns))
        if sum(map(len, texts)) >= _SAMPLED_AT_ONCE:
            yield join_images(blocks), pa.concat_tables(texts)
            blocks, texts = [], []

    if blocks:
        yield join_images(blocks), pa.concat_tables(texts)


def _sum_hashes(batches: Batches) -> Batches:
    """Count the images of each split, and sum their hashes (kernel)."""
    for batch in batches:
        images = images_of_batch(batch, *names_of_batch(batch))
        # Each kind of value has hashes of its own, so that none can stand for another.
        concepts = mix_bits(hash_texts(images.concepts) + np.uint64(1))
        hashes = images.sum_rows(concepts.view(np.int64)).view(np.uint64)
        hashes += mix_bits(hash_texts(images.classes) + np.uint64(2))[images.labels]
        for kind, name in enumerate(_TEXTS, start=3):
            hashes += mix_bits(_hash_column(batch[name]) + np.uint64(kind))

        splits = batch["split"].cast(pa.string())
        digests = pa.array(mix_bits(hashes).view(np.int64))
        table = pa.table({"split": splits, "n_digest": digests}).group_by("split")
        summed = table.aggregate([([], "count_all"), ("n_digest", "sum")])
        yield pack(
            summed.rename_columns({"count_all": "n_images", "n_digest_sum": "n_digest"}).select(
                ["split", "n_images", "n_digest"]
            )
        )


def _hash_column(column: pa.Array) -> Hashes:
    """Hash texts, a missing one as one that no text is."""
    texts = column.cast(pa.string()).fill_null(_MISSING)
    if column.null_count == len(column):
        return np.full(len(column), hash_texts([_MISSING])[0])
    return hash_texts(texts.to_numpy(zero_copy_only=False))


def _as_texts(images: Incidence, texts: pa.Table) -> pa.Table:
    """Images as rows of texts, that can be compared: their concepts in order, in one text."""
    concepts = list_concepts(images).cast(pa.list_(pa.string()))
    labels = pa.array(images.classes, pa.string()).take(pa.array(images.labels))
    return texts.append_column("label", labels).append_column(
        "concepts", pc.binary_join(concepts, _SEPARATOR)
    )


def _as_lists(images: pa.Table) -> pa.Table:
    """Reverse `_as_texts`."""
    lists = pc.split_pattern(images["concepts"], _SEPARATOR)
    place = images.column_names.index("concepts")
    return images.set_column(place, "concepts", lists).combine_chunks()
