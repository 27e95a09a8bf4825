"""Settings with an output folder of the test's own."""

from pathlib import Path

import pytest

from cobalance.workflows.settings import Settings


@pytest.fixture
def own(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update={"cobalance_output": str(tmp_path / "output")})
