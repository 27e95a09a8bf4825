"""WebDataset: samples of several shards."""

import io
import json
import tarfile

from cobalance.ingest.load import read_annotations


def shard(path, label, **further):
    with tarfile.open(path, "w") as archive:
        for key in ("000", "001"):
            described = json.dumps({"label": label, "objects": ["sofa"], **further}).encode()
            for ending, content in (("jpg", b"pixels"), ("json", described)):
                entry = tarfile.TarInfo(f"{key}.{ending}")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))


def test_keys_that_repeat_have_their_shards_before_them(tmp_path):
    shard(tmp_path / "0.tar", "cat")
    assert read_annotations(tmp_path).images["id"].tolist() == ["000", "001"]
    shard(tmp_path / "1.tar", "dog")
    images = read_annotations(tmp_path).images
    assert images["id"].tolist() == ["0/000", "0/001", "1/000", "1/001"]
    assert images["class_name"].tolist() == ["cat", "cat", "dog", "dog"]
    assert images["uri"].tolist()[3] == "1.tar/001.jpg"
