"""SigLIP's probabilities against the library's own pass."""

from pathlib import Path

import pytest
import torch
from PIL import Image
from transformers import AutoTokenizer, SiglipImageProcessorPil, SiglipModel

from cobalance.annotation.annotators.siglip2 import open_annotator
from cobalance.vision.models.options import Siglip2Options
from tests.generation.filters.making import noise
from tests.tiny.scorers import save_siglip2


def test_the_librarys_sigmoids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Capitals do not matter, and a text is encoded once however many images follow."""
    folder = save_siglip2(tmp_path / "model")
    images, texts = [noise(0), noise(1, 30, 40)], ["Cow", "a red fire hydrant", "?"]
    opened = open_annotator(Siglip2Options(model=str(folder)))
    scores = opened.scores(images, texts)
    tokens = AutoTokenizer.from_pretrained(folder)(
        [text.lower() for text in texts],
        padding="max_length",
        padding_side="right",
        max_length=24,
        return_tensors="pt",
    )
    pixels = SiglipImageProcessorPil.from_pretrained(folder)(
        images=[Image.fromarray(image) for image in images], return_tensors="pt"
    )
    with torch.inference_mode():
        output = SiglipModel.from_pretrained(folder).eval()(input_ids=tokens["input_ids"], **pixels)
    assert scores == pytest.approx(torch.sigmoid(output.logits_per_image).numpy(), abs=2e-6)
    monkeypatch.setattr(opened.vision.model, "get_text_features", None)
    assert opened.scores(images, texts).tolist() == scores.tolist()
