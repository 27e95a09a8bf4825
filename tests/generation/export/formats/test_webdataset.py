import gc
import json
import warnings

import pyarrow.parquet as pq
import pytest

from cobalance.generation.export import ExportOptions, export
from cobalance.vision.images.masks import mask
from tests.generation.export.conftest import TRAIN, imported, rows_of


@pytest.mark.parametrize("size", [{}, {"shard_images": 3}, {"shard_bytes": 1}])
def test_webdataset_loads(sample, tmp_path, offline, size):
    report = export(
        sample.dataset, "webdataset", tmp_path / "out", ExportOptions(format_options=size)
    )
    webdataset = imported("webdataset")
    shards = sorted((tmp_path / "out" / "shards").glob("train-*.tar"))
    expected = {"": 1, "shard_images": 4, "shard_bytes": TRAIN}["".join(size)]
    assert len(shards) == expected
    assert report.counts["shards"] == len(list((tmp_path / "out" / "shards").iterdir()))
    classes = json.loads((tmp_path / "out" / "classes.json").read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # webdataset closes no shard
        loaded = webdataset.WebDataset([str(path) for path in shards], shardshuffle=False)
        samples = list(loaded.decode("pil"))
        del loaded
        gc.collect()
    assert len(samples) == TRAIN
    found = rows_of(sample)
    for one in samples:
        about = one["json"]
        assert (about["class"], about["concepts"], about["split"]) == found.pop(about["id"])
        assert classes[one["cls"]] == about["class"]
        picture = one.get("png", one.get("jpg"))
        assert picture.size == (about["width"], about["height"])
        if about["synthetic"]:
            assert about["generated"]["prompt"] == 'a "photo", of\nwood'
            (where,) = about["objects"]
            outline = json.dumps(where["segmentation"])
            assert mask(outline, 16, 12).sum() == 42


def test_webdataset_mixes_real_and_generated_images(sample, tmp_path):
    export(sample.dataset, "webdataset", tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "manifest.parquet").to_pandas()
    synthetic = table["synthetic"].tolist()
    assert synthetic != sorted(synthetic)
