"""Images in Parquet files as Spark reads them, their totals, and a few of every clique."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.graph.arrays import IntArray
from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.counting.incidence import Incidence, build_incidence
from cobalance.graph.counting.sample import priorities, sample_rows
from cobalance.graph.dataset.incidence_table import SplitIncidence
from cobalance.graph.errors import InputError
from cobalance.graph.libraries import sql
from cobalance.graph.names import clean_name
from cobalance.ingest.tables.columns import usual_column

P = ParamSpec("P")
R = TypeVar("R")
Split = Literal["auto", "images", "prefixes"]
IMAGES_AT_ONCE = 200_000  # of a task, so that its memory does not depend on its partition
OF_PANDAS = "PySpark does not yet fully support pandas"  # through which nothing here goes


def warns_not_of_pandas(run: Callable[P, R]) -> Callable[P, R]:
    """Have a function not warn of pandas."""

    @wraps(run)
    def quiet(*args: P.args, **kwargs: P.kwargs) -> R:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", OF_PANDAS)
            return run(*args, **kwargs)

    return quiet


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOptions:
    """Columns to read, and how to split the work.

    Parameters
    ----------
    class_column, concepts_column : str or None
        Text, and lists of text or text split at `delimiter`; a row an image. None finds them by
        their usual names, such as ``label`` and ``concepts``.
    id_column, uri_column, split_column : str or None
        Likewise, where they are asked for.
    delimiter : str
        Between concepts in text.
    split : {"auto", "images", "prefixes"}
        See `count_with_spark`.
    """

    class_column: str | None = None
    concepts_column: str | None = None
    id_column: str | None = None
    uri_column: str | None = None
    split_column: str | None = None
    delimiter: str = "|"
    split: Split = "auto"


def read_images(
    session: "sql.SparkSession",
    path: str | Sequence[str],
    options: SparkOptions,
    *,
    of_split: str | None = None,
    named: bool = False,
) -> "sql.DataFrame":
    """Read the class and the list of concepts of each image: ``label`` and ``concepts``.

    Parameters
    ----------
    of_split : str or None
        Only the images of that split.
    named : bool
        Also read ``id``, ``uri`` and ``split``; the latter two may be missing.

    Raises
    ------
    InputError
        The files cannot be read, or lack a column.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    paths = [path] if isinstance(path, str) else [*path]
    file = ", ".join(paths)
    try:
        frame = session.read.parquet(*paths)
    except PySparkException as error:
        reason = f"cannot be read ({str(error).splitlines()[0]})"
        raise InputError(file, None, reason, "Check the path.") from None
    except Py4JError as error:
        reason = "cannot be read as Parquet"
        raise InputError(file, None, reason, "Name Parquet files, or their folder.") from error
    found = {
        role: _column(frame.columns, role, given, file, needed)
        for role, given, needed in (
            ("class", options.class_column, True),
            ("concepts", options.concepts_column, True),
            ("split", options.split_column, of_split is not None),
            ("id", options.id_column, named),
            ("uri", options.uri_column, False),
        )
    }
    if of_split is not None:
        frame = frame.where(sql.functions.trim(frame[found["split"]].cast("string")) == of_split)
    concepts = frame[found["concepts"]]
    kind = frame.schema[found["concepts"]].dataType
    text, lists = sql.types.StringType, sql.types.ArrayType
    if isinstance(kind, text):
        at = sql.functions.lit(f"\\Q{options.delimiter}\\E")
        concepts = sql.functions.split(concepts, at)
    elif not (isinstance(kind, lists) and isinstance(kind.elementType, text)):
        reason = f"the column {found['concepts']!r} holds {kind.simpleString()}"
        raise InputError(file, None, reason, "Give text, or lists of text.")
    label = frame[found["class"]].cast("string")
    columns = [label.alias("label"), concepts.alias("concepts")]
    if named:
        columns += [
            (frame[found[role]] if found[role] else sql.functions.lit(None))
            .cast("string")
            .alias(role)
            for role in ("id", "uri", "split")
        ]
    return frame.select(*columns)


def _column(names: Sequence[str], role: str, given: str | None, file: str, needed: bool) -> str:
    """Column of a role; empty text for an optional role without one."""
    name = given or usual_column(role, names) or ""
    if (given or needed) and name not in names:
        wanted = repr(given) if given else f"for the {role}"
        listed = ", ".join(names)
        raise InputError(file, None, f"has no column {wanted} (columns: {listed})", "Name it.")
    return name


