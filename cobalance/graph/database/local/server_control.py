"""Find, start, inspect and stop the user's local Neo4j server, from any process.

One server per home folder serves all processes of the user. It outlives the process that started
it, and stops on request or after some time without a connection. The server itself is
`cobalance.graph.database.local.server_process`.
"""

import contextlib
import json
import secrets
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path

import psutil
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError

from cobalance.base import MissingExtraError, Progress, Setting, StoreUnavailableError, silent
from cobalance.graph.database.disk import full_disk
from cobalance.graph.database.local.home import (
    HOST,
    USERNAME,
    Home,
    ServerState,
    hold,
    write_private,
)
from cobalance.graph.database.local.server_process import ServerOrder
from cobalance.graph.database.local.settings import LocalServerSettings
from cobalance.graph.database.store import has_failed

STAGE = "Neo4j"
"""Stage name of the start, which counts seconds."""

_POLL_S = 0.05
# Downloads do not count.
_LONGEST_START_S = 120.0
# Jars whose signature Java would verify dozens of times.
_MANY_SERVICES = "eclipse-collections-"


@dataclass(frozen=True)
class Endpoint:
    """Address and credentials of a running server, for the official driver."""

    uri: str
    username: str
    password: str = field(repr=False)
    pid: int


@dataclass(frozen=True)
class ServerStatus:
    """Status of a running server."""

    pid: int
    phase: str
    uri: str
    resident_mb: float
    running_s: float
    log: Path
    idle_stop_s: float | None


def ensure_running(settings: LocalServerSettings, progress: Progress = silent) -> Endpoint:
    """Return the address of the user's server; start it if it is not running.

    Concurrent calls, from any process, get the same server. It runs for at least `idle_stop_s`
    after this returns.

    Parameters
    ----------
    settings : LocalServerSettings
        Home folder of the server; the rest counts only if it is started now.
    progress : Progress
        Called from this thread: bytes of jars downloaded, then seconds of the start.

    Raises
    ------
    StoreUnavailableError
        The server cannot be started or does not answer.
    MissingExtraError
        It has to be started, and the extra ``local`` is not installed.
    """
    home = Home(settings.home)
    try:
        home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.folder.chmod(0o700)
        with hold(home.joining(), 1.0, lambda waited_s: progress(STAGE, round(waited_s), None)):
            state = _live_state(home)
            if state is not None and state.phase == "stopping":
                _end(state.pid, settings.stop_timeout_s)
                state = None
            if state is None:
                _start(settings, home, progress)
            endpoint = _await_ready(settings, home, progress)

            if not _is_sound(endpoint, home, settings.answer_timeout_s):
                _end(endpoint.pid, settings.stop_timeout_s)
                _start(settings, home, progress)
                endpoint = _await_ready(settings, home, progress)

            # The server counts the time that nobody uses it from here.
            home.last_used.touch()
            return endpoint
    except OSError as error:
        raise StoreUnavailableError(
            f"The data folder {home.folder} of the local Neo4j cannot be used: "
            f"{error.strerror or error}. It needs free space and must belong to you."
        ) from error


def require_packages() -> None:
    """Raise MissingExtraError unless the extra ``local`` is installed, which a start needs."""
    if find_spec("jpype") is None:
        server = "; or set ", Setting("uri"), " to the address of a Neo4j server"
        raise MissingExtraError("The local Neo4j", "local", *server)


def status(settings: LocalServerSettings) -> ServerStatus | None:
    """Return the status of the home folder's server, in any phase; None if none runs."""
    home = Home(settings.home)
    state = _live_state(home)
    if state is None:
        return None

    try:
        process = psutil.Process(state.pid)
        with process.oneshot():
            resident_mb = process.memory_info().rss / 2**20
            running_s = time.time() - process.create_time()
    except psutil.NoSuchProcess:
        return None
    return ServerStatus(
        pid=state.pid,
        phase=state.phase,
        uri=_uri(state),
        resident_mb=resident_mb,
        running_s=running_s,
        log=home.log,
        idle_stop_s=state.idle_stop_s,
    )


def stop(settings: LocalServerSettings) -> bool:
    """Stop the server and wait until it has ended; return whether one was running.

    After `stop_timeout_s` it is killed. Acknowledged commits survive in its transaction log.
    """
    home = Home(settings.home)
    if not home.folder.exists():
        return False

    with home.joining():
        state = _live_state(home)
        if state is None:
            return False
        _end(state.pid, settings.stop_timeout_s)
        return True


def _live_state(home: Home) -> ServerState | None:
    """Return the state of a running server; None if the state file belongs to a dead one."""
    state = ServerState.read(home.state)
    if state is None or state.phase in ("stopped", "failed") or not _is_alive(state.pid, home):
        return None
    return state


