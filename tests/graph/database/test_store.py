"""How long a person waits for a server that has gone, and what is said of it then."""

import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from graph.database.local.server import ensure_running
from graph.database.store import PATIENCE, GraphStore
from graph.errors import ConstraintViolatedError, StoreUnavailableError
from tests.forwarder import Forwarder


@pytest.fixture
def way(settings):
    """A way to the server of the tests that can be cut."""
    if settings.neo4j_uri is not None:
        port, password = urlsplit(settings.neo4j_uri).port or 7687, settings.password()
        user = settings.neo4j_username
    else:
        found = ensure_running(settings.local_server())
        port, user, password = urlsplit(found.uri).port, found.username, found.password
    with Forwarder(port) as forwarder:
        forwarder.login = (f"bolt://127.0.0.1:{forwarder.port}", user, password)
        yield forwarder


@contextmanager
def refused_within(seconds):
    start = time.monotonic()
    with pytest.raises(StoreUnavailableError, match=r"No Neo4j server answers at bolt://127") as e:
        yield
    assert time.monotonic() - start < seconds
    assert "resolved" not in str(e.value)


def test_a_broken_constraint_is_called_one(store, dataset):
    create = "CREATE (:Class {dataset: $dataset, name: 'a'})"
    store.write(create, dataset=dataset)
    with pytest.raises(ConstraintViolatedError, match="already exists with label `Class`"):
        store.write(create, dataset=dataset)
    store.write("MATCH (n:Class {dataset: $dataset}) DELETE n", dataset=dataset)


def test_a_server_that_has_stopped(way):
    with GraphStore.connect(*way.login) as store:
        assert store.read("RETURN 1 AS x") == [{"x": 1}]
        way.cut()
        for _ in range(2):
            with refused_within(2):
                store.read("RETURN 1 AS x")
        with refused_within(3 * PATIENCE["max_transaction_retry_time"]):
            store.write("RETURN 1 AS x")
        way.restore()
        assert store.read("RETURN 1 AS x") == [{"x": 1}]
        assert store.write("RETURN 1 AS x") == [{"x": 1}]


def test_a_server_that_hangs(way):
    with GraphStore.connect(*way.login) as store:
        assert store.read("RETURN 1 AS x") == [{"x": 1}]
        time.sleep(PATIENCE["liveness_check_timeout"] + 0.5)
        way.block()
        with refused_within(PATIENCE["connection_acquisition_timeout"] + 3):
            store.read("RETURN 1 AS x")
        with refused_within(PATIENCE["connection_acquisition_timeout"] + 3):
            GraphStore.connect(*way.login)
        way.unblock()
        assert store.read("RETURN 1 AS x") == [{"x": 1}]
