"""Download Neo4j's jars once, and verify them before every start."""

import hashlib
import os
import re
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from pathlib import Path
from urllib.parse import urlsplit
from zipfile import ZipFile

import requests
from filelock import FileLock
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from cobalance.base import (
    CobalanceError,
    Progress,
    Setting,
    StoreUnavailableError,
    replacing,
    silent,
)
from cobalance.graph.database.local.home import hold
from cobalance.graph.database.local.jar_lock import Jar, JarLock, read_lock

STAGE = "download Neo4j (140 MB, once)"
"""Stage name of the download, which counts bytes."""

_PARALLEL = 6
_CHUNK_BYTES = 1 << 16
_REPORT_S = 0.1
# To connect, and between two pieces of an answer.
_TIMEOUT_S = (10, 30)
_FRUITLESS_TRANSFERS = 4
_SIGNATURE_NAME = re.compile(r"META-INF/[^/]+\.(SF|RSA|DSA|EC)", re.IGNORECASE)


def ensure_jars(
    folder: Path,
    repository: str | None = None,
    lock: JarLock | None = None,
    progress: Progress = silent,
) -> list[Path]:
    """Return the locked jars in `folder`; download missing and damaged ones.

    Each call compares every file with its SHA-256, which takes 0.1 s in all. A complete folder is
    not written to, so it may be a read-only copy. If several processes call this at once, one
    downloads and the others wait. An interrupted download resumes where it stopped.

    Parameters
    ----------
    folder : Path
        Folder of the jars, created if missing.
    repository : str, optional
        Base address of the Maven repository to download from; None for jgo's default.
    lock : JarLock, optional
        Jars to fetch; None for the package's own lock.
    progress : Progress
        Called from this thread with bytes done and in all, if something is missing.

    Raises
    ------
    StoreUnavailableError
        The repository cannot be reached, lacks a jar, or sends a file that differs from the locked
        one; or `folder` cannot be written.
    """
    lock = lock or read_lock()
    files = [folder / jar.name for jar in lock.jars]
    try:
        if not _missing(folder, lock):
            return files
        folder.mkdir(parents=True, exist_ok=True)

        def report(_: float = 0.0) -> None:
            n_bytes = 0
            for jar in lock.jars:
                present = _size(folder / jar.name) or _size(folder / f"{jar.name}.part")
                n_bytes += min(present, jar.size)
            progress(STAGE, n_bytes, lock.total_bytes)

        with hold(FileLock(folder / "download.lock"), _REPORT_S, report):
            # Another process may have downloaded them meanwhile.
            if missing := _missing(folder, lock):
                _download(missing, folder, repository or _default_repository(), report)
    except OSError as error:
        raise StoreUnavailableError(
            f"The jars of Neo4j cannot be kept in {folder}: {error.strerror or error}. "
            "Free some space there, or set ",
            Setting("cache"),
            " to another folder.",
        ) from error
    return files


def copy_unsigned(jar: Path) -> Path:
    """Return the copy beside a complete jar in which Java finds no signature; write it if missing.

    Java verifies a signed jar, with the digests of all files in it, whenever it looks there for a
    service, and shares none of its classes between processes. The jar's SHA-256 has been compared,
    so nothing is lost: the names of the files that hold its signature (JAR File Specification,
    *Signed JAR File*) are changed, each to one of the same length. Where the folder cannot be
    written, the jar itself is returned.
    """
    content = jar.read_bytes()
    with ZipFile(jar) as archive:
        names = filter(_SIGNATURE_NAME.fullmatch, archive.namelist())
        for name in names:
            content = content.replace(name.encode(), name.replace(".", "-").encode())

    copy = jar.with_name(f"unsigned-{jar.name}")
    try:
        if not copy.exists() or copy.read_bytes() != content:
            with replacing(copy) as part:
                part.write_bytes(content)
    except (CobalanceError, OSError):
        return jar
    return copy


def _missing(folder: Path, lock: JarLock) -> list[Jar]:
    return [jar for jar in lock.jars if not _is_complete(folder / jar.name, jar)]


def _is_complete(file: Path, jar: Jar) -> bool:
    try:
        if file.stat().st_size != jar.size:
            return False
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == jar.sha256
    except FileNotFoundError:
        return False


def _default_repository() -> str:
    from jgo.maven import MavenContext

    return next(iter(MavenContext().remote_repos.values()))


