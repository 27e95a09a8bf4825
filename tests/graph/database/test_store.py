"""How long a person waits for a server that has gone, and what is said of it then."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier

import pytest

from cobalance.base.errors import ConstraintViolatedError, StoreUnavailableError
from cobalance.graph.database.store import PATIENCE, GraphStore


@contextmanager
def refused():
    with pytest.raises(StoreUnavailableError, match=r"No Neo4j server answers at bolt://127") as e:
        yield
    assert "resolved" not in str(e.value)


def test_a_broken_constraint_is_called_one(store, dataset):
    create = "CREATE (:Class {dataset: $dataset, name: 'a'})"
    store.write(create, dataset=dataset)
    with pytest.raises(ConstraintViolatedError, match="already exists with label `Class`"):
        store.write(create, dataset=dataset)
    store.write("MATCH (n:Class {dataset: $dataset}) DELETE n", dataset=dataset)


def test_work_under_locks_begins_anew_after_a_deadlock(store, dataset):
    store.write("UNWIND ['a', 'b'] AS x CREATE (:Class {dataset: $dataset, name: x})",
                dataset=dataset)  # fmt: skip
    lock = "MATCH (n:Class {dataset: $dataset, name: $name}) SET n.images = 1"
    met = Barrier(2)

    def take(first, second):
        tries = []

        def work(transaction):
            tries.append(1)
            if len(tries) == 1:
                met.wait(30)
            transaction.run(lock, dataset=dataset, name=second).consume()
            return len(tries)

        return store.with_locks([lock], work, dataset=dataset, name=first)

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(take, "ab", "ba")) > 2
    store.write("MATCH (n:Class {dataset: $dataset}) DELETE n", dataset=dataset)


@pytest.mark.timeout(25, func_only=True)  # the driver alone retries a transaction for 30 s
def test_a_server_that_has_stopped(way):
    with GraphStore.connect(*way.login) as store:
        assert store.read("RETURN 1 AS x") == [{"x": 1}]
        way.cut()
        for _ in range(2):
            with refused():
                store.read("RETURN 1 AS x")
        with refused():
            store.write("RETURN 1 AS x")
        way.restore()
        assert store.read("RETURN 1 AS x") == [{"x": 1}]
        assert store.write("RETURN 1 AS x") == [{"x": 1}]


def test_patience_has_an_end():
    assert sum(PATIENCE.values()) <= 30


@pytest.mark.timeout(25, func_only=True)  # the driver alone waits 60 s for a connection
def test_a_server_that_hangs(way, monkeypatch):
    monkeypatch.setitem(PATIENCE, "liveness_check_timeout", 0)  # every idle connection is tried
    monkeypatch.setitem(PATIENCE, "connection_timeout", 1.0)  # a fifth of what people get
    monkeypatch.setitem(PATIENCE, "connection_acquisition_timeout", 3.0)
    with GraphStore.connect(*way.login) as store:
        assert store.read("RETURN 1 AS x") == [{"x": 1}]
        way.block()
        with refused():
            store.read("RETURN 1 AS x")
        with refused():
            GraphStore.connect(*way.login)
        way.unblock()
        assert store.read("RETURN 1 AS x") == [{"x": 1}]
