"""The safety checker, with the real code and tiny random weights under the published names."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker
from safetensors import safe_open

from cobalance.base.errors import JobBlockedError, OptionError, OutOfMemoryError
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.safety import SAFETY_REVISION, SafetyOptions
from cobalance.generation.image_request import GeneratedImage
from tests.generation.filters.making import noise, request
from tests.tiny.vision import save_clip, save_safety


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_safety(tmp_path_factory.mktemp("checker"))


@pytest.fixture
def images() -> list[np.ndarray]:
    colours = np.random.default_rng(0).integers(0, 256, (8, 3), dtype=np.uint8)
    return [noise(seed) for seed in range(4)] + [np.tile(one, (32, 32, 1)) for one in colours]


def open_safety(model: Path, **options: object) -> Any:
    return FILTERS.open("safety", {"model": str(model), **options})


def is_flagged(image: np.ndarray, safety: Any) -> bool:
    """The checker's rule, from the tensors in the file and the embedding of the image."""
    with safe_open(safety.vision.checkpoint.folder / "model.safetensors", "numpy") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    model = safety.vision.model
    with torch.inference_mode():
        pooled = model.vision_model(safety.vision.pixels([image])).pooler_output[0].numpy()
    embedding = tensors["visual_projection.weight"] @ pooled

    def excess(concepts: str) -> np.ndarray:
        directions = tensors[concepts]
        lengths = np.linalg.norm(directions, axis=1) * np.linalg.norm(embedding)
        return directions @ embedding / lengths - tensors[f"{concepts}_weights"]

    care = (excess("special_care_embeds").round(3) > 0).any()
    return bool(((excess("concept_embeds") + 0.01 * care).round(3) > 0).any())


def test_flags_are_those_of_the_checker(model: Path, images: list[np.ndarray]) -> None:
    safety = open_safety(model)
    found = safety.judge(
        [request(i) for i in range(12)], [GeneratedImage(image) for image in images]
    )
    expected = [is_flagged(image, safety) for image in images]
    assert 0 < sum(expected) < 12
    assert [not one.accepted for one in found] == expected
    assert [one.score for one in found] == [1.0 - flag for flag in expected]
    rejected = next(one for one in found if not one.accepted)
    assert rejected.reason == "The safety checker flags the image."


def test_nothing_is_blackened_or_logged(
    model: Path, images: list[np.ndarray], caplog: pytest.LogCaptureFixture
) -> None:
    before = [image.copy() for image in images]
    logger = logging.getLogger(StableDiffusionSafetyChecker.__module__)
    logger.addHandler(caplog.handler)  # loggers of diffusers tell the root logger nothing
    try:
        open_safety(model).judge([request()] * 12, [GeneratedImage(image) for image in images])
    finally:
        logger.removeHandler(caplog.handler)
    assert all(map(np.array_equal, images, before))
    assert not caplog.records


def test_a_batch_is_judged_as_its_images_alone(model: Path, images: list[np.ndarray]) -> None:
    safety = open_safety(model, batch_size=5)
    requests = [request(i) for i in range(12)]
    together = safety.judge(requests, [GeneratedImage(image) for image in images])
    alone = [safety.judge([request()], [GeneratedImage(image)])[0] for image in images]
    assert together == alone


def test_the_checker_of_a_pipeline(tmp_path: Path, images: list[np.ndarray]) -> None:
    save_safety(tmp_path / "safety_checker")
    (tmp_path / "feature_extractor").mkdir()
    file = "preprocessor_config.json"
    (tmp_path / "safety_checker" / file).rename(tmp_path / "feature_extractor" / file)
    found = open_safety(tmp_path / "safety_checker").judge([request()], [GeneratedImage(images[0])])
    assert len(found) == 1


def test_the_weights_must_be_a_checkers(tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match="not a complete StableDiffusionSafetyChecker"):
        open_safety(save_clip(tmp_path))


def test_a_pickle_is_refused(tmp_path: Path) -> None:
    folder = save_safety(tmp_path / "checker")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(JobBlockedError, match="pickles"):
        open_safety(folder)


def test_a_missing_model(tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match="no such folder"):
        open_safety(tmp_path / "nothing")


def test_memory(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    safety = open_safety(model)

    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(safety.vision.model, "forward", fail)
    with pytest.raises(OutOfMemoryError, match="the safety checker on 1 images"):
        safety.judge([request()], [GeneratedImage(noise())])


def test_options() -> None:
    assert SafetyOptions().revision_or(SAFETY_REVISION) == SAFETY_REVISION
    with pytest.raises(OptionError, match="The filter safety has no option 'threshold'"):
        FILTERS.open("safety", {"threshold": 1})


def test_description(model: Path) -> None:
    assert set(open_safety(model).describe()["software"]) > {"diffusers", "transformers"}
