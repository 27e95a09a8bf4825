"""Run tests against another release of Neo4j, in either default language.

    python -m tests.other_server 2026.08.1 CYPHER_25 tests/graph

Its jars are resolved as those of the package's own lock are, and kept in the cache.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

import platformdirs

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


def run_tests(release: str, language: str, arguments: list[str]) -> int:
    """Run pytest with the variables of a server that ends with it; return its exit status.

    Parameters
    ----------
    release : str
        Of Neo4j Community.
    language : str
        The server's default: CYPHER_5, or CYPHER_25 where the release has it.
    arguments : list of str
        Of pytest.
    """
    lock = lock_of(release)
    more = {} if language == "CYPHER_5" else {LANGUAGE: language}
    with tempfile.TemporaryDirectory(prefix="cobalance-server-") as home:
        folders = {"home": Path(home) / "neo4j", "cache": CACHE / f"neo4j-{release}"}
        settings = LocalServerSettings(**folders, more=more)
        with mock.patch.object(jars, "read_lock", return_value=lock):
            endpoint = server_control.ensure_running(settings)
        variables = {
            "NEO4J_URI": endpoint.uri,
            "NEO4J_USERNAME": endpoint.username,
            "NEO4J_PASSWORD": endpoint.password,
            "COBALANCE_HOME": home,  # and nobody's own
        }
        try:
            command = [sys.executable, "-m", "pytest", *arguments]
            return subprocess.run(command, env=os.environ | variables, check=False).returncode
        finally:
            server_control.stop(settings)


if __name__ == "__main__":
    sys.exit(run_tests(sys.argv[1], sys.argv[2], sys.argv[3:]))
