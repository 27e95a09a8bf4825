"""Candidates with planted errors, on procedural scenes: each score finds its own kind.

Scenes come from the backend without a model, so that pixels are real and repeatable. The detector
is one of our own, which finds a concept where the backend has painted it: a model with random
weights would find nothing in particular.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobalance.generation.backends import BACKENDS
from cobalance.generation.filters import FILTERS
from cobalance.generation.image_request import GeneratedImage, ImageRequest, SourceImage
from cobalance.generation.ranking import rank_candidates
from cobalance.vision.models.detector import Detector
from tests.generation.filters.making import Pixels
from tests.tiny.vision import save_owlv2

CONCEPTS = ("beach", "boat", "cow")
SIZE = {"width_px": 96, "height_px": 80}
SOURCES = range(6)

ERRORS = ("none", "object added", "colours shifted", "object lost", "both")


def paint(concepts: Sequence[str], seed: int) -> GeneratedImage:
    backend = BACKENDS.open("procedural", SIZE)
    asked = ImageRequest("j/0/0", "landbird", tuple(concepts), "", seed)
    return backend.generate([asked])[0]


def another_person(image: Pixels, mask: np.ndarray, seed: int) -> Pixels:
    """The object painted anew, in nearly its colours."""
    noise = np.random.default_rng(seed).integers(-9, 10, image.shape)
    changed = (image + noise).clip(0, 255).astype(np.uint8)
    edited: Pixels = np.where(mask[..., np.newaxis], changed, image)
    return edited


def shifted(image: Pixels, mask: np.ndarray) -> Pixels:
    """The object in another tint."""
    tint = np.where(mask[..., np.newaxis], np.array([70, -50, 40]), 0)
    return (image + tint).clip(0, 255).astype(np.uint8)


STAMP = np.random.default_rng(5).integers(0, 256, (12, 12, 3)).astype(np.uint8)
"""What an added object looks like; the detector knows it by its pixels."""


def stamped(image: Pixels) -> Pixels:
    edited = image.copy()
    edited[-12:, -12:] = STAMP
    return edited


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_owlv2(tmp_path_factory.mktemp("owlv2"))


@pytest.fixture
def scored(model: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Scores of each kind of candidate for one source, in the order of ERRORS."""
    marked: dict[bytes, bool] = {}

    def best(_: Detector, images: Sequence[Pixels], names: Sequence[str]) -> np.ndarray:
        rows = []
        for image in images:
            there = {"cow": marked[image.tobytes()], "beach": True}
            there["boat"] = bool((image[-12:, -12:] == STAMP).all())
            rows.append([0.9 * there[name] for name in names])
        return np.array(rows, dtype=np.float32)

    monkeypatch.setattr(Detector, "best_scores", best)

    def score(seed: int) -> np.ndarray:
        with_cow, without = paint(("beach", "cow"), seed), paint(("beach",), seed)
        mask = with_cow.mask
        assert mask is not None
        source = SourceImage(str(seed), "", with_cow.image, mask)
        clean = another_person(with_cow.image, mask, seed)
        images = {
            "none": clean,
            "object added": stamped(clean),
            "colours shifted": shifted(clean, mask),
            "object lost": another_person(without.image, without.mask, seed),
            "both": shifted(stamped(clean), mask),
        }
        assert list(images) == list(ERRORS)
        for name, image in images.items():
            marked[image.tobytes()] = name != "object lost"
        marked[source.image.tobytes()] = True
        requests = [
            ImageRequest(f"j/0/{at}", "woman", ("beach", "cow"), "", at, source)
            for at in range(len(images))
        ]
        made = [GeneratedImage(image) for image in images.values()]
        objects = FILTERS.open("same_objects", {"model": str(model), "vocabulary": CONCEPTS})
        colours = FILTERS.open("same_colours")
        judged = [part.judge(requests, made) for part in (objects, colours)]
        assert all(one.accepted for part in judged for one in part)
        return np.array([[one.score for one in part] for part in judged]).T

    return score


@pytest.mark.parametrize("seed", SOURCES)
def test_each_score_orders_candidates_as_constructed(scored: Any, seed: int) -> None:
    objects, colours = (dict(zip(ERRORS, column, strict=True)) for column in scored(seed).T)
    assert objects["none"] == objects["colours shifted"] == 1.0
    assert objects["object added"] == objects["both"] == 2 * 2 / (3 + 2)
    assert objects["object lost"] == 2 * 1 / (1 + 2)
    assert colours["none"] == max(colours.values())
    assert colours["none"] > colours["object added"] > colours["both"]
    assert colours["none"] > colours["colours shifted"] > colours["both"]


@pytest.mark.parametrize("seed", SOURCES)
def test_the_one_without_errors_wins(scored: Any, seed: int) -> None:
    scores = scored(seed)
    for order in (np.arange(5), np.arange(5)[::-1], np.random.default_rng(seed).permutation(5)):
        winner = rank_candidates(scores[order], [1, 1])[0]
        assert ERRORS[order[winner]] == "none"
