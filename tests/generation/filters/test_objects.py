"""What a detector must find: by scores of our own, and with a tiny random OWLv2."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.filter import Judgement
from cobalance.generation.image_request import GeneratedImage
from cobalance.vision.models.detector import Detector
from tests.generation.filters.making import noise, request
from tests.tiny.vision import save_owlv2

SCORES = {"beach": 0.5, "ocean": 0.25, "landbird": 0.75, "bird": 0.05, "boat": 0.2, "cow": 0.05}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_owlv2(tmp_path_factory.mktemp("owlv2"))


@pytest.fixture
def fixed(model: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Judge one image in which the detector has SCORES."""

    def best(_: Detector, images: Sequence[np.ndarray], names: Sequence[str]) -> np.ndarray:
        row = [SCORES[name] for name in names]
        return np.array([row] * len(images), dtype=np.float32)

    monkeypatch.setattr(Detector, "best_scores", best)

    def judge(concepts: tuple[str, ...] = ("beach", "ocean"), **options: object) -> Judgement:
        objects = FILTERS.open("objects", {"model": str(model), **options})
        return objects.judge([request(concepts=concepts)], [GeneratedImage(noise())])[0]

    return judge


def test_all_that_was_asked_for_is_there(fixed: Any) -> None:
    found = fixed()
    assert (found.score, found.accepted, found.reason) == (0.25, True, "")
    assert found.details == {
        "found": {"beach": 0.5, "ocean": 0.25},
        "missing": [],
        "unasked": {},
        "class": 0.75,
    }


def test_a_concept_is_missing(fixed: Any) -> None:
    found = fixed(threshold=0.3)
    assert (found.score, found.accepted) == (0.25, False)
    assert found.reason == "The detector does not find ocean (0.25)."
    assert found.details["missing"] == ["ocean"]


def test_the_class_is_missing(fixed: Any) -> None:
    found = fixed(class_text="bird")
    assert (found.score, found.accepted) == (0.25, False)
    assert found.reason == "The detector does not find bird (0.05)."
    assert fixed(class_text={"landbird": "bird"}).reason == found.reason
    assert fixed(class_text={"waterbird": "bird"}).accepted
    unchecked = fixed(class_text="bird", check_class=False)
    assert unchecked.accepted
    assert "class" not in unchecked.details


def test_what_nobody_asked_for_is_reported(fixed: Any) -> None:
    vocabulary = ["beach", "boat", "cow", "ocean", "landbird"]
    found = fixed(vocabulary=vocabulary)
    assert found.accepted
    assert found.details["unasked"] == pytest.approx({"boat": 0.2})
    strict = fixed(vocabulary=vocabulary, reject_unasked=True)
    assert not strict.accepted
    assert strict.reason == "It finds unrequested concepts: boat (0.20)."
    both = fixed(concepts=("cow",), vocabulary=vocabulary, reject_unasked=True)
    assert both.reason == (
        "The detector does not find cow (0.05). It finds unrequested concepts: beach (0.50), "
        "boat (0.20), and ocean (0.25)."
    )


def test_without_concepts_the_class_decides(fixed: Any) -> None:
    assert (fixed(concepts=()).score, fixed(concepts=()).accepted) == (1.0, True)
    assert not fixed(concepts=(), class_text="bird").accepted


def test_requests_of_a_batch_may_differ(model: Path) -> None:
    objects = FILTERS.open("objects", {"model": str(model), "vocabulary": ["cow"]})
    requests = [request(0, concepts=("beach",)), request(1, concepts=("ocean", "boat"))]
    made = [GeneratedImage(noise(0)), GeneratedImage(noise(1))]
    together = objects.judge(requests, made)
    scores = objects.detector.best_scores([one.image for one in made], ["beach", "ocean", "boat"])
    assert [one.score for one in together] == pytest.approx(
        [scores[0, 0], scores[1, 1:].min()], abs=2e-6
    )
    alone = [objects.judge([requests[i]], [made[i]])[0].score for i in range(2)]
    assert [one.score for one in together] == pytest.approx(alone, abs=2e-6)
    assert objects.judge([], []) == []


def test_description(model: Path) -> None:
    described = FILTERS.open("objects", {"model": str(model), "vocabulary": ["cow"]}).describe()
    assert described["filter"] == "objects"
    assert described["settings"] == {
        "threshold": 0.1,
        "overlap": 0.5,
        "query": "a photo of {concepts}",
        "check_class": True,
        "class_text": None,
        "vocabulary_sha256": hashlib.sha256(b"cow").hexdigest(),
        "reject_unasked": False,
    }


def test_options(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="The filter objects has no option 'classes'"):
        FILTERS.open("objects", {"classes": ["cow"]})
    with pytest.raises(OptionError, match="has no place for the concepts"):
        FILTERS.open("objects", {"query": "a photo"})
    with pytest.raises(JobBlockedError, match="no such folder"):
        FILTERS.open("objects", {"model": str(tmp_path / "nothing")})
