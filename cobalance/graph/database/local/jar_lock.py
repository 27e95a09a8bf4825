"""Lock file of Neo4j Community's jars: read it, and regenerate it for another version.

The package contains the lock, which downloads are checked against. To move to another release of
Neo4j::

    python -m cobalance.graph.database.local.jar_lock 5.26.30
"""

import hashlib
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

LOCK_FILE = Path(__file__).with_name("neo4j_jars.toml")


@dataclass(frozen=True)
class Jar:
    """One locked jar.

    Parameters
    ----------
    coordinate : str
        Maven's ``group:artifact:version``, with ``:classifier`` if there is one.
    size : int
        Bytes.
    sha256 : str
        Hexadecimal SHA-256 of the file.

    Examples
    --------
    >>> jar = Jar("io.netty:netty-all:4.1.0:linux-x86_64", 3, "ab")
    >>> jar.name
    'netty-all-4.1.0-linux-x86_64.jar'
    >>> jar.repository_path
    'io/netty/netty-all/4.1.0/netty-all-4.1.0-linux-x86_64.jar'
    """

    coordinate: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        """File name, the same in the repository and in the cache."""
        _, *parts = self.coordinate.split(":")
        return "-".join(parts) + ".jar"

    @property
    def repository_path(self) -> str:
        """Path of the jar below a Maven repository's base address."""
        group, artifact, version = self.coordinate.split(":")[:3]
        return "/".join([*group.split("."), artifact, version, self.name])


@dataclass(frozen=True)
class JarLock:
    """Every jar of one Neo4j release, in the order of their coordinates."""

    neo4j: str
    jars: tuple[Jar, ...]

    @property
    def total_bytes(self) -> int:
        """Size of all jars together."""
        return sum(jar.size for jar in self.jars)


def read_lock(path: Path = LOCK_FILE) -> JarLock:
    """Return the locked jars."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    jars = (Jar(coordinate, **entry) for coordinate, entry in content["jars"].items())
    return JarLock(content["neo4j"], tuple(jars))


def format_lock(lock: JarLock) -> str:
    """Format the lock file: one line per jar, for readable diffs.

    Examples
    --------
    >>> print(format_lock(JarLock("5.26.30", (Jar("g:a:1", 3, "ab"),))), end="")
    # Written by `python -m cobalance.graph.database.local.jar_lock 5.26.30`; do not edit.
    neo4j = "5.26.30"
    <BLANKLINE>
    [jars]
    "g:a:1" = { size = 3, sha256 = "ab" }
    """
    lines = "".join(
        f'"{jar.coordinate}" = {{ size = {jar.size}, sha256 = "{jar.sha256}" }}\n'
        for jar in lock.jars
    )
    return (
        "# Written by `python -m cobalance.graph.database.local.jar_lock "
        f'{lock.neo4j}`; do not edit.\nneo4j = "{lock.neo4j}"\n\n[jars]\n{lines}'
    )


def resolve_lock(version: str, repository_cache: Path) -> JarLock:
    """Resolve the jars of Neo4j `version` with Bolt over the network, with jgo.

    Parameters
    ----------
    version : str
        Release of Neo4j Community.
    repository_cache : Path
        Folder for the downloaded jars and their descriptions.
    """
    from jgo.env import EnvironmentBuilder
    from jgo.maven import MavenContext

    builder = EnvironmentBuilder(
        context=MavenContext(repo_cache=repository_cache), cache_dir=repository_cache / "env"
    )
    environment = builder.from_endpoint(f"org.neo4j:neo4j:{version}+org.neo4j:neo4j-bolt:{version}")
    found = environment.lockfile
    if found is None:
        raise FileNotFoundError(f"jgo wrote no lock file in {environment.path}")
    jars = []
    for one in found.dependencies:
        parts = (one.groupId, one.artifactId, one.version, one.classifier)
        coordinate = ":".join(part for part in parts if part)
        file = repository_cache / Jar(coordinate, 0, "").repository_path
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        jars.append(Jar(coordinate, file.stat().st_size, digest))
    return JarLock(version, tuple(sorted(jars, key=lambda jar: jar.coordinate)))


def main(version: str) -> None:
    """Resolve Neo4j `version` and write the package's lock file."""
    with tempfile.TemporaryDirectory() as folder:
        LOCK_FILE.write_text(format_lock(resolve_lock(version, Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
