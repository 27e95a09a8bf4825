"""Contract of the annotators that score texts, with tiny random models in the real code."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.annotation.annotators.annotator import Annotator
from tests.generation.filters.making import noise
from tests.tiny.conversation import save_gemma4, save_qwen3_vl
from tests.tiny.scorers import (
    save_blip_itm,
    save_grounding_dino,
    save_mm_grounding_dino,
    save_siglip2,
)
from tests.tiny.vision import save_owlv2

FAMILIES: Mapping[str, tuple[str, Callable[[Path], Path], dict[str, Any]]] = {
    "owlv2": ("owlv2", save_owlv2, {}),
    "blip-itm": ("blip-itm", save_blip_itm, {}),
    "siglip2": ("siglip2", save_siglip2, {}),
    "grounding-dino": ("grounding-dino", save_grounding_dino, {"alone": True}),
    "mm-grounding-dino": ("grounding-dino", save_mm_grounding_dino, {"alone": True}),
    "vlm": ("vlm", save_qwen3_vl, {}),
    "gemma4": ("vlm", save_gemma4, {}),
}
TEXTS = ("a photo of a cow", "ocean", "a photo of a fire hydrant, red, a dog, a cat", "x")
GREY = np.repeat(noise(9, 48, 64)[..., :1], 3, axis=2)
IMAGES = (noise(0), noise(1, 37, 61), noise(2, 3, 90), GREY, noise(4, 1, 1), noise(5, 64, 33))


@pytest.fixture(scope="module", params=FAMILIES)
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Annotator]:
    """Open an annotator of the family with further options."""
    name, save, own = FAMILIES[request.param]
    folder = save(tmp_path_factory.mktemp("family") / "model")

    @cache
    def open_with(**options: Any) -> Annotator:
        return ANNOTATORS.open(name, {"model": str(folder), **own, **options})

    return open_with


def test_scores_depend_on_no_other_image(opened: Callable[..., Annotator]) -> None:
    """Nor on the batch or the order; images may be grey, thin or a single pixel."""
    alone = opened(batch_size=1).score(IMAGES, TEXTS).matrix
    assert alone.dtype == np.float32
    assert alone.shape == (len(IMAGES), len(TEXTS))
    assert ((alone >= 0) & (alone <= 1)).all()
    assert len(np.unique(alone.round(5))) > len(IMAGES)
    batches = opened(batch_size=4)
    assert batches.score(IMAGES, TEXTS).matrix == pytest.approx(alone, abs=2e-6)
    order = [4, 2, 5, 0, 3, 1]
    permuted = batches.score([IMAGES[at] for at in order], TEXTS).matrix
    assert permuted == pytest.approx(alone[order], abs=2e-6)


def test_without_images_or_texts(opened: Callable[..., Annotator]) -> None:
    annotator = opened()
    assert annotator.score([], TEXTS).matrix.shape == (0, len(TEXTS))
    assert annotator.score(IMAGES[:2], []).matrix.shape == (2, 0)
    assert annotator.annotate(IMAGES[:2], []) == [[], []]


def test_mentions_are_the_scores_from_the_threshold_on(opened: Callable[..., Annotator]) -> None:
    names, query = ["cow", "fire_hydrant", "ocean"], "red {names}"
    texts = ["red cow", "red fire hydrant", "red ocean"]
    annotator = opened(threshold=0, query=query)
    matrix = annotator.score(IMAGES[:3], texts).matrix
    limit = float(np.median(matrix))
    found = opened(threshold=limit, query=query).annotate(IMAGES[:3], names)
    for row, mentions in zip(matrix, found, strict=True):
        best = {one.concept: one.score for one in reversed(mentions)}
        assert best == {
            name: pytest.approx(float(score), abs=2e-6)
            for name, score in zip(names, row, strict=True)
            if score >= limit
        }
        assert {one.source for one in mentions} <= {"model"}


def test_texts_do_not_change_each_other(opened: Callable[..., Annotator]) -> None:
    annotator = opened()
    together = annotator.score(IMAGES[:2], TEXTS).matrix
    for at, text in enumerate(TEXTS):
        single = annotator.score(IMAGES[:2], [text]).matrix
        assert single[:, 0] == pytest.approx(together[:, at], abs=2e-6)


def test_provenance(opened: Callable[..., Annotator]) -> None:
    described = opened(query="see {names}").describe()
    assert (described["model"], len(described["weights_sha256"])) == ("model", 64)
    assert described["settings"]["query"] == "see {names}"
    assert described["annotator"] in ANNOTATORS
