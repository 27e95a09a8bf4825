"""What several tests of the Python API start from."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cobalance as cb
from cobalance.workflows.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def found() -> cb.Imbalances:
    """The imbalances of UrbanCars, of up to two concepts."""
    return cb.imbalances(cb.urbancars(), max_size=2)


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run code in a new process, with other folders first on the import path."""

    def run(code: str, *folders: Path) -> subprocess.CompletedProcess[str]:
        path = ":".join(str(folder) for folder in (*folders, ROOT))
        return subprocess.run(
            [sys.executable, "-P", "-c", code],
            env={"PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def own(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update={"cobalance_output": str(tmp_path / "output")})
