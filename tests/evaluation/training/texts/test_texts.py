"""Embeddings of texts: TF-IDF against a brute force, and a tiny random CLIP."""

import math

import numpy as np
import pytest

from cobalance.base.errors import DataError, UnknownNameError
from cobalance.evaluation.training.texts import TEXT_FEATURES

TEXTS = ["A dog skis on snow", "a dog", "Pizza on the table; pizza!", "the"]


def tfidf(texts, stop=("on", "the")):
    """Counts times log((1 + n) / (1 + df)) + 1, of length 1, as scikit-learn's guide has it."""
    said = [
        [word for word in text.lower().replace(";", "").replace("!", "").split() if len(word) > 1]
        for text in texts
    ]
    words = sorted({word for each in said for word in each} - set(stop))
    rows = []
    for each in said:
        row = [
            each.count(word)
            * (math.log((1 + len(said)) / (1 + sum(word in one for one in said))) + 1)
            for word in words
        ]
        length = math.hypot(*row) or 1
        rows.append([value / length for value in row])
    return np.array(rows)


def test_tfidf_of_few_words_is_as_it_is():
    found = TEXT_FEATURES.open("tfidf").read(TEXTS, 0)
    assert found == pytest.approx(tfidf(TEXTS))
    assert found[3].tolist() == [0] * 5


def test_more_words_are_reduced_along_their_largest_directions():
    found = TEXT_FEATURES.open("tfidf", {"components": 2}).read(TEXTS, 0)
    left, sizes, _ = np.linalg.svd(tfidf(TEXTS))
    expected = left[:, :2] * sizes[:2]
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    expected = expected / np.where(lengths > 1e-9, lengths, 1)
    assert found @ found.T == pytest.approx(expected @ expected.T, abs=1e-6)


def test_texts_without_words_and_unknown_names_are_refused():
    with pytest.raises(DataError, match="2 texts have no words"):
        TEXT_FEATURES.open("tfidf").read(["the", "?"], 0)
    with pytest.raises(UnknownNameError, match="Known: clip, tfidf"):
        TEXT_FEATURES.open("bert")


def test_clip_embeds_texts(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from transformers import CLIPModel, CLIPTokenizer

    from tests.tiny.vision import save_clip

    folder = save_clip(tmp_path)
    options = {"model": str(folder), "device": "cpu", "batch_size": 2}
    texts = ["a photo of a dog", "sky", "a photo"]
    found = TEXT_FEATURES.open("clip", options).read(texts, 0)
    model, tokens = CLIPModel.from_pretrained(folder).eval(), CLIPTokenizer.from_pretrained(folder)
    for text, row in zip(texts, found, strict=True):
        with torch.inference_mode():
            expected = model.get_text_features(**tokens(text, return_tensors="pt")).pooler_output[0]
        expected = expected.double().numpy()
        assert row == pytest.approx(expected / np.linalg.norm(expected), abs=1e-5)
