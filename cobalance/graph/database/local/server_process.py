"""Process of the local Neo4j server, independent of the client that started it.

The client starts it with the home folder as its argument, which identifies the process by its
command line, and sends a `ServerOrder` as JSON on standard input.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from filelock import Timeout

from cobalance.graph.database.disk import full_disk
from cobalance.graph.database.local.home import HOST, Home, ServerState

# For the lock of a predecessor that is about to exit.
_HANDOVER_S = 10.0
_LONGEST_TICK_S = 1.0


@dataclass(frozen=True)
class ServerOrder:
    """Settings that a client passes to the server process it starts.

    The jars are file names in their folder; a new password has yet to be set in the database; the
    rest is as in `cobalance.graph.database.local.settings.LocalServerSettings`.
    """

    jar_folder: str
    jars: list[str]
    password: str
    is_new_password: bool
    idle_stop_s: float
    heap_mb: int
    pagecache_mb: int
    more: dict[str, str]


def main() -> None:
    """Run the server of a home folder until it is stopped or has been idle for too long."""
    home = Home(Path(sys.argv[1]))
    order = ServerOrder(**json.load(sys.stdin))
    _leave_parent()

    # The object stays until the end: deleting it would release the lock.
    serving = home.serving()
    try:
        serving.acquire(timeout=_HANDOVER_S)
    except Timeout:
        _answer(error=f"another process, perhaps on another machine, serves {home.folder}")
        return

    last_state = ServerState.read(home.state)
    port = _usable_port(last_state.port if last_state else 0)
    ServerState(os.getpid(), "starting", port).write(home.state)
    _answer(pid=os.getpid())

    _redirect_output(home.log)
    try:
        _serve(home, order, port)
        end_state = ServerState(os.getpid(), "stopped", port)
    except BaseException as error:  # noqa: BLE001 -- recorded in the state file before the exit
        end_state = ServerState(os.getpid(), "failed", port, _root_cause(error))
        # The disk may be full.
        with suppress(OSError):
            traceback.print_exc()

    # Where it cannot be written, the old state is of a process that has ended, and counts as none.
    with suppress(OSError):
        end_state.write(home.state)
        sys.stdout.flush()
        sys.stderr.flush()
    # An ordinary exit would wait for the threads that the JVM still has.
    os._exit(0 if end_state.phase == "stopped" else 1)


def _leave_parent() -> None:
    """Detach from the client, which then need not wait, and ignore its terminal's signals."""
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
    """Send all output, the JVM's too, to `log`; the previous log is kept beside it."""
    log.parent.mkdir(exist_ok=True)
    if log.exists():
        os.replace(log, log.with_suffix(".log.1"))

    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (descriptor, 1), (descriptor, 2)):
        os.dup2(source, target)
    os.close(descriptor)
    os.close(nothing)


def _usable_port(preferred: int) -> int:
    """Return `wanted` if it is free on loopback, else any free port."""
    for port in (preferred, 0):
        with socket.socket() as probe:
            # As the server does, so that closed connections do not block the port.
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise OSError("no port is free on 127.0.0.1")


def _serve(home: Home, order: ServerOrder, port: int) -> None:
    # These load the JVM's library: after the fork.
    from cobalance.graph.database.local import jvm
    from cobalance.graph.database.local.query_watch import QueryWatch
    from cobalance.graph.database.local.thread_stopper import ThreadStopper

    asked_to_stop = threading.Event()
    jvm.start_jvm(order.jar_folder, order.jars, order.heap_mb)
    signal.signal(signal.SIGTERM, lambda *_: asked_to_stop.set())
    settings = jvm.configuration(port, order.heap_mb, order.pagecache_mb) | order.more

    if order.is_new_password:
        jvm.set_password(home, settings, order.password)
        os.replace(home.new_password, home.password)

    server = jvm.open_server(home, settings)
    watch = QueryWatch(server, ThreadStopper(jvm.jvm_library()))
    threading.Thread(target=watch.run, args=(asked_to_stop,), daemon=True).start()
    home.last_used.touch()
    ready = ServerState(os.getpid(), "ready", port, idle_stop_s=order.idle_stop_s)
    ready.write(home.state)

    try:
        _wait_until_unused(home, port, order.idle_stop_s, asked_to_stop)
    finally:
        watch.stop_all()
        # After a full disk it hangs, or spoils the log by writing its end again. No commit is lost.
        if full_disk(home.folder) is None and not jvm.has_failed(server):
            server.shutdown()


def _wait_until_unused(
    home: Home, port: int, idle_stop_s: float, asked_to_stop: threading.Event
) -> None:
    """Return when asked to stop, or when the server has had no connection for `idle_stop_s`.

    ``home.last_used`` is touched by clients that join, and here while one is connected.
    """
    stopping = ServerState(os.getpid(), "stopping", port)
    while not asked_to_stop.wait(min(_LONGEST_TICK_S, idle_stop_s / 4)):
        if _is_connected(port):
            home.last_used.touch()
        if _idle_s(home) < idle_stop_s:
            continue
        # Decided under the lock of joining clients, so that one which has just received the
        # address finds the server running for the whole idle time.
        with suppress(Timeout), home.joining().acquire(timeout=0):
            if _idle_s(home) >= idle_stop_s and not _is_connected(port):
                stopping.write(home.state)
                return
    stopping.write(home.state)


def _idle_s(home: Home) -> float:
    return time.time() - home.last_used.stat().st_mtime


def _is_connected(port: int) -> bool:
    """Whether a client is connected to the server's port."""
    return any(
        connection.laddr.port == port and connection.status != psutil.CONN_LISTEN
        for connection in psutil.Process().net_connections("tcp")
    )


def _root_cause(error: BaseException) -> str:
    """First line of the innermost cause: Neo4j wraps an exception several times."""
    cause: Any = error
    while hasattr(cause, "getCause") and cause.getCause() is not None:
        cause = cause.getCause()
    lines = str(cause).splitlines() or [""]
    return lines[0] or type(cause).__name__


if __name__ == "__main__":
    main()
