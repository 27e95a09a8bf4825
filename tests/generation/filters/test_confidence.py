"""Images that a classifier is sure about, by a tiny network that was trained a moment ago."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobalance.base.errors import JobBlockedError
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Method, Run
from cobalance.evaluation.training.networks.learner import NetworkLearner
from cobalance.evaluation.training.networks.options import NetworkOptions
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.filter import Judgement
from cobalance.generation.image_request import GeneratedImage, ImageRequest
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.recipes import RECIPES
from tests.tiny.labelled import tiny_examples


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network that tells red from blue, with the record of how sure it is."""
    folder = tmp_path_factory.mktemp("classifier")
    options = NetworkOptions(
        model="test_resnet", pretrained=False, image_px=32, epochs=5, batch_size=8,
        learning_rate=0.003, device="cpu",
    )  # fmt: skip
    learner = NetworkLearner(options, Run(0, folder))
    learner.fit(tiny_examples(), tiny_examples(20, seed=1), Method())
    return folder / "seed-0/model"


def judge(trained: Path, images: Examples, names: list[str], **options: Any) -> list[Judgement]:
    opened = FILTERS.open("confidence", {"model": str(trained), "device": "cpu", **options})
    made = [GeneratedImage(image) for image in images.read(np.arange(len(images)))]
    requests = [ImageRequest("q", name, (), "", at) for at, name in enumerate(names)]
    return opened.judge(requests, made)


def test_thresholds_are_means_of_held_out_images(trained: Path) -> None:
    """And a class's images above it are easy, those of the other class wrong."""
    images = tiny_examples(30, seed=3)
    own = [images.classes[label] for label in images.labels]
    found = judge(trained, images, own)
    confidence = json.loads((trained / "config.json").read_text())["confidence"]
    assert set(confidence) == {"red", "blue"}
    assert all(0.5 < value < 1 for value in confidence.values())
    for judgement, name in zip(found, own, strict=True):
        assert judgement.accepted == (judgement.details["confidence"] <= confidence[name])
        if judgement.details["predicted"] == name:
            assert judgement.score == judgement.details["confidence"]
            assert judgement.accepted or "is easy" in judgement.reason
    assert {judgement.accepted for judgement in found} == {True, False}
    other = [images.classes[1 - label] for label in images.labels]
    wrong = judge(trained, images, other, threshold=0.5)
    assert sum("does not look like its class" in one.reason for one in wrong) > 25
    assert not any(one.accepted for one in wrong)
    assert all(one.accepted for one in judge(trained, images, own, threshold=1))


def test_unknown_class_is_rejected(trained: Path) -> None:
    (found,) = judge(trained, tiny_examples(1), ["green"])
    assert not found.accepted
    assert "does not know 'green': its classes are red, blue" in found.reason


def test_a_probability_that_is_no_number_is_rejected(trained: Path) -> None:
    opened = FILTERS.open("confidence", {"model": str(trained), "device": "cpu"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(opened.classifier), "predict", lambda *_: np.full((1, 2), np.nan))
        (found,) = opened.judge(
            [ImageRequest("q", "red", (), "", 0)],
            [GeneratedImage(tiny_examples(1).read(np.arange(1))[0])],
        )
    assert not found.accepted


def test_describes_the_classifier(trained: Path) -> None:
    described = FILTERS.open("confidence", {"model": str(trained), "device": "cpu"}).describe()
    assert described["filter"] == "confidence"
    assert described["weights_sha256"]
    json.dumps(described)


def test_refusals(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match="Train one without generated images"):
        FILTERS.open("confidence", {})
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes((trained / name).read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "confidence": None}))
    with pytest.raises(JobBlockedError, match="give the filter a threshold"):
        FILTERS.open("confidence", {"model": str(tmp_path)})
    (tmp_path / "config.json").write_text(json.dumps({**config, "multi_label": True}))
    with pytest.raises(JobBlockedError, match="predicts several classes an image"):
        FILTERS.open("confidence", {"model": str(tmp_path)})


def test_alia_is_a_recipe() -> None:
    settings = read_job_settings({"recipe": "alia"})
    assert settings.backend == "instruct"
    filters = RECIPES["alia"].filters
    assert list(filters)[-1] == "confidence"
    for name, options in filters.items():
        FILTERS.check(name, options)