def _download(
    missing: list[Jar], folder: Path, repository: str, report: Callable[[], None]
) -> None:
    """Download jars into a folder, several at a time."""
    # Damaged files must not count as progress, nor survive a failure.
    for jar in missing:
        (folder / jar.name).unlink(missing_ok=True)

    stopped = threading.Event()
    with _session() as session, ThreadPoolExecutor(_PARALLEL) as pool:
        try:
            # The largest first, so that no thread is left alone with one at the end.
            jobs: set[Future[None]] = {
                pool.submit(_fetch, session, jar, folder, repository, stopped)
                for jar in sorted(missing, key=lambda jar: -jar.size)
            }

            while jobs:
                done, jobs = wait(jobs, timeout=_REPORT_S, return_when=FIRST_EXCEPTION)
                for job in done:
                    job.result()
                report()
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


def _session() -> requests.Session:
    session = requests.Session()
    retry = Retry(total=3, backoff_factor=0.5, status_forcelist=(429, 500, 502, 503, 504))
    adapter = HTTPAdapter(pool_maxsize=_PARALLEL, max_retries=retry)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def _fetch(
    session: requests.Session,
    jar: Jar,
    folder: Path,
    repository: str,
    stopped: threading.Event,
) -> None:
    """Download one jar into `folder`, under a temporary name until its checksum matches."""
    part = folder / f"{jar.name}.part"
    address = f"{repository.rstrip('/')}/{jar.repository_path}"
    n_fruitless = 0
    while not stopped.is_set():
        size_before = _size(part)
        try:
            transfer_error = _transfer(session, address, part, stopped)
        except requests.RequestException as error:
            raise _unreachable(jar, repository, error) from error

        if transfer_error is not None:
            has_grown = _size(part) > size_before
            n_fruitless = 0 if has_grown else n_fruitless + 1
            if n_fruitless == _FRUITLESS_TRANSFERS:
                raise _unreachable(jar, repository, transfer_error) from transfer_error
        elif _is_complete(part, jar):
            os.replace(part, folder / jar.name)
            return
        elif not stopped.is_set():
            part.unlink(missing_ok=True)
            # A file that was resumed may have begun wrong: it is downloaded again.
            if not size_before:
                raise _not_as_locked(jar, repository)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _transfer(
    session: requests.Session, address: str, part: Path, stopped: threading.Event
) -> requests.RequestException | None:
    """Append the rest of the file to `part`; return the error that broke the transfer, if any.

    A server without range requests sends the file from its start, which replaces `part`.
    """
    headers = {"Accept-Encoding": "identity", "User-Agent": "cobalance"}
    if size := _size(part):
        headers["Range"] = f"bytes={size}-"

    with session.get(address, headers=headers, stream=True, timeout=_TIMEOUT_S) as answer:
        if answer.status_code == requests.codes.requested_range_not_satisfiable:
            # Nothing is left to send: the file is complete or wrong, as its checksum tells.
            return None
        answer.raise_for_status()

        resumed = answer.status_code == requests.codes.partial_content
        with part.open("ab" if resumed else "wb") as file:
            try:
                for chunk in answer.iter_content(_CHUNK_BYTES):
                    file.write(chunk)
                    if stopped.is_set():
                        break
            except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
                return error
    return None


_REMEDY = (
    "or set ",
    Setting("uri"),
    " to a Neo4j server that runs already, or ",
    Setting("cache"),
    " to a folder of jars copied from a machine that has them.",
)


def _unreachable(
    jar: Jar, repository: str, error: requests.RequestException
) -> StoreUnavailableError:
    host = urlsplit(repository).netloc
    if error.response is not None:
        cause = f"{host} answers {error.response.status_code} to {jar.name}"
    elif isinstance(error, requests.exceptions.ChunkedEncodingError | requests.ReadTimeout):
        cause = f"{host} stopped sending {jar.name}"
    else:
        cause = f"{host} cannot be reached"

    return StoreUnavailableError(
        f"The local Neo4j needs its jars (140 MB, once) and {cause}: connect to the network "
        "and try again, ",
        *_REMEDY,
    )


def _not_as_locked(jar: Jar, repository: str) -> StoreUnavailableError:
    return StoreUnavailableError(
        f"{jar.name} from {urlsplit(repository).netloc} is not the file that was locked "
        f"({jar.size} bytes, SHA-256 {jar.sha256}), so the repository or a proxy on the way has "
        "changed it: try from another network, ",
        *_REMEDY,
    )
