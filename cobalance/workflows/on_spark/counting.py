"""Count the cliques of Parquet files on Apache Spark, for datasets that outgrow one machine.

https://spark.apache.org
"""

from collections.abc import Iterator, Sequence
from math import comb
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import IntArray, TooManyCliquesError, check_known, sql, values_at
from cobalance.counting import (
    Cliques,
    Incidence,
    MiningOptions,
    build_incidence,
    clique_order,
    mine_cliques,
)
from cobalance.workflows.on_spark.images import Singles, incidence_of

Split = Literal["auto", "images", "prefixes"]
BY_IMAGES_UP_TO = 5_000_000
"""Possible cliques up to which every task may hold counts of all; see `count_cliques`."""
_MEMBER, _COUNT = "member_", "count_"


def count_cliques(
    images: "sql.DataFrame",
    singles: Singles,
    mining: MiningOptions,
    max_cliques: int,
    split: Split = "auto",
) -> Cliques:
    """Count every clique of images from `read_images`, exactly as `mine_cliques` does.

    Raises
    ------
    UnknownNameError
        A name in `common` is not a class.
    TooManyCliquesError
        More than `max_cliques` are kept.

    Notes
    -----
    Both ways run the same compiled kernel in every task, on Arrow batches:

    - ``images``: a task counts all cliques of its images, and the counts are summed. Little is
      sent, but no task can leave out a clique that is rare in its part, so each may hold as many
      as there are. It is chosen while at most 5,000,000 cliques are possible: 80 concepts up to
      size 4 (1.7 million), 600 up to size 2, not 600 up to size 3 (36 million).
    - ``prefixes``: images are sent to the task of each concept that they show, without the
      concepts before it. That task sees all images of its cliques, so it drops those below
      `min_support` at once, and nothing is summed. Each image is sent once for each of its
      concepts.
    """
    sizes = singles.sizes
    classes = tuple(sorted(sizes))
    check_known("class", mining.common or (), classes)
    names = _select_concepts(singles, classes, mining)
    max_size = mining.max_size

    possible = sum(comb(len(names), size) for size in range(1, max_size + 1))
    by_images = split == "images" or (split == "auto" and possible <= BY_IMAGES_UP_TO)
    count = _by_images if by_images else _by_prefixes

    # One more than may be, so that too many are noticed.
    rows = count(images, names, classes, mining).limit(max_cliques + 1).toArrow()
    if rows.num_rows > max_cliques:
        raise TooManyCliquesError(
            f"More than {max_cliques:,} cliques of up to {max_size} concepts have a joint count of "
            f"{mining.min_support:,} or more in some class. Ask for a higher minimum support or a "
            "lower maximum size; or, if memory allows, for more cliques."
        )

    cliques = Cliques(
        members=_matrix(rows, _member_columns(max_size), np.dtype(np.int32)),
        counts=_matrix(rows, _count_columns(len(classes)), np.dtype(np.int64)),
        class_sizes=np.array(values_at(sizes, classes), dtype=np.int64),
        concepts=names,
        classes=classes,
    )
    # Rows come in any order from the tasks.
    return cliques.take(clique_order(cliques.members, len(names) + 1))


def _member_columns(max_size: int) -> list[str]:
    return [f"{_MEMBER}{position}" for position in range(max_size)]


def _count_columns(n_classes: int) -> list[str]:
    return [f"{_COUNT}{code}" for code in range(n_classes)]


def _matrix(rows: pa.Table, names: Sequence[str], kind: np.dtype[Any]) -> IntArray:
    return np.column_stack([rows.column(name).to_numpy() for name in names]).astype(kind)


def _select_concepts(
    singles: Singles, classes: Sequence[str], mining: MiningOptions
) -> tuple[str, ...]:
    """Concepts with enough support that occur with every class in `common`, in order of name."""
    common = classes if mining.common is None else mining.common
    names = []
    for name, counts in singles.counts.items():
        is_frequent = max(counts.values(), default=0) >= mining.min_support
        if is_frequent and all(counts.get(class_name) for class_name in common):
            names.append(name)
    return tuple(sorted(names))


def _schema(max_size: int, n_classes: int) -> str:
    members = ", ".join(f"{name} int" for name in _member_columns(max_size))
    counts = ", ".join(f"{name} long" for name in _count_columns(n_classes))
    return f"{members}, {counts}"


