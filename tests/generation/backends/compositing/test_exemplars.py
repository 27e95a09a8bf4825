from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cobalance.base.errors import DataError, JobBlockedError
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.compositing.exemplars import (
    Exemplar,
    concept_folder,
    read_exemplars,
    write_exemplars,
)
from cobalance.generation.backends.procedural import ProceduralOptions
from tests.generation.backends.suite import HOSTILE


@pytest.mark.parametrize("name", HOSTILE)
def test_exemplars_of_any_concept_are_found_again(tmp_path: Path, name: str) -> None:
    exemplar = Exemplar(np.full((4, 4, 3), 9, np.uint8), np.eye(4, dtype=bool))
    assert write_exemplars(tmp_path / "in", name, [exemplar]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    (found,) = read_exemplars(tmp_path / "in").of(name)
    assert np.array_equal(found.shown, exemplar.shown)
    assert np.array_equal(found.image[found.shown], exemplar.image[exemplar.shown])


def test_names_do_not_share_a_folder() -> None:
    assert len({concept_folder(name) for name in HOSTILE}) == len(HOSTILE)


def test_exemplars_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match="no folder"):
        BACKENDS.open("procedural", ProceduralOptions(exemplars=str(tmp_path / "none")))
    with pytest.raises(JobBlockedError, match="no exemplar"):
        BACKENDS.open("procedural", ProceduralOptions(exemplars=str(tmp_path)))
    (tmp_path / "cow").mkdir()
    Image.new("RGBA", (4, 4)).save(tmp_path / "cow" / "1.png")
    with pytest.raises(JobBlockedError, match=r"1\.png"):
        read_exemplars(tmp_path)
    (tmp_path / "cow" / "1.png").write_bytes(b"no picture")
    with pytest.raises(JobBlockedError, match=r"1\.png"):
        read_exemplars(tmp_path)
    with pytest.raises(DataError, match="of its size"):
        Exemplar(np.zeros((4, 4, 3), np.uint8), np.ones((4, 5), bool))
