from pathlib import Path

import pytest

from tests.tiny.vision import save_parsing, save_sam


@pytest.fixture(scope="module")
def sam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny Segment Anything model."""
    return save_sam(tmp_path_factory.mktemp("sam"))


@pytest.fixture(scope="module")
def parsing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model that labels parts of people."""
    return save_parsing(tmp_path_factory.mktemp("parsing"))
