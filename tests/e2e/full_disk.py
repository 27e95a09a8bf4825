"""A local server on a disk of its own that gets full; `test_full_disk.py` runs this file.

The disk is a tmpfs of 330 MB in this process' mount namespace, where nobody else sees it. It is
filled to some MB at several moments in the life of one store.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import DatabaseError

from cobalance.base.errors import StoreUnavailableError
from cobalance.base.progress import Progress, silent
from cobalance.base.records import Annotations
from cobalance.graph.database.local import server_control
from cobalance.graph.database.local.home import Home, ServerState
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store

MB = 1 << 20
FULL = r"The disk of .* is full"
LATE = 4  # of a load's reports of progress
GROW = """
    UNWIND range(1, $n) AS i
    CREATE (:Filler {name: 'one of the nodes that take room, number ' + i})-[:IS]->(:Filler)
"""


@dataclass
class Disk:
    """The disk, with settings of a store on it, and what it is said to hold."""

    folder: Path
    settings: Settings
    dumps: dict[str, set[str]]

    def free_mb(self) -> float:
        return shutil.disk_usage(self.folder).free / MB

    def fill(self, leave_mb: float) -> None:
        with (self.folder / "filler").open("ab") as file:
            while (more := int((self.free_mb() - leave_mb) * MB)) > 0:
                with suppress(OSError):  # the server has taken some of it meanwhile
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), more)

    def make_room(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)

    def open(self) -> GraphStore:
        return open_store(self.settings)


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    folder = tmp_path_factory.mktemp("disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=330m", "tmpfs", folder], check=True)
    settings = Settings(cobalance_home=folder / "home", cobalance_heap_mb=512)
    settings = settings.model_copy(update={"neo4j_uri": None})
    try:
        yield Disk(folder, settings, {})
    finally:
        server_control.stop(settings.local_server())
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def load(
    disk: Disk,
    random_annotations: Callable[..., Annotations],
    dump_of: Callable[[GraphStore, str], set[str]],
) -> Callable[..., None]:
    """Load a dataset and note all that the graph has of it."""

    def load_and_note(name: str, n_images: int = 60, progress: Progress = silent) -> None:
        with disk.open() as store:
            write_annotations(
                store, name, random_annotations(n_images), source="a file", progress=progress
            )
            disk.dumps[name] = dump_of(store, name)

    return load_and_note


@pytest.fixture(autouse=True)
def nothing_is_lost(
    disk: Disk, load: Callable[..., None], dump_of: Callable[[GraphStore, str], set[str]]
) -> Iterator[None]:
    """After each test: with room again all that was loaded is there, and more can be loaded."""
    if not disk.dumps:
        load("the first")
    yield
    disk.make_room()
    with disk.open() as store:
        for name, dump in disk.dumps.items():
            assert dump_of(store, name) == dump
    load(f"number {len(disk.dumps)}")


def says_what_is_full(error: pytest.ExceptionInfo[StoreUnavailableError], disk: Disk) -> bool:
    free_mb = f"{disk.free_mb():.0f} MB are free"
    said = str(error.value)
    return str(disk.folder / "home" / "neo4j") in said and free_mb in said and "64 MB" in said


def test_a_load_is_refused_and_reads_go_on(disk: Disk, load: Any) -> None:
    with disk.open() as store:
        for leave_mb in (63, 0):
            disk.fill(leave_mb)
            before = disk.free_mb()
            with pytest.raises(StoreUnavailableError, match=FULL) as error:
                load("refused")
            assert says_what_is_full(error, disk)
            assert store.read("MATCH (d:Dataset {name: 'refused'}) RETURN d") == []
            assert disk.free_mb() == pytest.approx(before, abs=0.5)


def test_a_disk_that_gets_full_during_a_load(disk: Disk, load: Any) -> None:
    """The same load goes on when there is room, and the graph is that of one without a break."""
    calls = list[str]()

    def fill_late(stage: str, *_: object) -> None:
        calls.append(stage)
        if len(calls) == LATE:
            disk.fill(30)

    with pytest.raises(StoreUnavailableError, match=FULL) as error:
        load("broken off", 2500, fill_late)
    assert says_what_is_full(error, disk)
    disk.make_room()
    load("broken off", 2500)
    load("in one go", 2500)
    assert disk.dumps["broken off"] == disk.dumps["in one go"]


def write_on_and_on(store: GraphStore) -> None:
    while True:
        store.driver.execute_query(GROW, n=20_000)


@pytest.mark.parametrize(("leave_mb", "is_stopped"), [(0, True), (1, False)])
def test_a_disk_that_gets_full_within_a_transaction(
    disk: Disk, leave_mb: float, is_stopped: bool
) -> None:
    """Whoever wrote it; and the database then has room and a restart, or is stopped before."""
    with disk.open() as store:
        disk.fill(leave_mb)
        with pytest.raises(DatabaseError):
            write_on_and_on(store)
        with pytest.raises(StoreUnavailableError, match=FULL) as error:
            store.read("RETURN 1 AS one")
        assert says_what_is_full(error, disk)
        if not is_stopped:
            with pytest.raises(StoreUnavailableError, match=FULL):
                disk.open()
        disk.make_room()
        if is_stopped:
            with pytest.raises(StoreUnavailableError, match="restarts a local server"):
                store.read("RETURN 1 AS one")
            assert server_control.stop(disk.settings.local_server())


def test_a_disk_that_is_or_gets_full_at_the_start(disk: Disk) -> None:
    disk.open().close()
    disk.fill(0)
    assert server_control.stop(disk.settings.local_server())
    with pytest.raises(StoreUnavailableError, match=FULL) as error:
        disk.open()
    assert says_what_is_full(error, disk)
    disk.make_room()
    home = Home(disk.settings.local_server().home)

    def fill_during_the_start(*_: object) -> None:
        state = ServerState.read(home.state)
        if state is not None and state.phase == "starting":
            disk.fill(0)

    with (
        pytest.raises(StoreUnavailableError, match=FULL) as error,
        open_store(disk.settings, fill_during_the_start) as store,
    ):
        store.write("CREATE (:Filler)")
    assert says_what_is_full(error, disk)


def test_a_start_that_hangs_on_a_full_disk_is_given_up(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = disk.settings.local_server()
    server_control.stop(local)
    home = Home(local.home)

    def fill_and_wait_no_longer(*_: object) -> None:
        state = ServerState.read(home.state)
        if state is not None and state.phase == "starting":
            disk.fill(0)
            monkeypatch.setattr(server_control, "_LONGEST_START_S", 0.0)

    with (
        pytest.raises(StoreUnavailableError, match=FULL),
        open_store(disk.settings, fill_and_wait_no_longer),
    ):
        pass
    assert server_control.status(local) is None
