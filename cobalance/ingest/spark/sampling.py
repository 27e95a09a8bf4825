"""Choose a few images of every clique on Apache Spark."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.counting.sample import priorities, sample_rows
from cobalance.graph.dataset.incidence_table import SplitIncidence
from cobalance.graph.errors import InputError
from cobalance.ingest.spark.images import IMAGES_AT_ONCE, incidence_of, warns_not_of_pandas

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COLUMNS = ("label", "concepts", "id", "uri", "split")


@warns_not_of_pandas
def sample_with_spark(
    images: "DataFrame",
    raw: Mapping[str, Sequence[str]],
    cliques: Cliques,
    per_class: int,
    seed: int,
) -> SplitIncidence:
    """The images that `cobalance.graph.counting.sample.sample_rows` chooses, and some more.

    Parameters
    ----------
    images : DataFrame
        From `read_images`, named.
    raw : mapping of str to sequence of str
        All concepts, and how each is written.
    cliques : Cliques
        That were counted in them.

    Raises
    ------
    InputError
        A chosen image has no id, or two have the same.
    """
    names = sorted(raw)
    code_of = {each: code for code, name in enumerate(names) for each in raw[name]}
    classes = cliques.classes

    def choose(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for start in range(0, batch.num_rows, IMAGES_AT_ONCE):
                some = batch.slice(start, IMAGES_AT_ONCE)
                part = incidence_of(some, code_of, names, classes)
                priority = priorities(_ids(some.column("id")), seed)
                rows = sample_rows(part, priority, cliques, per_class, part=True)
                yield some.take(pa.array(rows)).select(_COLUMNS)

    kinds = "label string, concepts array<string>, id string, uri string, split string"
    table = images.mapInArrow(choose, kinds).toArrow()
    found = pa.RecordBatch.from_struct_array(table.to_struct_array().combine_chunks())
    ids = found.column("id").to_pylist()
    if None in ids or len(set(ids)) < len(ids):
        raise InputError(
            "The images", None, "do not each have an id of their own", "Name the column of the ids."
        )
    incidence = incidence_of(found, code_of, names, classes)
    splits = found.column("split").dictionary_encode()
    return SplitIncidence(
        incidence,
        splits.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64),
        tuple(splits.dictionary.to_pylist()),
        ids,
        found.column("uri").to_pylist(),
    )


def _ids(column: pa.Array) -> list[str]:
    return [name or "" for name in column.to_pylist()]