def _clique_batch(members: IntArray, counts: IntArray, max_size: int) -> pa.RecordBatch:
    """Cliques as rows for Spark; those with fewer members than `max_size` end in -1."""
    padded = np.full((len(members), max_size), -1, dtype=np.int32)
    padded[:, : members.shape[1]] = members
    columns = dict(zip(_member_columns(max_size), padded.T, strict=True))
    columns |= dict(zip(_count_columns(counts.shape[1]), counts.T, strict=True))
    return pa.RecordBatch.from_pydict(columns)


def _by_images(
    images: "sql.DataFrame",
    names: Sequence[str],
    classes: Sequence[str],
    mining: MiningOptions,
) -> "sql.DataFrame":
    """Count the cliques of each partition, sum, and drop the rare ones."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            part = incidence_of(batch, names, classes)
            # No minimum support: a clique that is rare in this part may be frequent in all.
            cliques = mine_cliques(part, max_size=mining.max_size, common=(), threads=1)
            yield _clique_batch(cliques.members, cliques.counts, mining.max_size)

    counts = _count_columns(len(classes))
    summed = (
        images.mapInArrow(count, _schema(mining.max_size, len(classes)))
        .groupBy(*_member_columns(mining.max_size))
        .agg(*(sql.functions.sum(name).alias(name) for name in counts))
    )

    # Spark's greatest takes two columns or more.
    columns = [summed[name] for name in counts]
    most = sql.functions.greatest(*columns) if len(columns) > 1 else columns[0]
    return summed.where(most >= mining.min_support)


def _by_prefixes(
    images: "sql.DataFrame",
    names: Sequence[str],
    classes: Sequence[str],
    mining: MiningOptions,
) -> "sql.DataFrame":
    """Partition images by each of their concepts, and count the cliques that begin with it."""

    def project(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from _suffixes(incidence_of(batch, names, classes))

    def count(key: tuple[Any, ...], sent_images: pa.Table) -> pa.Table:
        first = key[0].as_py()
        max_size = mining.max_size
        rest = _later_concepts(sent_images, names, classes)

        # All images here show the concept, so that their number is its own count.
        members = np.array([[first]])
        counts = rest.class_sizes()[np.newaxis]

        # Longer cliques begin with the concept, too, and are found among the concepts after it.
        if max_size > 1:
            longer = mine_cliques(
                rest, max_size=max_size - 1, min_support=mining.min_support, common=(), threads=1
            )
            padded = np.pad(members, ((0, 0), (0, max_size - 1)), constant_values=-1)
            members = np.concatenate([padded, np.insert(longer.members, 0, first, axis=1)])
            counts = np.concatenate([counts, longer.counts])

        return pa.Table.from_batches([_clique_batch(members, counts, max_size)])

    suffixes = images.mapInArrow(project, "first int, label int, rest array<int>")
    grouped = suffixes.groupBy("first")
    return grouped.applyInArrow(count, _schema(mining.max_size, len(classes)))


def _suffixes(part: Incidence) -> Iterator[pa.RecordBatch]:
    """For each concept of each image: the image's class, and its concepts after that one."""
    lengths = np.diff(part.indptr)
    ends = np.repeat(part.indptr[1:], lengths)
    n_after = ends - np.arange(len(part.indices)) - 1
    offsets = np.append(0, np.cumsum(n_after))

    # Entry i is followed by the entries i + 1, i + 2, ..., as many as its image has after it.
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], n_after)
    values = part.indices[np.repeat(np.arange(len(n_after)) + 1, n_after) + within]
    yield pa.RecordBatch.from_pydict(
        {
            "first": part.indices.astype(np.int32),
            "label": np.repeat(part.labels, lengths).astype(np.int32),
            "rest": pa.ListArray.from_arrays(offsets.astype(np.int32), values.astype(np.int32)),
        }
    )


def _later_concepts(
    sent_images: pa.Table, names: Sequence[str], classes: Sequence[str]
) -> Incidence:
    """Incidence of the images that were sent to a concept, of the concepts after it."""
    rest = sent_images.column("rest").combine_chunks()
    return build_incidence(
        pc.list_parent_indices(rest).to_numpy(),
        rest.flatten().to_numpy(),
        sent_images.column("label").to_numpy(),
        names,
        classes,
    )