@dataclass(frozen=True)
class Singles:
    """Totals of classes and single concepts.

    Parameters
    ----------
    sizes, without_concepts : mapping of str to int
        Images of each class, and those that show no concept.
    counts : mapping of str to mapping of str to int
        Images of each class with each concept, by concept.
    raw : mapping of str to list of str
        How each concept is written.
    """

    sizes: Mapping[str, int]
    without_concepts: Mapping[str, int]
    counts: Mapping[str, Mapping[str, int]]
    raw: Mapping[str, list[str]]


@warns_not_of_pandas
def count_singles(images: "sql.DataFrame", file: str) -> Singles:
    """Count the images of each class, and of each class with each concept."""
    sizes: dict[str, int] = {}
    for row in images.groupBy("label").count().collect():
        name = clean_name(row["label"] or "")
        if not name:
            reason = f"{row['count']:,} images have no class"
            raise InputError(file, None, reason, "Name the class of each, or leave them out.")
        sizes[name] = sizes.get(name, 0) + row["count"]
    # Which written names are one is decided here; how many images show it needs each image's set.
    exploded = images.select(sql.functions.explode("concepts").alias("concept"))
    written = exploded.distinct().collect()
    raw: dict[str, list[str]] = {}
    for row in written:
        if row["concept"] is not None and (name := clean_name(row["concept"])):
            raw.setdefault(name, []).append(row["concept"])
    code_of = {each: code for code, name in enumerate(raw) for each in raw[name]}
    names = [*raw]
    classes = sorted(sizes)

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in incidences(batches, code_of, names, classes):
            empty = part.labels[np.diff(part.indptr) == 0]
            none = np.bincount(empty, minlength=len(classes))
            found = np.column_stack([part.class_concept_counts(), none])
            label, concept = np.nonzero(found)
            columns = {
                "label": label.astype(np.int32),
                "concept": concept.astype(np.int32),
                "images": found[label, concept].astype(np.int64),
            }
            yield pa.RecordBatch.from_pydict(columns)

    found = images.mapInArrow(count, "label int, concept int, images long")
    order = sorted(names)
    counts: dict[str, dict[str, int]] = {name: {} for name in names}
    without: dict[str, int] = dict.fromkeys(classes, 0)
    for row in found.groupBy("label", "concept").sum("images").collect():
        label, concept = classes[row["label"]], row["concept"]
        of_class = without if concept == len(order) else counts[order[concept]]
        of_class[label] = row["sum(images)"]
    return Singles(sizes, without, counts, raw)


def incidences(
    batches: Iterator[pa.RecordBatch],
    code_of: Mapping[str, int],
    names: Sequence[str],
    classes: Sequence[str],
) -> Iterator[Incidence]:
    """Incidence of each few images of a partition."""
    for batch in batches:
        for start in range(0, batch.num_rows, IMAGES_AT_ONCE):
            yield incidence_of(batch.slice(start, IMAGES_AT_ONCE), code_of, names, classes)


def incidence_of(
    images: pa.RecordBatch,
    code_of: Mapping[str, int],
    names: Sequence[str],
    classes: Sequence[str],
) -> Incidence:
    """Incidence of images as `read_images` gives them."""
    number = {name: code for code, name in enumerate(classes)}
    lists = images.column("concepts")
    codes = _codes(lists.flatten(), code_of)
    rows = pc.list_parent_indices(lists).to_numpy()
    labels = [number[clean_name(label)] for label in images.column("label").to_pylist()]
    kept = codes >= 0
    return build_incidence(rows[kept], codes[kept], np.array(labels), names, classes)


def _codes(names: pa.Array, code_of: Mapping[str, int]) -> IntArray:
    """Codes of names as written, -1 for names that are not counted."""
    encoded = names.dictionary_encode()
    known = [code_of.get(name, -1) for name in encoded.dictionary.to_pylist()]
    indices = pc.fill_null(encoded.indices, len(known)).to_numpy(zero_copy_only=False)
    codes: IntArray = np.array([*known, -1], dtype=np.int64)[indices]
    return codes


_NAMED = ("label", "concepts", "id", "uri", "split")


@warns_not_of_pandas
def sample_with_spark(
    images: "sql.DataFrame",
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
                priority = priorities([name or "" for name in some.column("id").to_pylist()], seed)
                rows = sample_rows(part, priority, cliques, per_class, part=True)
                yield some.take(pa.array(rows)).select(_NAMED)

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
