"""Embeddings that a worker computes: of a model, of pixels, of images that cannot be read."""

import shutil

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import CLIPImageProcessorPil, CLIPModel

from cobalance.base.errors import DataError, OptionError, UnknownNameError
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.tasks.lifecycle import read_task, retry_task
from cobalance.workflows.embed.compute import order_embeddings
from cobalance.workflows.embed.search import read_embedded, require_embedded
from tests.tiny.vision import save_clip


def test_vectors_are_those_of_the_model(store, loaded, own, work, tmp_path):
    folder = tmp_path / "clip"
    options = {"model": str(folder), "offline": True, "batch_size": 3}
    (tmp_path / "pictures" / "3.png").write_bytes(b"no picture")
    task = order_embeddings(store, loaded, "clip", options)
    work()
    failed = read_task(store, task)
    assert failed.state == "failed"
    assert str(folder) in failed.error
    assert read_embedded(store, own.folders(), loaded) is None
    save_clip(folder)
    assert retry_task(store, task)
    work()
    ended = read_task(store, task)
    assert ended.state == "done"
    assert "1 image could not be read, such as 3: " in ended.note
    found = require_embedded(store, own.folders(), loaded)
    assert found.images["id"].tolist() == [f"{i}" for i in range(8) if i != 3]
    model, processor = (
        CLIPModel.from_pretrained(folder),
        CLIPImageProcessorPil.from_pretrained(folder),
    )
    pictures = [Image.open(tmp_path / "pictures" / f"{i}.png") for i in range(8) if i != 3]
    with torch.inference_mode():
        pixels = processor(images=pictures, return_tensors="pt")["pixel_values"]
        expected = model.get_image_features(pixel_values=pixels).pooler_output.numpy()
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found.unit, expected, atol=1e-5)


def test_pixels_need_no_model_and_find_copies(store, loaded, own, work, tmp_path):
    shutil.copy(tmp_path / "pictures" / "0.png", tmp_path / "pictures" / "5.png")
    task = order_embeddings(store, loaded, "pixels")
    work()
    assert read_task(store, task).state == "done"
    groups = require_embedded(store, own.folders(), loaded).duplicates(0.999)
    assert groups["id"].tolist() == ["0", "5"]
    assert groups["classes"].tolist() == ["country + urban"] * 2


def test_what_cannot_be_computed_is_refused(store, dataset):
    records = [ImageRecord("1", "a", (Mention("x"),)), ImageRecord("2", "b", (Mention("x"),))]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    with pytest.raises(UnknownNameError):
        order_embeddings(store, dataset, "no such features")
    with pytest.raises(OptionError, match="no option 'colour'"):
        order_embeddings(store, dataset, "clip", {"colour": "red"})
    with pytest.raises(DataError, match=r"No image of .* has an address of its file"):
        order_embeddings(store, dataset, "pixels")
