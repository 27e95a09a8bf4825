"""Load and mine datasets whose images stay in Parquet files."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cobalance.base import Progress, StaleError, silent, values_at
from cobalance.counting import CoOccurrence, MiningOptions
from cobalance.graph import (
    DatasetState,
    GraphStore,
    IfExists,
    ImageTotals,
    IngestReport,
    Sample,
    SplitIncidence,
    load_images,
    write_totals,
)
from cobalance.ingest import ReadOptions
from cobalance.workflows.in_files.deciding import decide_columns
from cobalance.workflows.in_files.files import Files
from cobalance.workflows.in_files.images import FileImages
from cobalance.workflows.in_files.local import LocalFiles

MOST_PAIRS = 20_000_000
READ = (
    "id_column",
    "class_column",
    "concepts_column",
    "split_column",
    "uri_column",
    "delimiter",
    "path_pattern",
    "field",
    "names",
)
"""Options of readers that tasks follow."""


@contextmanager
def open_files(
    path: str | Sequence[str], engine: str, master: str | None = None, progress: Progress = silent
) -> Iterator[Files]:
    """Open Parquet files for an engine: "out-of-core", here, or "spark".

    Raises
    ------
    InputError
        The files cannot be read.
    MissingExtraError
        The extra ``spark`` is not installed.
    """
    if engine != "spark":
        yield LocalFiles(path, progress=progress)
        return

    # Spark is imported only where it counts.
    from cobalance.workflows.in_files.spark import SparkFiles, spark_session

    with spark_session(master) as session:
        yield SparkFiles(session, path)


def load_files(
    store: GraphStore,
    dataset: str,
    path: str,
    options: ReadOptions,
    sample: Sample,
    *,
    engine: str,
    if_exists: IfExists = "fail",
    master: str | None = None,
    progress: Progress = silent,
) -> tuple[IngestReport, tuple[str, ...]]:
    """Load the counts of Parquet files as `write_sampled` does, with notes on their columns.

    The images stay where they are.

    Parameters
    ----------
    path : str
        Files or folder; on any file system that Spark reads, where it counts.
    engine, master : str
        As of `open_files`.

    Raises
    ------
    InputError
        The files cannot be read, lack a column, or have a column or an image that cannot be used.
    MissingExtraError
        The extra ``spark`` is not installed.
    """
    with open_files(path, engine, master, progress) as files:
        progress("count images", 0, None)
        options, notes, singles = decide_columns(files, options)
        totals = _totals(FileImages(files, options, singles))
    report = write_totals(
        store,
        dataset,
        totals,
        sample,
        source=path,
        images_at=json.dumps(
            {
                "path": path,
                "engine": engine,
                **{name: getattr(options, name) for name in READ},
            }
        ),
        files_stamp=files.stamp,
        if_exists=if_exists,
        progress=progress,
    )
    return report, notes


@contextmanager
def open_images(
    store: GraphStore,
    state: DatasetState,
    engine: str,
    master: str | None = None,
    progress: Progress = silent,
) -> Iterator[FileImages]:
    """Open a dataset's images: the files it was loaded from, else temporary ones.

    Parameters
    ----------
    engine : str
        As of `open_files`; "auto" is the one that loaded the files.

    Raises
    ------
    StaleError
        The files have changed since they were loaded.
    MissingExtraError
        The extra ``spark`` is not installed.
    """
    if state.images_at is None:
        with TemporaryDirectory(prefix="cobalance-") as folder:
            path = Path(folder, "images.parquet")
            pq.write_table(_table(load_images(store, state)), path, row_group_size=100_000)
            columns = ReadOptions(class_column="class", concepts_column="concepts")
            with open_files(str(path), engine, master, progress) as files:
                yield FileImages(files, columns)
        return

    options = json.loads(state.images_at)
    path = options.pop("path")
    loaded_by = options.pop("engine", "spark")
    with open_files(path, loaded_by if engine == "auto" else engine, master, progress) as files:
        images = FileImages(files, ReadOptions(**options))
        # To read them all takes as long as to count them.
        is_known = files.stamp is not None and files.stamp == state.files_stamp
        if not is_known and images.digest != state.digest:
            raise StaleError(
                f"The images in {path} have changed since they were loaded. Load them again."
            )
        yield images


def _table(images: SplitIncidence) -> pa.Table:
    """Images as rows of a Parquet file."""
    incidence = images.incidence
    # An image of no split has the code -1, which is the last.
    splits = [*images.split_names, None]
    concepts = pa.array(incidence.concepts, pa.string()).take(pa.array(incidence.indices))

    columns: dict[str, object] = {
        "class": values_at(incidence.classes, incidence.labels.tolist()),
        "concepts": pa.ListArray.from_arrays(pa.array(incidence.indptr, pa.int32()), concepts),
        "split": pa.array(values_at(splits, images.splits.tolist()), pa.string()),
    }
    if images.uris:
        columns |= {"id": images.ids, "uri": images.uris}
    return pa.table(columns)


def _totals(images: FileImages) -> ImageTotals:
    singles = images.singles
    cliques = images.count(MiningOptions(2, common=()), MOST_PAIRS).cliques
    classes, concepts = cliques.classes, cliques.concepts
    by_class = np.zeros((len(classes), len(concepts)), dtype=np.int64)
    for column, concept in enumerate(concepts):
        for row, class_name in enumerate(classes):
            by_class[row, column] = singles.counts[concept].get(class_name, 0)

    class_codes, concept_codes = np.nonzero(by_class)
    is_pair = cliques.sizes() == 2
    edges = CoOccurrence(
        cliques.members[is_pair],
        cliques.counts[is_pair].sum(axis=1),
        np.column_stack([class_codes, concept_codes]),
        by_class[class_codes, concept_codes],
    )

    without = np.array(values_at(singles.without_concepts, classes), dtype=np.int64)
    return ImageTotals(
        concepts,
        classes,
        cliques.class_sizes,
        without,
        edges,
        images.splits,
        images.digest,
    )
