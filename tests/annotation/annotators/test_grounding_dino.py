"""Grounding DINO: which tokens are whose, and which names share a prompt."""

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import (
    GroundingDinoForObjectDetection,
    GroundingDinoImageProcessorPil,
    MMGroundingDinoForObjectDetection,
)

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.annotation.annotators.grounding_dino import GroundingDetector, open_annotator
from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.vision.models.options import GroundingOptions
from tests.generation.filters.making import noise
from tests.tiny.scorers import (
    bert_tokenizer,
    save_blip_itm,
    save_grounding_dino,
    save_mm_grounding_dino,
)

NAMES = ["cow", "fire hydrant", "ocean", "a red dog"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_grounding_dino(tmp_path_factory.mktemp("grounding"))


def detector(model: Path, **options: object) -> GroundingDetector:
    opened = open_annotator(GroundingOptions(model=str(model), **options)).detector
    assert isinstance(opened, GroundingDetector)
    return opened


def test_without_another_model_llmdet_is_taken_at_a_fixed_commit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def find(model: str, revision: str | None, offline: bool) -> NoReturn:
        asked.append((model, revision))
        raise JobBlockedError("not here")

    monkeypatch.setattr("cobalance.annotation.annotators.grounding_dino.find_checkpoint", find)
    for options in ({}, {"model": "a/b"}, {"model": "a/b", "revision": "c"}, {"revision": "c"}):
        with pytest.raises(JobBlockedError):
            open_annotator(GroundingOptions(**options))
    default = "iSEE-Laboratory/llmdet_tiny"
    pinned = "d05199165a19320a9236396e20fca0a5e065189c"
    assert asked == [(default, pinned), ("a/b", None), ("a/b", "c"), (default, "c")]


@pytest.mark.parametrize("mm", [False, True], ids=["original", "mm"])
def test_a_score_is_the_mean_over_the_names_own_tokens(tmp_path: Path, mm: bool) -> None:
    """As the library scores the tokens of the names with a full stop after each."""
    save: Callable[[Path], Path] = save_mm_grounding_dino if mm else save_grounding_dino
    folder, image = save(tmp_path / "model"), noise(0, 40, 70)
    prompt = "a red dog. cow. fire hydrant. ocean."
    tokens = bert_tokenizer()(prompt, return_offsets_mapping=True, return_tensors="pt")
    pixels = GroundingDinoImageProcessorPil.from_pretrained(folder)(
        images=Image.fromarray(image), return_tensors="pt"
    )["pixel_values"]
    kind = MMGroundingDinoForObjectDetection if mm else GroundingDinoForObjectDetection
    with torch.inference_mode():
        output = kind.from_pretrained(folder).eval()(
            pixel_values=pixels,
            input_ids=tokens["input_ids"],
            attention_mask=tokens["attention_mask"],
        )
    by_token = torch.sigmoid(output.logits)[0].numpy()
    offsets = tokens["offset_mapping"][0].tolist()
    matrix, boxes = detector(folder).best([image], NAMES)
    for column, name in enumerate(NAMES):
        start = prompt.index(name)
        own = [
            at for at, (low, high) in enumerate(offsets) if start <= low < high <= start + len(name)
        ]
        assert len(own) >= len(name.split())
        scores = by_token[:, own].mean(axis=1)
        x, y, w, h = output.pred_boxes[0, int(scores.argmax())].tolist()
        low = np.clip([(x - w / 2) * 70, (y - h / 2) * 40], 0, [70, 40])
        high = np.clip([(x + w / 2) * 70, (y + h / 2) * 40], 0, [70, 40])
        assert matrix[0, column] == pytest.approx(float(scores.max()), abs=2e-6)
        assert boxes[0, column] == pytest.approx([*low, *(high - low)], abs=1e-3)


def test_names_of_a_prompt_change_each_other_whatever_their_order(model: Path) -> None:
    """So the vocabulary alone says which names stood together, and that is told."""
    images = [noise(0), noise(1)]
    together = detector(model)
    scores = together.best_scores(images, NAMES)
    assert together.describe()["chunks"] == [["a red dog", "cow", "fire hydrant", "ocean"]]
    order = [2, 0, 3, 1]
    assert detector(model).best_scores(images, [NAMES[at] for at in order]) == pytest.approx(
        scores[:, order], abs=2e-6
    )
    single = detector(model, alone=True)
    apart = single.best_scores(images, NAMES)
    assert np.abs(apart - scores).max() > 1e-4
    assert single.describe()["chunks"] == [["a red dog"], ["cow"], ["fire hydrant"], ["ocean"]]
    assert single.describe()["settings"]["alone"] is True


def test_large_vocabularies_are_cut_and_images_encoded_once(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No prompt is longer than the limit: first and last token, and a full stop after each name."""
    one = detector(model, chunk_tokens=16)
    names = [*NAMES, *(f"red {letter}" for letter in "bcdefghijk")]
    chunks = one.chunks(names)
    assert sorted(name for chunk in chunks for name, _ in chunk) == sorted(names)
    assert all(2 + sum(len(ids) + 1 for _, ids in chunk) <= 16 for chunk in chunks)
    assert len(chunks) >= 4
    looked: list[int] = []
    encoder = one.vision.model.model.backbone.conv_encoder.model
    forward = encoder.forward

    def count(pixels: torch.Tensor, **options: object) -> object:
        looked.append(len(pixels))
        return forward(pixels, **options)

    monkeypatch.setattr(encoder, "forward", count)
    sizes = [noise(0), noise(1), noise(2, 32, 32)]
    assert one.best_scores(sizes, names).shape == (3, len(names))
    assert looked == [2, 1]  # images of one size together


def test_hostile_names(model: Path) -> None:
    """What ends a name to the model is left out of it; the same words are one name."""
    texts = ["cow", "Cow.", "c?o.w", "", "?!.", "ocean " * 300, ". cow"]
    matrix, boxes = detector(model).best([noise()], texts)
    assert matrix[0, 0] == matrix[0, 1] == matrix[0, 6] > 0
    assert matrix[0, 3] == 0
    assert np.isnan(boxes[0, 3]).all()
    assert np.isfinite(matrix).all()
    assert detector(model).detect([noise()], []) == [[]]


def test_models_and_limits_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(JobBlockedError, match="is a blip, not a Grounding DINO"):
        detector(save_blip_itm(tmp_path / "blip"))
    with pytest.raises(OptionError, match="chunk_tokens"):
        ANNOTATORS.check("grounding-dino", {"chunk_tokens": 300})
