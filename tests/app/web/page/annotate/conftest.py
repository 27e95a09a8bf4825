"""A labelling run that no model made, and galleries that are looked into."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from cobalance.app.web.pictures.thumbnails import ImageFiles, Picture
from cobalance.graph.database.store import GraphStore
from cobalance.vision.stored.output_folder import OutputFolder
from tests.support.audited_run import write_audited_run


@pytest.fixture
def run(store: GraphStore, dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A labelling run of 12 images that is done."""
    for name in ("output", "cache"):
        monkeypatch.setenv(f"COBALANCE_{name.upper()}", str(tmp_path / name))
    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path / "pictures"))
    folder = OutputFolder(str(tmp_path / "output"))
    return write_audited_run(store, dataset, folder, tmp_path / "pictures", 12)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[pd.DataFrame]:
    """The regions that are asked to be drawn, of one image each."""
    asked: list[pd.DataFrame] = []
    with_regions = ImageFiles.with_regions

    def recorded(self: ImageFiles, uri: str, regions: pd.DataFrame, *others: Any) -> Picture:
        asked.append(regions)
        return with_regions(self, uri, regions, *others)

    monkeypatch.setattr(ImageFiles, "with_regions", recorded)
    return asked
