"""Find, start, inspect and stop the user's local Neo4j server, from any process.

One server per home folder serves every process of the user. It lives on when the process that
started it ends, and stops when it is told to or when nobody has been connected for a while.
`graph.database.local.process` is the server itself.
"""

import contextlib
import json
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import platformdirs
import psutil
from filelock import Timeout
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graph.database.local.process import (
    HOST,
    USERNAME,
    Home,
    ServerOrder,
    ServerState,
    write_private,
)
from graph.errors import OptionError, Setting, StoreUnavailableError
from graph.progress import Progress, silent

STAGE = "Neo4j"
"""Stage name of the start, which counts seconds."""

_POLL_S = 0.05
_SMALLEST_HEAP_MB = 256


@dataclass(frozen=True)
class LocalServerSettings:
    """Settings of the local server; a running server keeps those it was started with.

    Parameters
    ----------
    home : Path
        Data folder: the databases, the password, the logs. Its owner's alone.
    cache : Path
        Folder of Neo4j's jars. May be read-only if it is complete.
    idle_stop_s : float
        Seconds without a connection after which the server stops; `math.inf` for never.
    heap_mb : int
        Java heap. A transaction may use half of it, all together 70%.
    pagecache_mb : int
        Page cache beside the heap.
    transaction_timeout_s : int
        Seconds after which the server ends a transaction.
    start_timeout_s : float
        How long a start may take, downloads not counted.
    answer_timeout_s : float
        How long a running server may take to answer before it counts as hung.
    stop_timeout_s : float
        How long a clean stop may take before the process is killed (which loses no commit).
    repository : str or None
        Base address of a Maven repository to download from instead of the default one.

    Examples
    --------
    >>> LocalServerSettings(idle_stop_s=0)
    Traceback (most recent call last):
    ...
    graph.errors.OptionError: idle_stop_s is 0: give seconds above 0, or inf for never.
    """

    home: Path = field(default_factory=lambda: platformdirs.user_data_path("cobalance") / "neo4j")
    cache: Path = field(default_factory=lambda: platformdirs.user_cache_path("cobalance") / "neo4j")
    idle_stop_s: float = 1800.0
    heap_mb: int = 1024
    pagecache_mb: int = 256
    transaction_timeout_s: int = 600
    start_timeout_s: float = 120.0
    answer_timeout_s: float = 30.0
    stop_timeout_s: float = 60.0
    repository: str | None = None

    def __post_init__(self) -> None:
        if not self.idle_stop_s > 0:
            raise OptionError(
                f"idle_stop_s is {self.idle_stop_s}: give seconds above 0, or inf for never."
            )
        if self.heap_mb < _SMALLEST_HEAP_MB:
            raise OptionError(
                f"heap_mb is {self.heap_mb}: Neo4j does not work with less than "
                f"{_SMALLEST_HEAP_MB}."
            )


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


def ensure_running(settings: LocalServerSettings, progress: Progress = silent) -> Endpoint:
    """Return the address of the user's server; start it if it is not running.

    Processes that call this at once get one server. It stays for at least `idle_stop_s` after
    this returns.

    Parameters
    ----------
    settings : LocalServerSettings
        Where the server lives, and its memory and patience if it is started now.
    progress : Progress
        Called from this thread: bytes of jars downloaded, then seconds of the start.

    Raises
    ------
    StoreUnavailableError
        The server cannot be had; the message says why, what to do, and where its log is.
    """
    home = Home(settings.home.expanduser().resolve())
    try:
        home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.folder.chmod(0o700)
        with _joining(home, progress):
            state = _live_state(home)
            if state is not None and state.phase == "stopping":
                _end(state.pid, settings.stop_timeout_s)
                state = None
            if state is None:
                _start(settings, home, progress)
            endpoint = _await_ready(settings, home, progress)
            _check_that_it_answers(endpoint, home, settings.answer_timeout_s)
            home.last_used.touch()
            return endpoint
    except OSError as error:
        raise StoreUnavailableError(
            f"The data folder {home.folder} of the local Neo4j cannot be used: "
            f"{error.strerror or error}. It needs free space and must belong to you."
        ) from error


def status(settings: LocalServerSettings) -> ServerStatus | None:
    """Return the status of the home folder's server, in any phase; None if none runs."""
    home = Home(settings.home.expanduser().resolve())
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
    return ServerStatus(state.pid, state.phase, _uri(state), resident_mb, running_s, home.log)


def stop(settings: LocalServerSettings) -> bool:
    """Stop the server and wait until it has ended; return whether one was running.

    A server that has not ended cleanly after `stop_timeout_s` is killed: what it acknowledged is
    in its transaction log, and there after the next start.
    """
    home = Home(settings.home.expanduser().resolve())
    if not home.folder.exists():
        return False
    with home.joining():
        state = _live_state(home)
        if state is None:
            return False
        _end(state.pid, settings.stop_timeout_s)
        return True


