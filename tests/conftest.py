"""A real Neo4j for the tests that need one, and datasets that clean up after themselves."""

import uuid
from collections.abc import Iterator

import pytest

from app.services import open_store
from app.settings import Settings
from graph import local_server
from graph.datasets import drop_dataset, find_dataset
from graph.store import GraphStore


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The server that NEO4J_URI names, or a local one of this run's own, stopped at its end."""
    configured = Settings.from_environment()
    if configured.neo4j_uri is not None:
        yield configured
        return
    home = tmp_path_factory.mktemp("cobalance")
    own = configured.model_copy(update={"cobalance_home": home})
    try:
        yield own
    finally:
        local_server.stop(own.local_server())


@pytest.fixture(scope="session")
def store(settings: Settings) -> Iterator[GraphStore]:
    with open_store(settings) as opened:
        yield opened


@pytest.fixture
def dataset(store: GraphStore) -> Iterator[str]:
    """A name that no dataset has; what the test loads under it is dropped."""
    name = f"test {uuid.uuid4()}"
    yield name
    for left in (name, f"{name} renamed"):
        if find_dataset(store, left) is not None:
            drop_dataset(store, left)
