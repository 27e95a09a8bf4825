"""BLIP's matching head against the library's own pass."""

from pathlib import Path

import pytest
import torch
from PIL import Image
from transformers import BlipForImageTextRetrieval, BlipImageProcessorPil

from cobalance.annotation.annotators.blip_itm import open_annotator
from cobalance.vision.models.options import BlipItmOptions
from tests.generation.filters.making import noise
from tests.tiny.scorers import bert_tokenizer, save_blip_itm


def test_the_librarys_probability_of_a_match(tmp_path: Path) -> None:
    """Of texts of different lengths, which the library reads one by one, without padding."""
    folder = save_blip_itm(tmp_path / "model")
    texts = ["cow", "a photo of a red fire hydrant, a dog, a cat"]
    images = [noise(0), noise(1, 30, 40)]
    scores = open_annotator(BlipItmOptions(model=str(folder))).score(images, texts).matrix
    model = BlipForImageTextRetrieval.from_pretrained(folder).eval()
    look = BlipImageProcessorPil.from_pretrained(folder)
    for row, image in enumerate(images):
        pixels = look(images=Image.fromarray(image), return_tensors="pt")["pixel_values"]
        for column, text in enumerate(texts):
            ids = bert_tokenizer()(text, return_tensors="pt")["input_ids"]
            with torch.inference_mode():
                logits = model(input_ids=ids, pixel_values=pixels).itm_score
            expected = torch.softmax(logits, dim=-1)[0, 1].item()
            assert scores[row, column] == pytest.approx(expected, abs=2e-6)
