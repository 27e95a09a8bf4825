"""Write the lock of Neo4j Community's jars anew, to move to another release.

python -m requirements.neo4j_jars 5.26.30
"""

import hashlib
import sys
import tempfile
from pathlib import Path

from jgo.env import EnvironmentBuilder
from jgo.maven import MavenContext

from cobalance.graph.database.local.jar_lock import LOCK_FILE, Jar, JarLock


def format_lock(lock: JarLock) -> str:
    """Format the lock file: one line per jar, for readable diffs.

    Examples
    --------
    >>> print(format_lock(JarLock("5.26.30", (Jar("g:a:1", 3, "ab"),))), end="")
    # Written by `python -m requirements.neo4j_jars 5.26.30`; do not edit.
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
        "# Written by `python -m requirements.neo4j_jars "
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
