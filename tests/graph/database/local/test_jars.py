"""Downloading the server's jars: the real code against a small repository on loopback."""

import hashlib
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cobalance.base.errors import StoreUnavailableError
from cobalance.graph.database.local.jar_lock import LOCK_FILE, Jar, JarLock, read_lock
from cobalance.graph.database.local.jars import copy_unsigned, ensure_jars
from requirements.neo4j_jars import format_lock

CONTENTS = {
    f"org.example:part-{n}:1.0": bytes([n]) * (100_000 + 50_000 * n) for n in range(1, 6)
} | {"org.example:native:1.0:linux-x86_64": b"native" * 1000}
LOCK = JarLock(
    "0",
    tuple(
        Jar(coordinate, len(content), hashlib.sha256(content).hexdigest())
        for coordinate, content in CONTENTS.items()
    ),
)
LARGEST = LOCK.jars[4]


class Repository(ThreadingHTTPServer):
    """Serves `contents`; breaks off the first `broken` answers half-way."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.contents = {jar.repository_path: CONTENTS[jar.coordinate] for jar in LOCK.jars}
        self.broken: dict[str, int] = {}
        self.knows_ranges = True
        self.seen: list[tuple[str, str | None]] = []
        self.address = f"http://127.0.0.1:{self.server_port}/maven/"


class Answer(BaseHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        path = self.path.removeprefix("/maven/")
        asked = self.headers["Range"]
        self.server.seen.append((path, asked))
        content = self.server.contents.get(path)
        if content is None:
            self.send_error(404)
            return
        first = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        if not self.server.knows_ranges:
            first = 0
        if first >= len(content):
            self.send_error(416)
            return
        content = content[first:]
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.server.broken.get(path, 0) > 0:
            self.server.broken[path] -= 1
            content = content[: len(content) // 2]
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base's name
        pass


@pytest.fixture
def repository() -> Iterator[Repository]:
    with Repository() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def assert_complete(folder: Path) -> None:
    for jar in LOCK.jars:
        assert (folder / jar.name).read_bytes() == CONTENTS[jar.coordinate]
    assert not list(folder.glob("*.part"))


def test_downloads_all_and_tells_how_far(repository: Repository, tmp_path: Path) -> None:
    reports: list[tuple[str, int, int | None]] = []
    files = ensure_jars(tmp_path / "new", repository.address, LOCK, lambda *r: reports.append(r))
    assert files == [tmp_path / "new" / jar.name for jar in LOCK.jars]
    assert_complete(tmp_path / "new")
    done = [report[1] for report in reports]
    assert done == sorted(done)
    assert reports[-1] == ("download Neo4j (140 MB, once)", LOCK.total_bytes, LOCK.total_bytes)


def test_complete_folder_is_neither_asked_for_nor_written(
    repository: Repository, tmp_path: Path
) -> None:
    for jar in LOCK.jars:
        (tmp_path / jar.name).write_bytes(CONTENTS[jar.coordinate])
    before = sorted(tmp_path.iterdir())
    ensure_jars(tmp_path, repository.address, LOCK)
    assert repository.seen == []
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_broken_transfer_goes_on(
    repository: Repository, tmp_path: Path, knows_ranges: bool
) -> None:
    repository.knows_ranges = knows_ranges
    repository.broken[LARGEST.repository_path] = 3 if knows_ranges else 1
    ensure_jars(tmp_path, repository.address, LOCK)
    assert_complete(tmp_path)
    ranges = [asked for path, asked in repository.seen if path == LARGEST.repository_path]
    assert ranges[0] is None
    assert all(asked is not None and 0 < int(asked[6:-1]) < LARGEST.size for asked in ranges[1:])
    assert len(ranges) > 1


def test_transfer_that_never_advances_is_given_up(repository: Repository, tmp_path: Path) -> None:
    repository.knows_ranges = False
    repository.broken[LARGEST.repository_path] = 1000
    with pytest.raises(StoreUnavailableError, match=f"stopped sending {LARGEST.name}"):
        ensure_jars(tmp_path, repository.address, LOCK)
    repository.broken.clear()
    ensure_jars(tmp_path, repository.address, LOCK)
    assert_complete(tmp_path)


def test_interrupted_run_is_taken_up(repository: Repository, tmp_path: Path) -> None:
    whole = LOCK.jars[0]
    (tmp_path / whole.name).write_bytes(CONTENTS[whole.coordinate])
    (tmp_path / f"{LARGEST.name}.part").write_bytes(CONTENTS[LARGEST.coordinate][:1234])
    ensure_jars(tmp_path, repository.address, LOCK)
    assert_complete(tmp_path)
    assert (LARGEST.repository_path, "bytes=1234-") in repository.seen
    assert whole.repository_path not in dict(repository.seen)


@pytest.mark.parametrize("length", [10, LARGEST.size, LARGEST.size + 10])
def test_partial_file_with_other_content_starts_over(
    repository: Repository, tmp_path: Path, length: int
) -> None:
    (tmp_path / f"{LARGEST.name}.part").write_bytes(b"?" * length)
    ensure_jars(tmp_path, repository.address, LOCK)
    assert_complete(tmp_path)


@pytest.mark.parametrize("damage", [b"", b"short", b"?" * LARGEST.size])
def test_damaged_jar_is_fetched_again(
    repository: Repository, tmp_path: Path, damage: bytes
) -> None:
    ensure_jars(tmp_path, repository.address, LOCK)
    repository.seen.clear()
    (tmp_path / LARGEST.name).write_bytes(damage)
    ensure_jars(tmp_path, repository.address, LOCK)
    assert_complete(tmp_path)
    assert repository.seen == [(LARGEST.repository_path, None)]


@pytest.mark.parametrize(
    "sent", [b"", b"short", b"?" * LARGEST.size, b"?" * (LARGEST.size + 1)], ids=len
)
def test_other_bytes_than_locked_are_refused(
    repository: Repository, tmp_path: Path, sent: bytes
) -> None:
    repository.contents[LARGEST.repository_path] = sent
    with pytest.raises(StoreUnavailableError, match=f"{LARGEST.name} from 127.0.0.1") as caught:
        ensure_jars(tmp_path, repository.address, LOCK)
    assert LARGEST.sha256 in str(caught.value)
    assert not (tmp_path / LARGEST.name).exists()


def test_missing_jar_is_named(repository: Repository, tmp_path: Path) -> None:
    del repository.contents[LARGEST.repository_path]
    with pytest.raises(StoreUnavailableError, match=f"answers 404 to {LARGEST.name}"):
        ensure_jars(tmp_path, repository.address, LOCK)


def test_without_a_network_one_sentence_says_what_to_do(
    repository: Repository, tmp_path: Path
) -> None:
    with Repository() as gone:
        address = gone.address
    with pytest.raises(StoreUnavailableError) as caught:
        ensure_jars(tmp_path, address, LOCK)
    message = str(caught.value)
    assert message.count(". ") == 0
    for remedy in ("connect to the network", "set uri", "or cache"):
        assert remedy in message


def test_folder_that_cannot_be_written(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailableError, match="cannot be kept in"):
        ensure_jars(tmp_path / "file" / "jars", repository.address, LOCK)


def test_processes_at_once_download_each_jar_once(repository: Repository, tmp_path: Path) -> None:
    lock_file = tmp_path / "lock.toml"
    lock_file.write_text(format_lock(LOCK))
    code = (
        "import sys; from pathlib import Path;"
        "from cobalance.graph.database.local.jars import ensure_jars;"
        "from cobalance.graph.database.local.jar_lock import read_lock;"
        "ensure_jars(Path(sys.argv[1]), sys.argv[2], read_lock(Path(sys.argv[3])))"
    )
    arguments = [str(tmp_path / "jars"), repository.address, str(lock_file)]
    clients = [subprocess.Popen([sys.executable, "-c", code, *arguments]) for _ in range(4)]
    assert [client.wait() for client in clients] == [0] * 4
    assert_complete(tmp_path / "jars")
    assert sorted(path for path, _ in repository.seen) == sorted(repository.contents)


def signed_jar(folder: Path) -> Path:
    """A jar of three files beside those of a signature, without an extra field between them."""
    jar = folder / "signed.jar"
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in (
            *("META-INF/MANIFEST.MF", "META-INF/ONE_.SF", "META-INF/ONE_.RSA", "META-INF/two.ec"),
            *("META-INF/services/a.SF", "org/example/A.class"),
        ):
            archive.writestr(name, f"what {name} holds\n" * 20)
    return jar


def test_a_jar_without_its_signature_holds_the_same(tmp_path: Path) -> None:
    jar = signed_jar(tmp_path)
    copy = copy_unsigned(jar)
    with zipfile.ZipFile(jar) as before, zipfile.ZipFile(copy) as after:
        assert after.testzip() is None
        assert after.namelist() == [
            *("META-INF/MANIFEST.MF", "META-INF/ONE_-SF", "META-INF/ONE_-RSA", "META-INF/two-ec"),
            *("META-INF/services/a.SF", "org/example/A.class"),
        ]
        for name, new_name in zip(before.namelist(), after.namelist(), strict=True):
            assert after.read(new_name) == before.read(name)

    written = copy.stat().st_mtime_ns
    assert copy_unsigned(jar) == copy
    assert copy.stat().st_mtime_ns == written
    whole = copy.read_bytes()
    copy.write_bytes(b"damaged")
    assert copy_unsigned(jar).read_bytes() == whole


def test_where_no_copy_can_be_written_the_jar_itself_is_used(tmp_path: Path) -> None:
    jar = signed_jar(tmp_path)
    (tmp_path / "unsigned-signed.jar").mkdir()
    assert copy_unsigned(jar) == jar


def test_lock_reads_back_as_written(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(format_lock(LOCK))
    assert read_lock(tmp_path / "lock") == LOCK


def test_own_lock_is_sound() -> None:
    lock = read_lock()
    assert format_lock(lock) == LOCK_FILE.read_text()
    assert "://" not in LOCK_FILE.read_text()
    assert len({jar.name for jar in lock.jars}) == len(lock.jars)
    assert all(len(bytes.fromhex(jar.sha256)) == 32 and jar.size > 0 for jar in lock.jars)
    coordinates = {jar.coordinate for jar in lock.jars}
    assert {f"org.neo4j:{name}:{lock.neo4j}" for name in ("neo4j", "neo4j-bolt")} <= coordinates
