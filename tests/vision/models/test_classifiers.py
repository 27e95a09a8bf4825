"""Classifiers of timm: pretrained backbones with every kind of fault, and trained ones."""

import json
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from safetensors.torch import load_file, save_file

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.vision.models.classifiers import (
    Classifier,
    ClassifierSettings,
    Network,
    open_backbone,
    open_classifier,
    width_of,
)
from cobalance.vision.models.options import ModelOptions

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny ViT with a head of five classes, as timm saves it for the hub."""
    folder = tmp_path_factory.mktemp("timm")
    torch.manual_seed(0)
    model = timm.create_model("test_vit", num_classes=5)
    timm.models.save_for_hf(model, str(folder), safe_serialization=True)
    return folder


def options(folder: Path | str) -> ModelOptions:
    return ModelOptions(model=str(folder), device="cpu")


def test_pretrained_backbone(saved: Path) -> None:
    """It gives what the saved model gives before its head."""
    backbone, settings = open_backbone(options(saved))
    whole = timm.create_model("test_vit", num_classes=5)
    whole.load_state_dict(load_file(saved / "model.safetensors"))
    images = torch.rand(2, 3, 160, 160)
    with torch.no_grad():
        expected = whole.eval().forward_head(whole.forward_features(images), pre_logits=True)
        assert torch.equal(backbone.eval()(images), expected)
    assert settings.image_px == 160
    assert width_of(backbone) == expected.shape[1]
    assert settings.about is not None
    assert settings.about["weights_sha256"]
    assert settings.about["model"] == saved.name


def test_another_size(saved: Path) -> None:
    backbone, settings = open_backbone(options(saved), image_px=32)
    assert settings.image_px == 32
    assert backbone(torch.rand(1, 3, 32, 32)).shape == (1, width_of(backbone))


def test_random_weights_follow_the_generator() -> None:
    torch.manual_seed(1)
    first, about = open_backbone(options("test_resnet"), pretrained=False)
    torch.manual_seed(1)
    second, _ = open_backbone(options("test_resnet"), pretrained=False)
    pairs = zip(first.parameters(), second.parameters(), strict=True)
    assert all(torch.equal(*pair) for pair in pairs)
    assert about.about is not None
    assert about.about["weights"] == "random"


def copied(saved: Path, folder: Path) -> Path:
    for name in ("config.json", "model.safetensors"):
        (folder / name).write_bytes((saved / name).read_bytes())
    return folder


def test_incomplete_weights_are_refused(saved: Path, tmp_path: Path) -> None:
    weights = load_file(saved / "model.safetensors")
    del weights["norm.weight"]
    save_file(weights, copied(saved, tmp_path) / "model.safetensors")
    with pytest.raises(JobBlockedError, match="do not fit the model"):
        open_backbone(options(tmp_path))


def test_pickles_are_refused(saved: Path, tmp_path: Path) -> None:
    folder = copied(saved, tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(JobBlockedError, match="pickles"):
        open_backbone(options(folder))


def test_other_models_are_refused(saved: Path, tmp_path: Path) -> None:
    folder = copied(saved, tmp_path)
    (folder / "config.json").write_text(json.dumps({"model_type": "clip"}))
    with pytest.raises(JobBlockedError, match="not one of timm"):
        open_backbone(options(folder))
    with pytest.raises(JobBlockedError, match="not a classifier that cobalance has trained"):
        open_classifier(options(folder), CPU, torch.float32)
    with pytest.raises(OptionError, match="cannot take images of 33 px"):
        open_backbone(options(saved), image_px=33)
    with pytest.raises(OptionError, match="no architecture 'test_resnat'"):
        open_backbone(options("test_resnat"), pretrained=False)


def test_offline_loads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = ModelOptions(model="timm/nothing-of-this-name", offline=True)
    with pytest.raises(JobBlockedError, match="downloads are off"):
        open_backbone(chosen)


@pytest.mark.parametrize("multi_label", [False, True])
def test_saved_classifier_predicts_the_same(tmp_path: Path, multi_label: bool) -> None:
    """Also with outputs for each of three domains, whose probabilities are summed."""
    torch.manual_seed(2)
    backbone, settings = open_backbone(options("test_vit"), pretrained=False, image_px=32)
    network = Network(backbone, torch.nn.Linear(width_of(backbone), 6))
    settings = ClassifierSettings(
        **{**vars(settings), "classes": ("a", "b"), "multi_label": multi_label, "n_outputs": 6}
    )
    classifier = Classifier(network, settings, CPU, torch.float32, 2)
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, (20, 30, 3), dtype=np.uint8) for _ in range(3)]
    found = classifier.predict(images)

    pixels = torch.stack([settings.squeeze(image) for image in images]).float() / 255
    mean, std = (torch.tensor(values).reshape(3, 1, 1) for values in (settings.mean, settings.std))
    with torch.no_grad():
        outputs = network((pixels - mean) / std).double().numpy()
    if multi_label:
        of_each = 1 / (1 + np.exp(-outputs))
        expected = np.minimum(of_each[:, :2] + of_each[:, 2:4] + of_each[:, 4:], 1)
    else:
        of_each = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
        expected = of_each[:, :2] + of_each[:, 2:4] + of_each[:, 4:]
    np.testing.assert_allclose(found, expected, atol=1e-5)

    classifier.save(tmp_path)
    opened = open_classifier(
        ModelOptions(model=str(tmp_path), batch_size=2), CPU, torch.float32
    )  # batches decide how sums are rounded
    np.testing.assert_array_equal(opened.predict(images), found)
    assert opened.settings.classes == ("a", "b")
    assert opened.predict([]).shape == (0, 2)
