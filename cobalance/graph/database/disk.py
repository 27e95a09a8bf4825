"""Whether the disk of a local server has room for a transaction."""

import shutil
from pathlib import Path

from cobalance.base import Setting, StoreUnavailableError

# As much as a few transactions and a new log file may take.
LEAST_FREE_MB = 64


def full_disk(folder: Path) -> StoreUnavailableError | None:
    """The error for too little free space on a data folder's disk; None if there is enough."""
    free_mb = shutil.disk_usage(folder).free / 2**20
    if free_mb >= LEAST_FREE_MB:
        return None
    return StoreUnavailableError(
        f"The disk of {folder} is full: {free_mb:.0f} MB are free, and the local Neo4j needs "
        f"{LEAST_FREE_MB} MB. What is stored is kept. Make room there, or set ",
        Setting("home"),
        " to a folder on another disk.",
    )
