"""Images in Parquet files as Spark reads them, their totals, and a few of every clique."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import IntArray, sql
from cobalance.counting import Cliques, Incidence, build_incidence, priorities, sample_rows
from cobalance.graph import SplitIncidence
from cobalance.ingest import ReadOptions
from cobalance.workflows.on_spark.rows import IMAGES, open_rows


def read_images(
    session: "sql.SparkSession",
    path: str | Sequence[str],
    options: ReadOptions,
    *,
    of_split: str | None = None,
) -> "sql.DataFrame":
    """Read the class, the concepts, and the id, address and split of each image.

    Parameters
    ----------
    options : ReadOptions
        From `cobalance.workflows.on_spark.deciding.decide_columns`.
    of_split : str or None
        Only the images of that split.

    Raises
    ------
    InputError
        The files cannot be read.
    """
    left = {name for name, kind in options.field.items() if kind == "ignore"}
    rows, reader = open_rows(session, path, options, left)

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(reader.images, batches)

    images = rows.mapInArrow(read, IMAGES)
    return images if of_split is None else images.where(images["split"] == of_split)


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


def count_singles(images: "sql.DataFrame") -> Singles:
    """Count the images of each class, and of each class with each concept."""
    # Each image has a mark for the class's size, and one in place of concepts if it shows none.
    functions = sql.functions
    of_class = functions.array(functions.lit(None))
    no_concept = functions.array(functions.lit(""))
    concepts = functions.when(functions.size("concepts") == 0, no_concept)
    concepts = concepts.otherwise(images["concepts"])
    marked = functions.explode(functions.concat(of_class, concepts)).alias("concept")

    sizes: dict[str, int] = {}
    without: dict[str, int] = {}
    counts: dict[str, dict[str, int]] = {}
    for row in images.select("label", marked).groupBy("label", "concept").count().collect():
        concept = row["concept"]
        if concept is None:
            by_class = sizes
        else:
            by_class = counts.setdefault(concept, {}) if concept else without
        by_class[row["label"]] = row["count"]
    return Singles(sizes, {**dict.fromkeys(sizes, 0), **without}, counts)


def digest_images(images: "sql.DataFrame") -> int:
    """64-bit digest of images: the sum of a hash of each, so that their order does not matter."""
    functions = sql.functions
    # A hash of several columns skips those that are null, so that null needs a value of its own.
    texts = [
        functions.coalesce(images[name], functions.lit("\0"))
        for name in ("id", "uri", "split", "label")
    ]
    concepts = functions.array_sort(images["concepts"])
    hashed = functions.xxhash64(*texts, concepts).cast("decimal(38, 0)")
    (row,) = images.select(functions.sum(hashed).alias("total")).collect()

    # The sum wraps around as that of signed integers of 64 bits does.
    return (int(row["total"] or 0) + 2**63) % 2**64 - 2**63


def incidence_of(images: pa.RecordBatch, names: Sequence[str], classes: Sequence[str]) -> Incidence:
    """Incidence of images as `read_images` gives them, with the concepts in `names`."""
    lists = images.column("concepts")
    codes = _codes(lists.flatten(), names)
    rows = pc.list_parent_indices(lists).to_numpy()
    is_known = codes >= 0
    labels = _codes(images.column("label"), classes)
    return build_incidence(rows[is_known], codes[is_known], labels, names, classes)


def _codes(column: pa.Array, names: Sequence[str]) -> IntArray:
    """Positions in `names`, -1 for others."""
    positions = pc.index_in(column, pa.array(names, pa.string()))
    return positions.fill_null(-1).to_numpy().astype(np.int64)


def sample_with_spark(
    images: "sql.DataFrame",
    concepts: Iterable[str],
    cliques: Cliques,
    per_class: int,
    seed: int,
) -> SplitIncidence:
    """The images that `cobalance.counting.sample.sample_rows` chooses, and some more.

    Parameters
    ----------
    images : DataFrame
        From `read_images`.
    concepts : iterable of str
        All that there are.
    cliques : Cliques
        That were counted in them.
    """
    names = sorted(concepts)
    classes = cliques.classes

    def choose(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            part = incidence_of(batch, names, classes)
            priority = priorities(batch.column("id").to_pylist(), seed)
            rows = sample_rows(part, priority, cliques, per_class, part=True)
            yield batch.take(pa.array(rows))

    # Each task chooses for itself, and so some more than are needed in all.
    table = images.mapInArrow(choose, IMAGES).toArrow()
    sample = pa.RecordBatch.from_struct_array(table.to_struct_array().combine_chunks())
    splits = sample.column("split").dictionary_encode()
    return SplitIncidence(
        incidence_of(sample, names, classes),
        splits.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64),
        tuple(splits.dictionary.to_pylist()),
        sample.column("id").to_pylist(),
        sample.column("uri").to_pylist(),
    )
