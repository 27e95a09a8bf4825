"""The detector, with the real code and a tiny random OWLv2."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import (
    CLIPTokenizer,
    Owlv2ForObjectDetection,
    Owlv2ImageProcessorPil,
    Owlv2Processor,
)

from cobalance.base.errors import JobBlockedError, OutOfMemoryError
from cobalance.vision.models.detector import Detector, open_detector, suppress_overlaps
from cobalance.vision.models.options import DetectorOptions
from tests.generation.filters.making import noise
from tests.tiny.vision import save_clip, save_owlv2

NAMES = ("cow", "fire_hydrant", "ocean")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_owlv2(tmp_path_factory.mktemp("owlv2"))


def detector(model: Path, **options: object) -> Detector:
    return open_detector(DetectorOptions(model=str(model), **options))


def by_the_library(
    model: Path, image: np.ndarray, text: str, threshold: float
) -> list[tuple[float, tuple[float, ...]]]:
    """Scores and corners from the library's own pipeline for one text, the surest first."""
    processor = Owlv2Processor(
        Owlv2ImageProcessorPil.from_pretrained(model), CLIPTokenizer.from_pretrained(model)
    )
    inputs = processor(text=[[text]], images=Image.fromarray(image), return_tensors="pt")
    with torch.inference_mode():
        output = Owlv2ForObjectDetection.from_pretrained(model).eval()(**inputs)
    found = processor.post_process_grounded_object_detection(
        output, threshold=threshold, target_sizes=[image.shape[:2]], text_labels=[[text]]
    )[0]
    pairs = zip(found["scores"].tolist(), map(tuple, found["boxes"].tolist()), strict=True)
    return sorted(pairs, key=lambda pair: -pair[0])


def test_boxes_are_the_librarys_cut_at_the_edge(model: Path) -> None:
    image = noise(1, 64, 64)
    found = detector(model, overlap=1, threshold=0.3).detect([image], NAMES)[0]
    texts = ("a photo of a cow", "a photo of a fire hydrant", "a photo of an ocean")
    for name, text in zip(NAMES, texts, strict=True):
        expected = [
            (score, tuple(min(max(side, 0), 64) for side in box))
            for score, box in by_the_library(model, image, text, 0.3)
            if (box[0] + box[2]) / 2 <= 64 and (box[1] + box[3]) / 2 <= 64
        ]
        own = [one for one in found if one.concept == name]
        assert len(own) == len(expected) > 0
        for one, (score, (left, top, right, bottom)) in zip(own, expected, strict=True):
            assert one.score == pytest.approx(score, abs=2e-6)
            assert one.box == pytest.approx((left, top, right - left, bottom - top), abs=1e-4)


def test_boxes_stay_in_images_of_any_shape(model: Path) -> None:
    images = [noise(0, 32, 64), noise(1, 64, 32), noise(2, 50, 50)]
    for image, found in zip(
        images, detector(model, threshold=0).detect(images, NAMES), strict=True
    ):
        height, width = image.shape[:2]
        for one in found:
            left, top, w, h = one.box
            assert 0 <= left <= left + w <= width + 1e-4
            assert 0 <= top <= top + h <= height + 1e-4


def test_other_names_change_no_score(model: Path) -> None:
    """Nor does the order, whether in one call or later."""
    images = [noise(0), noise(1)]
    one = detector(model)
    all_scores = one.best_scores(images, NAMES)
    many = [f"thing {chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(100)]
    again = detector(model).best_scores(images, ["ocean", *many, "cow"])
    assert all_scores[:, 2] == pytest.approx(again[:, 0], abs=2e-6)
    assert all_scores[:, 0] == pytest.approx(again[:, -1], abs=2e-6)
    twice = one.best_scores(images, ["cow", "cow"])
    assert twice[:, 0].tolist() == twice[:, 1].tolist()


def test_the_best_score_is_that_of_the_surest_box(model: Path) -> None:
    images = [noise(i) for i in range(3)]
    one = detector(model, threshold=0)
    for scores, found in zip(
        one.best_scores(images, NAMES), one.detect(images, NAMES), strict=True
    ):
        best = [max(d.score for d in found if d.concept == name) for name in NAMES]
        assert best == pytest.approx(scores.tolist())


def test_a_batch_scores_as_its_images_alone(model: Path) -> None:
    images = [noise(i) for i in range(4)]
    together = detector(model, batch_size=4).best_scores(images, NAMES)
    alone = detector(model, batch_size=1).best_scores(images, NAMES)
    assert together == pytest.approx(alone, abs=2e-6)


def test_of_overlapping_boxes_the_surest_stays() -> None:
    boxes = np.array(
        [[0, 0, 10, 10], [0, 0, 10, 9], [0, 0, 10, 5.1], [0, 0, 10, 4.9], [20, 20, 30, 30]],
        dtype=np.float32,
    )
    scores = np.array([0.7, 0.9, 0.6, 0.55, 0.5], dtype=np.float32)
    # 1 is the surest; 0 overlaps it by 0.9, 2 by 0.57, 3 by 0.54, and 4 not at all
    assert suppress_overlaps(scores, boxes, 0.5, 0.5) == [1, 4]
    scores[1] = 0.49  # below the threshold; 0 and 2 overlap by 0.51, 0 and 3 by 0.49
    assert suppress_overlaps(scores, boxes, 0.5, 0.5) == [0, 3, 4]


def test_without_names_or_images(model: Path) -> None:
    one = detector(model)
    assert one.detect([noise()], []) == [[]]
    assert one.detect([], NAMES) == []
    assert one.best_scores([], NAMES).shape == (0, 3)
    assert one.best_scores([noise()], []).shape == (1, 0)


def test_each_text_is_encoded_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = detector(model)
    first = one.best_scores([noise()], NAMES)
    monkeypatch.setattr(one.vision.model.owlv2, "get_text_features", None)
    assert one.best_scores([noise()], NAMES).tolist() == first.tolist()


def test_memory(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = detector(model)

    def fail(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(one.vision.model, "image_embedder", fail)
    with pytest.raises(OutOfMemoryError, match="the detector on 4 images"):
        one.detect([noise(i) for i in range(6)], NAMES)


def test_models_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match="no such folder"):
        detector(tmp_path / "nothing")
    with pytest.raises(JobBlockedError):
        detector(save_clip(tmp_path / "clip"))


def test_a_model_that_goes_away_once_it_is_loaded(model: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(model, tmp_path / "model"))
    one = detector(folder)
    shutil.rmtree(folder)
    described = one.describe()
    assert (described["model"], len(described["weights_sha256"])) == ("model", 64)
    assert one.best_scores([noise()], NAMES).shape == (1, 3)
