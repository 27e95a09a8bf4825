from dataclasses import replace

from cobalance.generation.export import export
from tests.generation.export.conftest import OTHER, TRAIN, imported, rows_of


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
