"""A plugin of pytest: run tests against another release of Neo4j, in either default language.

    python -m pytest -p tests.support.other_server --neo4j 2026.08.1 tests/graph/tags

Each process of a run has a server of its own. A worker takes every task that it finds in its store:
on one that processes share, a worker of a test would run the evaluations of another test anew.

The jars of a release are resolved as those of the package's own lock are, and kept in the cache.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import platformdirs
import pytest

from cobalance.graph.database.local import jars, server_control
from cobalance.graph.database.local.jar_lock import JarLock, read_lock
from cobalance.graph.database.local.settings import LocalServerSettings
from requirements.neo4j_jars import format_lock, resolve_lock

CACHE = platformdirs.user_cache_path("cobalance")
LANGUAGE = "db.query.default_language"


def lock_of(release: str) -> JarLock:
    """The jars of a release of Neo4j Community; resolved once, unless they are the package's."""
    own = read_lock()
    if release == own.neo4j:
        return own
    file = CACHE / f"neo4j-{release}.toml"
    if not file.exists():
        with tempfile.TemporaryDirectory() as downloads:
            lock = resolve_lock(release, Path(downloads))
        CACHE.mkdir(parents=True, exist_ok=True)
        file.write_text(format_lock(lock), encoding="utf-8")
    return read_lock(file)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("another release of Neo4j")
    group.addoption("--neo4j", default=read_lock().neo4j, help="release of Neo4j Community")
    group.addoption("--language", default="CYPHER_5", help="CYPHER_25 where the release has it")


def pytest_configure(config: pytest.Config) -> None:
    """Resolve the jars before there are processes that would all do it."""
    lock_of(config.getoption("neo4j"))


@pytest.fixture(scope="session", autouse=True)
def other_server(pytestconfig: pytest.Config) -> Iterator[None]:
    """A server of this process's own, which the variables name until it ends."""
    release, language = (pytestconfig.getoption(name) for name in ("neo4j", "language"))
    more = {} if language == "CYPHER_5" else {LANGUAGE: language}
    with (
        tempfile.TemporaryDirectory(prefix="cobalance-server-") as home,
        pytest.MonkeyPatch.context() as patch,
    ):
        folders = {"home": Path(home) / "neo4j", "cache": CACHE / f"neo4j-{release}"}
        settings = LocalServerSettings(**folders, more=more)
        with mock.patch.object(jars, "read_lock", return_value=lock_of(release)):
            endpoint = server_control.ensure_running(settings)
        variables = {
            "NEO4J_URI": endpoint.uri,
            "NEO4J_USERNAME": endpoint.username,
            "NEO4J_PASSWORD": endpoint.password,
            "COBALANCE_HOME": home,  # and nobody's own
        }
        for name, value in variables.items():
            patch.setenv(name, value)
        try:
            yield
        finally:
            server_control.stop(settings)
