"""CLIPScore with a tiny random CLIP, and METEOR with a stand-in for its package."""

import math
import sys
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import CobalanceError, DataError
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.metrics.captions import PREFIX, caption_cosines, clip_score, meteor
from cobalance.evaluation.metrics.metric import Inputs
from cobalance.generation.filters import FILTERS
from cobalance.generation.image_request import GeneratedImage
from tests.evaluation.metrics.bias.scored import value
from tests.generation.filters.making import noise, request
from tests.tiny.vision import save_clip

METEOR = """
class Meteor:
    def compute_score(self, gts, res):
        assert gts.keys() == res.keys()
        assert all(len(one) == 1 for one in res.values())
        each = [max(len({*r.split()} & {*g.split()}) for g in gts[i]) for i in gts for r in res[i]]
        return 0.25, each
"""
TOKENIZER = """
class PTBTokenizer:
    def tokenize(self, captions):
        return {i: [one["caption"].lower().strip(".") for one in of] for i, of in captions.items()}
"""


@settings(max_examples=40)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=9))
def test_clip_score_is_the_mean_of_positive_cosines(cosines: list[float]) -> None:
    expected = sum(2.5 * max(one, 0) for one in cosines) / len(cosines)
    scores = clip_score(cosines)
    assert value(scores, "clip_score") == pytest.approx(expected)
    assert value(scores, "clip_score", column="n") == len(cosines)


def test_a_cosine_that_is_none_is_refused() -> None:
    with pytest.raises(DataError, match=r"cosines\[1\] is nan"):
        clip_score([0.2, math.nan])


def test_cosines_are_those_of_the_filter_with_the_prefix_of_the_authors(tmp_path: Path) -> None:
    model = str(save_clip(tmp_path))
    images = {f"{seed}.png": noise(seed) for seed in range(3)}
    captions = pd.DataFrame({"image": [*images, "0.png"]})
    captions["caption"] = ["a dog", "a red bus", "two horses", "a dog on the beach"]
    found = caption_cosines(captions, images.__getitem__, {"model": model})
    clip = FILTERS.open("clip", {"model": model, "threshold": None})
    judged = clip.judge(
        [request(i, prompt=PREFIX + text) for i, text in enumerate(captions["caption"])],
        [GeneratedImage(images[name]) for name in captions["image"]],
    )
    assert found == pytest.approx([one.details["cosine"] for one in judged], abs=2e-6)


def test_clip_score_of_embeddings() -> None:
    texts = pd.DataFrame({"image": ["b", "a", "a"], "x": [1.0, 0, 3], "y": [0.0, 1, 4]})
    images = pd.DataFrame({"image": ["a", "b"], "x": [1.0, -1], "y": [0.0, 0]})
    score = METRICS.open("clip_score")
    found = score(Inputs(texts=texts, embeddings=images))
    assert value(found, "clip_score") == pytest.approx(2.5 * (0 + 0 + 0.6) / 3)
    with pytest.raises(DataError, match="2 dimensions and embeddings 1"):
        score(Inputs(texts=texts, embeddings=images.drop(columns="y")))


@pytest.fixture
def pycocoevalcap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of that name with its two classes, and a program java."""
    for module, text in (("meteor/meteor", METEOR), ("tokenizer/ptbtokenizer", TOKENIZER)):
        path = tmp_path / "pycocoevalcap" / f"{module}.py"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\n")
    java.chmod(0o700)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PATH", str(java.parent))
    return java


def test_meteor_of_images_that_have_both(
    pycocoevalcap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captions = pd.DataFrame(
        {"image": ["a", "b", "c", "a"], "caption": ["A dog.", "two cats", "a cow", "left out"]}
    )
    references = pd.DataFrame(
        {"image": ["b", "a", "b", "d"], "caption": ["cats", "dog", "two cats.", None]}
    )
    scores = METRICS.open("meteor")(Inputs(captions=captions, references=references))
    assert value(scores, "meteor") == 0.25
    assert value(scores, "meteor_mean") == pytest.approx((1 + 2) / 2)
    assert value(scores, "meteor", column="n") == 2
    with pytest.raises(DataError, match="No image has a caption and a reference"):
        meteor(captions, references.tail(1))
    pycocoevalcap.unlink()
    with pytest.raises(CobalanceError, match="no java on the PATH"):
        meteor(captions, references)


def test_meteor_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycocoevalcap.meteor.meteor", None)
    both = pd.DataFrame({"image": ["a"], "caption": ["A dog"]})
    with pytest.raises(CobalanceError, match="pip install pycocoevalcap"):
        meteor(both, both)


def test_a_table_without_captions_says_so() -> None:
    table = pd.DataFrame({"image": ["a"], "words": ["A dog"]})
    with pytest.raises(DataError, match="captions have no column caption"):
        meteor(table, table)
