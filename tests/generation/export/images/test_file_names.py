"""Names that loaders and file systems keep for themselves."""

import importlib
import re
import warnings
from dataclasses import replace

import pytest

from cobalance.generation.export import EXPORTERS, export
from cobalance.generation.export.images.image import file_stem, split_names

DEVICES = ["con", "nul", "aux", "prn", "com1", "lpt9", "CON", "Nul", "COM9", "lPt1"]


@pytest.mark.parametrize("name", DEVICES)
def test_no_split_and_no_image_has_a_device_s_name(name):
    assert split_names([name, "train"]).keys() == {name, "train"}
    taken = {device.lower() for device in DEVICES}
    for given in (split_names([name])[name], file_stem(name), file_stem(f"{name}.png")):
        assert given.lower() not in taken
        assert given.lower().startswith(name.lower())
    assert split_names(["console", "train"])["console"] == "console"


@pytest.mark.parametrize("name", sorted(set(EXPORTERS) - {"weights"}))
def test_no_file_of_an_export_has_one(name, sample, tmp_path):
    real = sample.dataset.real.assign(split="con", id=[*DEVICES])
    made = sample.dataset.generated.assign(source_image=DEVICES[:5])
    export(replace(sample.dataset, real=real, generated=made), name, tmp_path / "out")
    for path in (tmp_path / "out").rglob("*"):
        assert path.name.partition(".")[0].lower() not in {device.lower() for device in DEVICES}


@pytest.mark.parametrize("splits", [["all"] * 10, ["all", "train"] * 5])
def test_a_split_called_all_is_loaded(sample, tmp_path, monkeypatch, splits):
    for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.setenv(name, "1")
    dataset = replace(sample.dataset, real=sample.dataset.real.assign(split=splits))
    export(dataset, "imagefolder", tmp_path / "out")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        datasets = importlib.import_module("datasets")
    datasets.disable_progress_bars()
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "hf"))
    (name,) = set(loaded) - {"train"}
    assert re.fullmatch("all_[0-9a-f]{8}", name)
    assert sum(map(len, loaded.values())) == 15
