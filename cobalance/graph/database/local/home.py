"""Home folder of the local server: its paths and locks, its state file, private writes.

The client (`cobalance.graph.database.local.server_control`) and the server
(`cobalance.graph.database.local.server_process`) communicate by these files.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

HOST = "127.0.0.1"
USERNAME = "neo4j"


class Home:
    """Paths and locks below a server's data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.expanduser().resolve()
        self.state = self.folder / "server.json"
        self.password = self.folder / "password"
        self.new_password = self.folder / "password.new"
        self.last_used = self.folder / "last-used"
        self.log = self.folder / "logs" / "server.log"
        self.configuration = self.folder / "conf" / "neo4j.conf"
        self.system_database = self.folder / "data" / "databases" / "system"

    def joining(self) -> FileLock:
        """Lock held by a client while it finds or starts the server, and during shutdown."""
        return FileLock(self.folder / "joining.lock", mode=0o600)

    def serving(self) -> FileLock:
        """Lock held by the folder's server while it runs."""
        return FileLock(self.folder / "serving.lock", mode=0o600)


@contextmanager
def hold(lock: FileLock, every_s: float, report: Callable[[float], None]) -> Iterator[None]:
    """Hold a lock; while another process has it, report the seconds."""
    began = time.monotonic()
    while not lock.is_locked:
        try:
            lock.acquire(timeout=every_s)
        except Timeout:
            report(time.monotonic() - began)

    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True)
class ServerState:
    """Contents of the server's state file.

    Parameters
    ----------
    pid : int
        Process id.
    phase : str
        ``starting``, ``ready``, ``stopping``, ``stopped`` or ``failed``.
    port : int
        Bolt port on loopback; 0 if unknown. The next start reuses it.
    reason : str
        Cause of the phase ``failed``.
    idle_stop_s : float or None
        Seconds without a connection until it stops, as it was started; None where unknown.
    """

    pid: int
    phase: str
    port: int = 0
    reason: str = ""
    idle_stop_s: float | None = None

    @classmethod
    def read(cls, file: Path) -> "ServerState | None":
        """Read a state file; None if it is missing or malformed."""
        try:
            return cls(**json.loads(file.read_text(encoding="utf-8")))
        except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
            return None

    def write(self, file: Path) -> None:
        """Write the state file atomically."""
        write_private(file, json.dumps(asdict(self)))


def write_private(file: Path, text: str) -> None:
    """Write `text` to `file` atomically, readable by its owner alone."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)

    try:
        with open(descriptor, "w", encoding="utf-8") as content:
            content.write(text)
            content.flush()
            os.fsync(content.fileno())
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)
