"""A request with names of every kind, and the row of its candidate."""

import numpy as np
import pytest

from cobalance.generation.image_request import ImageRequest, SourceImage
from cobalance.generation.output.manifest_rows import new_row
from tests.conftest import HOSTILE

ABOUT = {
    "backend": "inpaint",
    "digital_source_type": "http://cv.iptc.org/newscodes/digitalsourcetype/"
    "compositeWithTrainedAlgorithmicMedia",
    "model": "owner/model",
    "revision": "abc",
    "weights_sha256": "0" * 64,
    "settings": {"steps": 3, "dtype": "auto"},
    "pipeline": "AnyPipeline",
    "scheduler_config": {"beta_end": 0.012},
    "dtype": "float16",
    "filters": {"clip": {"model": "owner/clip", "weights_sha256": "1" * 64}},
    "software": {"torch": "2"},
}


@pytest.fixture
def pixels():
    return np.random.default_rng(0).integers(0, 255, (24, 32, 3), dtype=np.uint8)


@pytest.fixture
def request_(pixels):
    mask = np.zeros((24, 32), dtype=bool)
    mask[4:9, 5:20] = True
    source = SourceImage(HOSTILE[1], "pictures/" + HOSTILE[3], pixels, mask)
    return ImageRequest("job/000001/000002", HOSTILE[0], HOSTILE, "a & b < c", 2**63 - 1, source)


@pytest.fixture
def row(request_):
    return new_row(
        request_, job="job", chunk="000-000000", chunk_items=[request_.id, "x"], backend=ABOUT
    )