@contextlib.contextmanager
def _joining(home: Home, progress: Progress) -> Iterator[None]:
    """Hold the lock; while waiting for a process that starts the server, report the seconds."""
    lock = home.joining()
    since = time.monotonic()
    while not lock.is_locked:
        try:
            lock.acquire(timeout=1.0)
        except Timeout:
            progress(STAGE, round(time.monotonic() - since), None)
    try:
        yield
    finally:
        lock.release()


def _live_state(home: Home) -> ServerState | None:
    """Return the state of the server that lives; a file left behind by a dead one is None."""
    state = ServerState.read(home.state)
    if state is None or state.phase in ("stopped", "failed") or not _is_alive(state.pid, home):
        return None
    return state


def _is_alive(pid: int, home: Home) -> bool:
    """Whether `pid` is the server of this home, and not another process that got its number.

    Told by the command line: unlike a start time, it does not move when the clock is set.
    """
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return bool(process.cmdline()[-2:] == _command(home)[-2:])
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _command(home: Home) -> list[str]:
    return [sys.executable, "-P", "-m", "graph.database.local.process", str(home.folder)]


def _end(pid: int, timeout_s: float) -> None:
    """Ask a process to end and return once it has; after `timeout_s` it is killed."""
    deadline = time.monotonic() + timeout_s
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        process.terminate()
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(_POLL_S)


def _password(home: Home) -> tuple[str, bool]:
    """Return the password that belongs to the data folder, and whether it is yet to be set."""
    with contextlib.suppress(FileNotFoundError):
        return home.password.read_text(encoding="utf-8"), False
    password = secrets.token_urlsafe(24)
    write_private(home.new_password, password)
    return password, True


def _start(settings: LocalServerSettings, home: Home, progress: Progress) -> None:
    """Have a server process in the phase ``starting``, with its state file written."""
    folder = settings.cache.expanduser().resolve()
    from graph.database.local.jars import ensure_jars  # only a start needs requests

    jars = ensure_jars(folder, settings.repository, progress=progress)
    password, is_new_password = _password(home)
    order = ServerOrder(
        jar_folder=str(folder),
        jars=[jar.name for jar in jars],
        password=password,
        is_new_password=is_new_password,
        idle_stop_s=settings.idle_stop_s,
        heap_mb=settings.heap_mb,
        pagecache_mb=settings.pagecache_mb,
        transaction_timeout_s=settings.transaction_timeout_s,
    )
    try:
        launched = subprocess.run(  # noqa: S603 -- our own module, in this very Python
            _command(home),
            input=json.dumps(asdict(order)),
            capture_output=True,
            text=True,
            check=True,
            cwd=home.folder,
            start_new_session=True,
            timeout=settings.start_timeout_s,
        )
        answer = json.loads(launched.stdout)
    except (subprocess.SubprocessError, ValueError) as error:
        output = error.stderr if isinstance(error, subprocess.CalledProcessError) else ""
        raise _failed(home, (output.strip() or str(error)).splitlines()[-1]) from error
    if "error" in answer:
        raise _failed(home, answer["error"])


def _await_ready(settings: LocalServerSettings, home: Home, progress: Progress) -> Endpoint:
    since = time.monotonic()
    while (state := _live_state(home)) is not None:
        if state.phase == "ready":
            password = home.password.read_text(encoding="utf-8")
            return Endpoint(_uri(state), USERNAME, password, state.pid)
        waited_s = time.monotonic() - since
        if waited_s > settings.start_timeout_s:
            raise StoreUnavailableError(
                f"The local Neo4j (process {state.pid}) is still starting after {waited_s:.0f} s. "
                f"Its log is {home.log}. Wait and try again, or end that process."
            )
        progress(STAGE, round(waited_s), None)
        time.sleep(_POLL_S)
    last = ServerState.read(home.state)
    raise _failed(home, (last and last.reason) or "its process ended without a word")


def _failed(home: Home, reason: str) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"The local Neo4j in {home.folder} did not start: {reason.rstrip('.')}. "
        f"Its log is {home.log}; to use another server, set ",
        Setting("uri"),
        ".",
    )


def _uri(state: ServerState) -> str:
    return f"bolt://{HOST}:{state.port}"


def _check_that_it_answers(endpoint: Endpoint, home: Home, timeout_s: float) -> None:
    """Log in once: a process that lives may hang, and its password may have been changed."""
    try:
        with GraphDatabase.driver(
            endpoint.uri,
            auth=(endpoint.username, endpoint.password),
            connection_timeout=timeout_s,
            connection_acquisition_timeout=timeout_s,
            max_transaction_retry_time=0,
        ) as driver:
            driver.verify_connectivity()
    except AuthError as error:
        raise StoreUnavailableError(
            f"The local Neo4j refuses the password in {home.password}: it was changed in the "
            "database. Put the new one into that file; or delete the file and stop the server, "
            "and the next start sets a new one."
        ) from error
    except (DriverError, Neo4jError) as error:
        raise StoreUnavailableError(
            f"The local Neo4j (process {endpoint.pid}) does not answer on {endpoint.uri} "
            f"({type(error).__name__}). Its log is {home.log}. Stop it and try again."
        ) from error