def _is_alive(pid: int, home: Home) -> bool:
    """Whether `pid` is the server of this home, not another process that reuses the number.

    Compares the command line, which unlike a start time does not depend on the system clock.
    """
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return bool(process.cmdline()[-2:] == _command(home)[-2:])
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _command(home: Home) -> list[str]:
    return [
        sys.executable,
        "-P",
        "-m",
        "cobalance.graph.database.local.server_process",
        str(home.folder),
    ]


def _end(pid: int, timeout_s: float) -> None:
    """Terminate a process and wait until it has ended; kill it after `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.terminate()
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(_POLL_S)


def _password(home: Home) -> tuple[str, bool]:
    """Return the data folder's password, and whether it is new."""
    with contextlib.suppress(FileNotFoundError):
        return home.password.read_text(encoding="utf-8"), False
    password = secrets.token_urlsafe(24)
    write_private(home.new_password, password)
    return password, True


def _start(settings: LocalServerSettings, home: Home, progress: Progress) -> None:
    """Start a server process; return when its state file says ``starting``."""
    require_packages()
    if (full := full_disk(home.folder)) is not None:
        raise full

    # Only a start needs requests.
    from cobalance.graph.database.local.jars import copy_unsigned, ensure_jars

    folder = settings.cache.expanduser().resolve()
    jars = [
        copy_unsigned(jar) if jar.name.startswith(_MANY_SERVICES) else jar
        for jar in ensure_jars(folder, settings.repository, progress=progress)
    ]

    password, is_new_password = _password(home)
    order = ServerOrder(
        jar_folder=str(folder),
        jars=[jar.name for jar in jars],
        password=password,
        is_new_password=is_new_password,
        idle_stop_s=settings.idle_stop_s,
        heap_mb=settings.heap_mb,
        pagecache_mb=settings.pagecache_mb,
        more=dict(settings.more),
    )

    try:
        launched = subprocess.run(  # noqa: S603 -- our own module, in this Python
            _command(home),
            input=json.dumps(asdict(order)),
            capture_output=True,
            text=True,
            check=True,
            cwd=home.folder,
            start_new_session=True,
            timeout=_LONGEST_START_S,
        )
        answer = json.loads(launched.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        output = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
        raise _start_error(home, (output.strip() or str(error)).splitlines()[-1]) from error
    if "error" in answer:
        raise _start_error(home, answer["error"])


def _await_ready(settings: LocalServerSettings, home: Home, progress: Progress) -> Endpoint:
    since = time.monotonic()
    while (state := _live_state(home)) is not None:
        if state.phase == "ready":
            password = home.password.read_text(encoding="utf-8")
            return Endpoint(_uri(state), USERNAME, password, state.pid)

        waited_s = time.monotonic() - since
        if waited_s > _LONGEST_START_S:
            if (full := full_disk(home.folder)) is not None:
                # It would not go on with room again either.
                _end(state.pid, settings.stop_timeout_s)
                raise full
            raise StoreUnavailableError(
                f"The local Neo4j (process {state.pid}) is still starting after {waited_s:.0f} s. "
                f"Its log is {home.log}. Wait and try again, or end that process."
            )
        progress(STAGE, round(waited_s), None)
        time.sleep(_POLL_S)

    last_state = ServerState.read(home.state)
    reason = last_state.reason if last_state else ""
    raise _start_error(home, reason or "its process ended without an error message")


def _start_error(home: Home, reason: str) -> StoreUnavailableError:
    return full_disk(home.folder) or StoreUnavailableError(
        f"The local Neo4j in {home.folder} did not start: {reason.rstrip('.')}. "
        f"Its log is {home.log}; to use another server, set ",
        Setting("uri"),
        ".",
    )


def _uri(state: ServerState) -> str:
    return f"bolt://{HOST}:{state.port}"


def _is_sound(endpoint: Endpoint, home: Home, timeout_s: float) -> bool:
    """Log in once: a running process may hang, and its password may have been changed.

    False if the database has failed, or is read-only on a disk with room: a restart mends both.
    """
    try:
        driver = GraphDatabase.driver(
            endpoint.uri,
            auth=(endpoint.username, endpoint.password),
            connection_timeout=timeout_s,
            connection_acquisition_timeout=timeout_s,
        )
        with driver, driver.session() as session:
            # It is never committed.
            session.begin_transaction().run("CREATE ()").consume()
    except AuthError as error:
        raise StoreUnavailableError(
            f"The local Neo4j refuses the password in {home.password}: it was changed in the "
            "database. Put the new one into that file; or delete the file and stop the server, "
            "and the next start sets a new one."
        ) from error
    except (DriverError, Neo4jError) as error:
        if has_failed(error):
            return isinstance(error, ClientError) and full_disk(home.folder) is not None
        raise StoreUnavailableError(
            f"The local Neo4j (process {endpoint.pid}) does not answer on {endpoint.uri} "
            f"({type(error).__name__}). Its log is {home.log}. Stop it and try again."
        ) from error
    return True
