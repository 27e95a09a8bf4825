"""Count the cliques of Parquet files on Apache Spark, for datasets that outgrow one machine.

https://spark.apache.org
"""

from collections.abc import Iterator, Sequence
from math import comb
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base.arrays import IntArray
from cobalance.base.errors import TooManyCliquesError, check_known
from cobalance.base.libraries import sql
from cobalance.counting.cliques import Cliques, clique_order, mine_cliques
from cobalance.counting.incidence import Incidence, build_incidence
from cobalance.counting.mining_options import MiningOptions
from cobalance.workflows.on_spark.images import (
    Singles,
    incidence_of,
)

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
    counted = count(images, names, classes, mining)
    counts = [f"{_COUNT}{code}" for code in range(len(classes))]
    rows = counted.limit(max_cliques + 1).toArrow()
    if rows.num_rows > max_cliques:
        raise TooManyCliquesError(
            f"More than {max_cliques:,} cliques of up to {max_size} concepts have a joint count of "
            f"{mining.min_support:,} or more in some class. Ask for a higher minimum support or a "
            "lower maximum size; or, if memory allows, for more cliques."
        )
    members = [f"{_MEMBER}{place}" for place in range(max_size)]
    found = Cliques(
        _matrix(rows, members, np.dtype(np.int32)),
        _matrix(rows, counts, np.dtype(np.int64)),
        np.array([sizes[name] for name in classes], dtype=np.int64),
        names,
        classes,
    )
    return found.take(clique_order(found.members, len(names) + 1))


def _matrix(rows: pa.Table, names: Sequence[str], kind: np.dtype[Any]) -> IntArray:
    return np.column_stack([rows.column(name).to_numpy() for name in names]).astype(kind)


def _select_concepts(
    singles: Singles, classes: Sequence[str], mining: MiningOptions
) -> tuple[str, ...]:
    """Concepts with enough support that occur with every class in `common`, in order of name."""
    wanted = classes if mining.common is None else mining.common
    return tuple(
        sorted(
            name
            for name, counts in singles.counts.items()
            if max(counts.values(), default=0) >= mining.min_support
            and all(counts.get(class_name) for class_name in wanted)
        )
    )


def _schema(max_size: int, n_classes: int) -> str:
    members = [f"{_MEMBER}{place} int" for place in range(max_size)]
    return ", ".join([*members, *(f"{_COUNT}{code} long" for code in range(n_classes))])


def _batch(members: IntArray, counts: IntArray, max_size: int) -> pa.RecordBatch:
    padded = np.full((len(members), max_size), -1, dtype=np.int32)
    padded[:, : members.shape[1]] = members
    columns: dict[str, IntArray] = {
        f"{_MEMBER}{place}": padded[:, place] for place in range(max_size)
    }
    columns |= {f"{_COUNT}{code}": counts[:, code] for code in range(counts.shape[1])}
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
            found = mine_cliques(part, max_size=mining.max_size, common=(), threads=1)
            yield _batch(found.members, found.counts, mining.max_size)

    members = [f"{_MEMBER}{place}" for place in range(mining.max_size)]
    counts = [f"{_COUNT}{code}" for code in range(len(classes))]
    summed = (
        images.mapInArrow(count, _schema(mining.max_size, len(classes)))
        .groupBy(*members)
        .agg(*(sql.functions.sum(name).alias(name) for name in counts))
    )
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

    def count(key: tuple[Any, ...], images_of: pa.Table) -> pa.Table:
        first, max_size = key[0].as_py(), mining.max_size
        rest = _after(images_of, names, classes)
        members, counts = np.array([[first]]), rest.class_sizes()[None]
        if max_size > 1:
            longer = mine_cliques(
                rest, max_size=max_size - 1, min_support=mining.min_support, common=(), threads=1
            )
            begun = np.insert(longer.members, 0, first, axis=1)
            members = np.concatenate(
                [np.pad(members, ((0, 0), (0, max_size - 1)), constant_values=-1), begun]
            )
            counts = np.concatenate([counts, longer.counts])
        return pa.Table.from_batches([_batch(members, counts, max_size)])

    sent = images.mapInArrow(project, "first int, label int, rest array<int>")
    grouped = sent.groupBy("first")
    return grouped.applyInArrow(count, _schema(mining.max_size, len(classes)))


def _suffixes(part: Incidence) -> Iterator[pa.RecordBatch]:
    """For each concept of each image: the image's class, and its concepts after that one."""
    lengths = np.diff(part.indptr)
    ends = np.repeat(part.indptr[1:], lengths)
    left = ends - np.arange(len(part.indices)) - 1  # concepts after each entry
    offsets = np.append(0, np.cumsum(left))
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], left)
    values = part.indices[np.repeat(np.arange(len(left)) + 1, left) + within]
    yield pa.RecordBatch.from_pydict(
        {
            "first": part.indices.astype(np.int32),
            "label": np.repeat(part.labels, lengths).astype(np.int32),
            "rest": pa.ListArray.from_arrays(offsets.astype(np.int32), values.astype(np.int32)),
        }
    )


def _after(images_of: pa.Table, names: Sequence[str], classes: Sequence[str]) -> Incidence:
    """Incidence of the images that were sent to a concept, of the concepts after it."""
    rest = images_of.column("rest").combine_chunks()
    return build_incidence(
        pc.list_parent_indices(rest).to_numpy(),
        rest.flatten().to_numpy(),
        images_of.column("label").to_numpy(),
        names,
        classes,
    )
