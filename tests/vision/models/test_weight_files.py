"""Which weight files of a model are loaded."""

import pytest

from cobalance.base.errors import JobBlockedError
from cobalance.vision.models.weight_files import choose_weights


def test_shards() -> None:
    names = {f"model-0000{shard}-of-00003.safetensors" for shard in (1, 2, 3)} | {"config.json"}
    weights, variant = choose_weights("The model m", names, None)
    assert len(weights) == 3
    assert variant is None
    with pytest.raises(JobBlockedError, match="2 of 3 files of weights are there"):
        choose_weights("The model m", names - {"model-00002-of-00003.safetensors"}, None)
