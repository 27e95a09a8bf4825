"""What the watch stops, on a server whose heap is so small that a list of 70 MB fills it."""

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from neo4j import Driver, GraphDatabase

from cobalance.base.errors import QueryError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.console.run import run_console_query
from cobalance.graph.database import DriverPool
from cobalance.graph.database.local.server_control import Endpoint, ensure_running, stop
from cobalance.graph.database.local.settings import LocalServerSettings
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from tests.support.waiting import until

HEAP_MB = 256
# A list, and then as many others for a moment each: a few seconds of work on any server. The detour
# over texts makes the list grow for seconds: the watch, which looks twice a second, sees it grow.
HOLDING = (
    "WITH [x IN range(1, $length) | x + 1000 + "
    "size(reverse(toString(x)) + replace(toString(7 * x), '7', '8') + toString(x * x))] AS xs "
    "RETURN reduce(s = 0, i IN range(1, $times) | s + size([x IN xs WHERE x > i])) AS n"
)
LENGTH, TIMES = 2_500_000, 20
SMALL = "UNWIND range(1, 100000) AS x RETURN sum(x) AS n"
N_SMALL, SUM_OF_SMALL = 50, 100_000 * 100_001 // 2


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServerSettings]:
    home = tmp_path_factory.mktemp("small") / "home"
    settings = LocalServerSettings(home=home, heap_mb=HEAP_MB, pagecache_mb=16)
    ensure_running(settings)
    yield settings
    stop(settings)


@pytest.fixture
def endpoint(server: LocalServerSettings) -> Endpoint:
    return ensure_running(server)


@pytest.fixture
def connect(endpoint: Endpoint) -> partial[Driver]:
    auth = endpoint.username, endpoint.password
    return partial(GraphDatabase.driver, endpoint.uri, auth=auth)


@pytest.fixture
def drivers(connect: partial[Driver]) -> Iterator[DriverPool]:
    pool = DriverPool(connect)
    yield pool
    pool.close()


def hold(connect: partial[Driver]) -> int:
    """What the query counts that fills the heap, as another client's."""
    with connect() as driver:
        records, _, _ = driver.execute_query(HOLDING, length=LENGTH, times=TIMES)
        return int(records[0]["n"])


def ask_small(drivers: DriverPool) -> list[int]:
    """The answers of fifty small reads of the console, two at a time."""

    def ask(_: int) -> int:
        (row,) = run_console_query(drivers, "neo4j", SMALL, timeout_s=120).rows
        return int(row[0])

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(ask, range(N_SMALL)))


def log(server: LocalServerSettings) -> str:
    return (server.home / "logs" / "server.log").read_text()


def test_a_query_is_stopped_for_what_it_holds_and_small_ones_beside_it_are_not(
    server: LocalServerSettings, drivers: DriverPool
) -> None:
    large = {"length": LENGTH, "times": TIMES}
    with ThreadPoolExecutor() as pool:
        holding = pool.submit(run_console_query, drivers, "neo4j", HOLDING, large, timeout_s=120)
        answers = ask_small(drivers)
        with pytest.raises(QueryError, match=r"it holds \d+ MB of the server's heap, which is"):
            holding.result()
    assert answers == [SUM_OF_SMALL] * N_SMALL
    assert log(server).count("; stopped") == 1


def test_small_queries_are_not_stopped_where_others_fill_the_heap(
    server: LocalServerSettings,
    endpoint: Endpoint,
    connect: partial[Driver],
    drivers: DriverPool,
) -> None:
    before = log(server)
    records = [
        ImageRecord(f"{i}", "farm", tuple(Mention(f"concept {i % 97 + j}") for j in range(5)))
        for i in range(500)
    ]
    loaded, done = threading.Event(), threading.Event()

    def load() -> None:
        with GraphStore.connect(endpoint.uri, endpoint.username, endpoint.password) as store:
            while not done.is_set():
                name = f"test {uuid.uuid4()}"
                write_annotations(store, name, Annotations.from_records(records), source="a test")
                loaded.set()

    def keep_full() -> None:
        while not done.is_set():
            assert hold(connect) == LENGTH * TIMES

    with ThreadPoolExecutor() as pool:
        others = [pool.submit(load), pool.submit(keep_full)]
        try:
            until(lambda: loaded.is_set() or any(other.done() for other in others))
            answers = ask_small(drivers)
        finally:
            done.set()
        for other in others:
            other.result()
    assert answers == [SUM_OF_SMALL] * N_SMALL
    assert log(server) == before
