"""FiftyOne's export without metadata, which FiftyOne computes only when asked to."""

import json

import pytest
from PIL import Image

from cobalance.ingest.load import read_annotations


def exported(folder):
    samples = []
    for name in ("1.png", "2.png"):
        label = {"_cls": "Detection", "label": "jar", "bounding_box": [0.5, 0.5, 0.25, 0.5]}
        field = {"_cls": "Detections", "detections": [label]}
        samples.append({"filepath": f"data/{name}", "metadata": None, "ground_truth": field})
    (folder / "samples.json").write_text(json.dumps({"samples": samples}))
    (folder / "metadata.json").write_text("{}")
    (folder / "data").mkdir()
    return folder


def test_boxes_are_of_the_size_of_the_picture(tmp_path):
    folder = exported(tmp_path)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (20, 10)).save(folder / "data" / "1.png")
    Image.new("RGB", (10, 20)).save(folder / "data" / "2.png", exif=exif)
    annotations = read_annotations(folder)
    assert annotations.images[["width_px", "height_px"]].to_numpy().tolist() == [[20, 10]] * 2
    boxes = annotations.mentions[["x_px", "y_px", "w_px", "h_px"]].to_numpy()
    assert boxes == pytest.approx(boxes * 0 + [10, 5, 5, 5])


def test_boxes_without_any_size_are_left_out_with_a_note(tmp_path):
    annotations = read_annotations(exported(tmp_path))
    assert annotations.mentions["x_px"].isna().all()
    assert any("boxes of 2 images left out" in note for note in annotations.notes)
