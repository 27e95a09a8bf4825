"""Settings of the local server."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs


@dataclass(frozen=True)
class LocalServerSettings:
    """Settings of the local server; a running server keeps those it was started with.

    Parameters
    ----------
    home : Path
        Data folder with the databases, the password and the logs, accessible to its owner alone.
    cache : Path
        Folder of Neo4j's jars; may be read-only if complete.
    idle_stop_s : float
        Seconds without a connection until the server stops; `math.inf` for never.
    heap_mb : int
        Java heap. One transaction may use half of it, all of them together 70%.
    pagecache_mb : int
        Page cache, in addition to the heap.
    answer_timeout_s : float
        Seconds without an answer until a running server counts as hung.
    stop_timeout_s : float
        Seconds until a stop kills the process, which loses no commit.
    more : mapping
        Further settings of Neo4j, by their names in ``neo4j.conf``.
    repository : str or None
        Base address of the Maven repository to download from; None for the default one.
    """

    home: Path = field(default_factory=lambda: platformdirs.user_data_path("cobalance") / "neo4j")
    cache: Path = field(default_factory=lambda: platformdirs.user_cache_path("cobalance") / "neo4j")
    idle_stop_s: float = 1800.0
    heap_mb: int = 1024
    pagecache_mb: int = 256
    answer_timeout_s: float = 30.0
    stop_timeout_s: float = 60.0
    more: Mapping[str, str] = field(default_factory=dict)
    repository: str | None = None
