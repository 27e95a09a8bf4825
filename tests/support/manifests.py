"""Read a manifest's file."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from cobalance.generation.output.manifest import manifest_frame


def read_manifest(path: Path) -> pd.DataFrame:
    """Its rows, as `cobalance.generation.output.manifest.manifest_frame` gives them."""
    return manifest_frame(pq.ParquetFile(path).read().to_pylist())
