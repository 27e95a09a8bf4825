"""Labelled images from export folders."""

import pandas as pd
import pytest

from cobalance.base.errors import DataError, InputError
from cobalance.evaluation.training.data.examples import code_examples
from cobalance.evaluation.training.data.reading import (
    TABLE,
    read_export_images,
)
from cobalance.evaluation.training.data.sets import LeakError, check_apart, training_set
from cobalance.generation.export import export
from tests.generation.export.conftest import HOSTILE, make_sample


def test_an_export_folder_is_read_like_its_dataset(tmp_path):
    sample = make_sample(tmp_path / "regions", HOSTILE)
    export(sample.dataset, "imagefolder", tmp_path / "out")
    images = read_export_images(tmp_path / "out")
    assert len(images) == len(HOSTILE) + 5
    made = images.frame[images.frame["synthetic"]]
    assert made["source"].tolist() == HOSTILE[:5]
    assert not images.frame.loc[~images.frame["synthetic"], "source"].notna().any()
    examples = code_examples({"training": images})["training"]
    pixels = examples.read(pd.RangeIndex(len(images)).to_numpy())
    assert {image.shape for image in pixels} == {(12, 16, 3)}
    with pytest.raises(LeakError, match="5 of the training images were made from test images"):
        check_apart(images.where(images.frame["synthetic"]), training_set(images, "real"))


def test_folders_that_are_no_exports_are_refused(tmp_path):
    with pytest.raises(InputError, match=rf"it has no {TABLE}"):
        read_export_images(tmp_path)
    (tmp_path / TABLE).write_bytes(b"not parquet")
    with pytest.raises(InputError, match="cannot be read"):
        read_export_images(tmp_path)
    table = pd.DataFrame(
        {
            "image_id": ["a"], "label": ["x"], "concepts": [[]], "split": [None],
            "uri": ["../secret.png"], "synthetic": [False], "source": [None], "key": [None],
        }
    )  # fmt: skip
    table.drop(columns="source").to_parquet(tmp_path / TABLE)
    with pytest.raises(InputError, match="no column source"):
        read_export_images(tmp_path)
    table.assign(key="in a shard").to_parquet(tmp_path / TABLE)
    with pytest.raises(InputError, match="in shards"):
        read_export_images(tmp_path)
    table.to_parquet(tmp_path / TABLE)
    with pytest.raises(DataError, match="outside of the folder"):
        read_export_images(tmp_path).read("../secret.png", False)
