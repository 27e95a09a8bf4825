"""Concepts in captions that a model writes, with a tiny random Florence-2 and Qwen3-VL."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from PIL import Image
from transformers import AutoProcessor, Florence2ForConditionalGeneration

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.annotation.annotators.captions import CaptionAnnotator, find_phrases
from cobalance.vision.images.arrays import ImageArray
from tests.generation.filters.making import noise
from tests.tiny.conversation import save_florence2, save_qwen3_vl

IMAGES = [noise(0), noise(1, 37, 61), noise(2, 3, 90), noise(3, 1, 1), noise(4)]


class Said(CaptionAnnotator):
    """Has written captions before."""

    def __init__(self, *captions: str) -> None:
        self.said = list(captions)

    def captions(self, images: Sequence[ImageArray]) -> list[str]:
        return self.said[: len(images)]

    def describe_model(self) -> dict[str, Any]:
        return {"model": "tiny"}


@pytest.mark.parametrize("save", [save_florence2, save_qwen3_vl], ids=["florence2", "qwen3-vl"])
def test_captions_depend_on_no_other_image(save: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = save(tmp_path / "model")
    options = {"model": str(folder), "max_tokens": 6, "prompt": "<CAPTION>"}
    alone, batches = (
        ANNOTATORS.open("captions", {**options, "batch_size": size}) for size in (1, 4)
    )
    assert isinstance(alone, CaptionAnnotator)
    assert isinstance(batches, CaptionAnnotator)
    captions = alone.captions(IMAGES)
    assert len(set(captions)) > 1
    assert batches.captions(IMAGES) == captions
    assert batches.captions(IMAGES[::-1]) == captions[::-1]
    described = alone.describe()
    assert described["settings"] == {"prompt": "<CAPTION>", "max_tokens": 6, "beams": 3}
    assert (described["annotator"], described["model"]) == ("captions", "model")
    assert alone.score([], ["cow"]).matrix.shape == (0, 1)


def test_the_librarys_caption(tmp_path: Path) -> None:
    folder = save_florence2(tmp_path / "model")
    processor = AutoProcessor.from_pretrained(folder, backend="pil")
    inputs = processor(text="<CAPTION>", images=Image.fromarray(IMAGES[0]), return_tensors="pt")
    model = Florence2ForConditionalGeneration.from_pretrained(folder).eval()
    with torch.inference_mode():
        tokens = model.generate(**inputs, max_new_tokens=6, num_beams=1, do_sample=False)
    expected = processor.tokenizer.decode(tokens[0], skip_special_tokens=True)
    options = {"model": str(folder), "max_tokens": 6, "prompt": "<CAPTION>", "beams": 1}
    annotator = ANNOTATORS.open("captions", options)
    assert isinstance(annotator, CaptionAnnotator)
    assert annotator.captions(IMAGES[:1]) == [" ".join(expected.split())]


def test_concepts_are_words_of_the_caption() -> None:
    annotator = Said("Two red Cows under palm trees.", "A hat-stand", "")
    vocabulary = ["cow", "palm tree", "tree", "fire_hydrant", "hat_stand", "red"]
    found = annotator.annotate([noise(), noise(), noise()], vocabulary)
    assert [[one.concept for one in row] for row in found] == [
        ["cow", "palm tree", "red"],
        ["hat_stand"],
        [],
    ]
    assert {(one.source, one.score) for row in found for one in row} == {("tiny", None)}
    texts = ["a photo of a cow", "an image of the palm tree", "photo of tree", "Red", "?"]
    assert annotator.score([noise()], texts).matrix.tolist() == [[1, 1, 0, 1, 0]]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from("abcd"), max_size=8), st.lists(st.sampled_from("abcde")))
def test_single_words_are_found_as_by_looking_at_each(words: list[str], names: list[str]) -> None:
    expected = np.array([[name in words for name in names]], dtype=bool).reshape(1, -1)
    assert find_phrases([" ".join(words).upper()], names).tolist() == expected.tolist()
