from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageOps

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.export import ExportDataset, export
from cobalance.generation.output.manifest import manifest_frame
from cobalance.vision.images.regions import read_regions, write_regions
from tests.generation.export.conftest import OTHER, TRAIN, imported, real_frame, rows_of


def test_imagefolder_loads_with_datasets(sample, tmp_path, offline):
    export(sample.dataset, "imagefolder", tmp_path / "out")
    datasets = imported("datasets")
    datasets.disable_progress_bars()
    for path, more in (("imagefolder", {"data_dir": str(tmp_path / "out")}), ("out", {})):
        place = path if more else str(tmp_path / "out")
        loaded = datasets.load_dataset(place, cache_dir=str(offline / place[-3:]), **more)
        splits = {"train"} if more else {"train", OTHER}
        assert set(loaded) == splits
        assert len(loaded["train"]) == TRAIN
        found = rows_of(sample)
        for row in loaded["train"]:
            assert row["image"].size == (16, 12)
            assert (row["label"], row["concepts"], "train") == found[row["image_id"]]
            assert row["synthetic"] == (row["prompt"] is not None)
        boxes = [len(row["objects"]["bbox"]) for row in loaded["train"]]
        assert max(boxes) == 2


def test_imagefolder_without_splits_is_all_train(sample, tmp_path, offline):
    plain = replace(sample.dataset, real=sample.dataset.real.assign(split=None))
    export(plain, "imagefolder", tmp_path / "out")
    datasets = imported("datasets")
    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(
        "imagefolder", data_dir=str(tmp_path / "out"), cache_dir=str(offline)
    )
    assert {name: len(split) for name, split in loaded.items()} == {"train": 15}


@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
@pytest.mark.parametrize("is_as_stored", [True, False])
def test_boxes_are_of_the_pictures_that_datasets_shows(
    tmp_path, offline, orientation, is_as_stored
):
    pixels = np.zeros((48, 120, 3), dtype=np.uint8)
    pixels[8:32, 40:70] = 255
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = BytesIO()
    Image.fromarray(pixels).save(content, "JPEG", exif=exif, quality=95)
    picture = Image.open(BytesIO(content.getvalue()))
    annotated = np.asarray(picture if is_as_stored else ImageOps.exif_transpose(picture))
    record = ImageRecord(
        "a",
        "cat",
        (Mention("sofa", box=bright_box(annotated)),),
        uri="a.jpg",
        width_px=annotated.shape[1],
        height_px=annotated.shape[0],
    )
    annotations = Annotations.from_records([record])
    write_regions(tmp_path / "regions", "cats", annotations)
    dataset = ExportDataset(
        "cats",
        real_frame(annotations),
        manifest_frame([]),
        {"a.jpg": content.getvalue()}.__getitem__,
        {}.__getitem__,
        lambda ids: read_regions(tmp_path / "regions", "cats", ids),
    )
    export(dataset, "imagefolder", tmp_path / "out")
    datasets = imported("datasets")
    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(offline))
    (row,) = loaded["train"]
    shown = np.asarray(row["image"])
    assert (row["width"], row["height"]) == (shown.shape[1], shown.shape[0]) == (48, 120)
    assert row["objects"]["bbox"] == [list(bright_box(shown))]


def bright_box(pixels):
    """Box around what is white in a picture."""
    white = pixels.max(axis=2) > 128
    rows, columns = (np.flatnonzero(white.any(axis=at)) for at in (1, 0))
    left, top = float(columns[0]), float(rows[0])
    return left, top, float(columns[-1]) + 1 - left, float(rows[-1]) + 1 - top
