"""Karpathy's splits and lists of captions are searched for a vocabulary."""

import pytest

from cobalance.base.errors import InputError
from tests.ingest.tool_files import read_files, rows

VOCABULARY = ("dog", "pier", "cat")


def test_karpathys_splits_are_read(tmp_path):
    images = [
        {"filename": "a.jpg", "filepath": "val2014", "imgid": 0, "split": "train",
         "sentences": [{"raw": "A dog on a pier.", "tokens": ["a", "dog"]}]},
        {"filename": "b.jpg", "imgid": 1, "split": "restval",
         "sentences": [{"tokens": ["a", "cat"]}]},
    ]  # fmt: skip
    files = {"dataset_coco.json": {"images": images, "dataset": "coco"}}
    data = read_files(tmp_path, files, "dataset_coco.json", vocabulary=VOCABULARY)
    assert rows(data) == {"a.jpg": ["dog", "pier"], "b.jpg": ["cat"]}
    assert data.images["split"].tolist() == ["train", "restval"]
    assert data.images["uri"].tolist() == ["val2014/a.jpg", "b.jpg"]


def test_lines_of_captions_are_read(tmp_path):
    text = "a.jpg#0\tA dog .\na.jpg#1\tA pier .\nb.jpg#0\tA cat .\n"
    files = {"Flickr8k.token.txt": text}
    data = read_files(tmp_path, files, "Flickr8k.token.txt", vocabulary=VOCABULARY)
    assert rows(data) == {"a.jpg": ["dog", "pier"], "b.jpg": ["cat"]}


def test_captions_need_a_vocabulary(tmp_path):
    with pytest.raises(InputError, match="no vocabulary"):
        read_files(tmp_path, {"a.token": "a.jpg#0\tA dog .\n"}, "a.token")
