"""Lists beside folders of images that name their splits."""

import json

import pytest

from cobalance.ingest.load import read_annotations
from tests.ingest.dataset_files import pixels

PICTURES = ("images/apple_pie/10056.jpg", "images/apple_pie/10113.jpg", "images/beet/10134.jpg")


def splits(folder, files):
    for name in PICTURES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(pixels())
    (folder / "meta").mkdir()
    for name, content in files.items():
        (folder / "meta" / name).write_text(content)
    images = read_annotations(folder).images
    assert images["class_name"].tolist() == ["apple_pie", "apple_pie", "beet"]
    return images["split"].astype(object).where(images["split"].notna(), None).tolist()


def test_the_lists_of_food_101_name_images_without_endings(tmp_path):
    files = {
        "train.txt": "apple_pie/10056\nbeet/10134\n",
        "test.txt": "apple_pie/10113\n",
        "classes.txt": "apple_pie\nbeet\n",
        "train.json": json.dumps({"apple_pie": ["apple_pie/10056"], "beet": ["beet/10134"]}),
    }
    assert splits(tmp_path, files) == ["train", "test", "train"]


@pytest.mark.parametrize(
    "files",
    [
        {"train.txt": "apple_pie/10056.jpg\n", "test.txt": "apple_pie/10113.jpg\n"},
        {
            "train1.txt": "apple_pie/10056.jpg\nbeet/10134.jpg\n",
            "test1.txt": "apple_pie/10113.jpg\n",
            "train2.txt": "apple_pie/10056.jpg\napple_pie/10113.jpg\n",
            "test2.txt": "beet/10134.jpg\n",
        },
        {"train.txt": "apple_pie/10056\napple_pie/10113\nbeet/10134\n"},
    ],
)
def test_lists_of_some_images_or_of_several_partitions_give_none(files, tmp_path):
    assert splits(tmp_path, files) == [None] * 3
