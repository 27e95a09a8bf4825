"""Lock file of Neo4j Community's jars, which downloads are checked against.

``requirements/neo4j_jars.py`` writes it.
"""

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
