"""What an export has written."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cobalance.display import Result


@dataclass(frozen=True, eq=False, repr=False)
class Export(Result):
    """Report of an export: the folder, images by kind, and the number and size of its files."""

    folder: Path
    counts: dict[str, int]
    files: int
    bytes: int

    @property
    def frame(self) -> pd.DataFrame:
        """The counts."""
        return pd.DataFrame({"of": list(self.counts), "count": list(self.counts.values())})

    def title(self) -> str:
        """Folder, number of files and bytes."""
        return f"{self.folder}: {self.files:,} files, {self.bytes:,} bytes"
