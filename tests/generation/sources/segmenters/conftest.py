from pathlib import Path

import pytest

from tests.tiny.vision import save_clipseg, save_mask2former, save_parsing, save_sam


@pytest.fixture(scope="module")
def sam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny Segment Anything model."""
    return save_sam(tmp_path_factory.mktemp("sam"))


@pytest.fixture(scope="module")
def parsing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model that labels parts of people."""
    return save_parsing(tmp_path_factory.mktemp("parsing"))


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model of instances."""
    return save_mask2former(tmp_path_factory.mktemp("people"))


@pytest.fixture(scope="module")
def clipseg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model that segments by texts."""
    return save_clipseg(tmp_path_factory.mktemp("clipseg"))


@pytest.fixture(params=["sam", "parsing", "people", "clipseg"])
def each(request: pytest.FixtureRequest) -> tuple[str, Path]:
    """The name of each segmenter, with the folder of its model."""
    return request.param, request.getfixturevalue(request.param)
