"""Objects of an image and its source: by a detector of our own, and with a tiny random OWLv2."""

import hashlib
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score

import cobalance.generation.filters.same_objects
from cobalance.base.errors import OptionError
from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.same_objects import f1_of_names
from cobalance.generation.image_request import GeneratedImage, SourceImage
from cobalance.vision.models.detector import Detector
from tests.generation.filters.making import Pixels, noise, object_mask, request
from tests.tiny.vision import save_owlv2

COLOURS = {"chair": (200, 30, 30), "dog": (30, 200, 30), "cup": (30, 30, 200), "kite": (90, 0, 90)}
"""Objects of scenes: squares of these colours, which a detector of our own knows."""

Judge = Callable[..., Any]


def scene(*names: str, size: tuple[int, int] = (48, 64), seed: int = 0) -> Pixels:
    """Grey noise with a square for each object."""
    rng = np.random.default_rng(seed)
    image = np.repeat(rng.integers(100, 140, (*size, 1)), 3, axis=2).astype(np.uint8)
    for at, name in enumerate(names):
        image[4 + 8 * at : 10 + 8 * at, 30:40] = COLOURS[name]
    return image


def source(*names: str, **options: Any) -> SourceImage:
    image = scene(*names, **options)
    return SourceImage("1", "1.jpg", image, object_mask(*image.shape[:2]))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_owlv2(tmp_path_factory.mktemp("owlv2"))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Pixels]:
    """The images that the detector looks at; it finds squares of its colours alone."""
    images: list[Pixels] = []

    def best(_: Detector, batch: Sequence[Pixels], names: Sequence[str]) -> np.ndarray:
        images.extend(batch)
        rows = [[0.9 * (image == COLOURS[name]).all(2).any() for name in names] for image in batch]
        return np.array(rows, dtype=np.float32).reshape(len(batch), len(names))

    monkeypatch.setattr(Detector, "best_scores", best)
    return images


@pytest.fixture
def opened(model: Path, seen: list[Pixels]) -> Judge:
    def open_objects(**options: object) -> Any:
        options = {"vocabulary": list(COLOURS), **options}
        return FILTERS.open("same_objects", {"model": str(model), **options})

    return open_objects


def test_candidates_score_as_their_objects_were_planted(opened: Judge) -> None:
    """The same, one added, lost or exchanged, all lost: scores that fall, by hand."""
    of = source("chair", "dog")
    planted = {
        ("chair", "dog"): 1.0,
        ("chair", "dog", "cup"): 2 * 2 / (3 + 2),
        ("chair",): 2 * 1 / (1 + 2),
        ("chair", "cup"): 2 * 1 / (2 + 2),
        ("cup", "kite"): 0.0,
        (): 0.0,
    }
    made = [GeneratedImage(scene(*names, seed=9)) for names in planted]
    found = opened().judge([request(i, source=of) for i in range(len(made))], made)
    assert [one.score for one in found] == list(planted.values())
    assert all(one.accepted for one in found)
    assert found[3].details == {"both": ["chair"], "lost": ["dog"], "added": ["cup"]}


def test_places_sizes_and_numbers_of_objects_do_not_count(opened: Judge) -> None:
    image = scene("dog", "chair", "dog", size=(80, 50))
    found = opened().judge([request(source=source("chair", "dog"))], [GeneratedImage(image)])
    assert found[0].score == 1.0


def test_nothing_in_either_is_the_same(opened: Judge) -> None:
    of = source()
    made = [GeneratedImage(scene(seed=2)), GeneratedImage(scene("cup"))]
    found = opened().judge([request(0, source=of), request(1, source=of)], made)
    assert [one.score for one in found] == [1.0, 0.0]
    nothing = opened(vocabulary=[]).judge([request(source=of)], made[1:])
    assert nothing[0].score == 1.0


def test_f1_as_scikit_learn_has_it() -> None:
    names = sorted(COLOURS)
    sets = [set(some) for n in range(len(names) + 1) for some in combinations(names, n)]
    for ours in sets:
        for theirs in sets:
            rows = [[name in one for name in names] for one in (ours, theirs)]
            expected = f1_score(rows[1], rows[0], zero_division=1.0)
            assert f1_of_names(ours, theirs) == pytest.approx(expected)


def test_the_detectors_threshold_decides(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_source, of_image = [0.3, 0.2499], [0.3, 0.25]
    calls = iter([of_source, of_image])

    def best(*_: object) -> np.ndarray:
        return np.array([next(calls)], dtype=np.float32)

    monkeypatch.setattr(Detector, "best_scores", best)
    options = {"model": str(model), "vocabulary": ["dog", "cup"], "threshold": 0.25}
    objects = FILTERS.open("same_objects", options)
    found = objects.judge([request(source=source())], [GeneratedImage(noise())])
    assert found[0].details == {"both": ["dog"], "lost": [], "added": ["cup"]}


def test_a_source_is_looked_at_once(opened: Judge, seen: list[Pixels]) -> None:
    objects = opened()
    of, other = source("chair"), source("dog")
    again = SourceImage("1", "1.jpg", of.image.copy(), of.mask)  # read anew in the next chunk
    for start in range(0, 30, 10):
        requests = [request(i, source=again) for i in range(start, start + 10)]
        objects.judge(requests, [GeneratedImage(scene("chair", seed=i)) for i in range(10)])
    objects.judge([request(31, source=other)], [GeneratedImage(scene("dog"))])
    assert len(seen) == 30 + 1 + 1 + 1


def test_an_image_that_is_another_under_the_same_id_is_looked_at(opened: Judge) -> None:
    objects = opened()
    made = [GeneratedImage(scene("chair"))]
    assert objects.judge([request(source=source("chair"))], made)[0].score == 1.0
    assert objects.judge([request(source=source("dog"))], made)[0].score == 0.0
    wide = SourceImage(
        "1", "1.jpg", source("chair").image.reshape(24, 128, 3), object_mask(24, 128)
    )
    assert objects.judge([request(source=wide)], made)[0].score == 1.0


def test_few_sources_are_remembered(
    opened: Judge, seen: list[Pixels], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cobalance.generation.filters.same_objects, "MAX_SOURCES", 2)
    objects = opened()

    def look(*seeds: int) -> int:
        before = len(seen)
        requests = [request(i, source=source("dog", seed=seed)) for i, seed in enumerate(seeds)]
        made = [GeneratedImage(scene("dog"))] * len(seeds)
        assert [one.score for one in objects.judge(requests, made)] == [1.0] * len(seeds)
        return len(seen) - before - len(seeds)

    assert look(1, 2, 3, 1) == 3  # more in a batch than are remembered
    assert look(3, 1) == 0
    assert look(4) == 1
    assert look(1) == 0
    assert look(3) == 1  # the one that was not used for longest


def test_a_limit_rejects_with_a_reason(opened: Judge) -> None:
    of = source("chair", "dog")
    made = [GeneratedImage(scene("chair", "cup", "kite")), GeneratedImage(scene("chair"))]
    found = opened(min_f1=0.6).judge([request(0, source=of), request(1, source=of)], made)
    assert [one.accepted for one in found] == [False, True]
    assert found[0].reason == (
        "The image does not show what its source shows: F1 is 0.400, less than 0.6; it has lost "
        "dog and added cup and kite."
    )


def test_a_source_is_needed(opened: Judge, seen: list[Pixels]) -> None:
    requests = [request(0), request(1, source=source("dog")), request(2)]
    found = opened().judge(requests, [GeneratedImage(scene("dog"))] * 3)
    assert [(one.score, one.accepted) for one in found] == [(0.0, False), (1.0, True), (0.0, False)]
    assert found[0].reason.startswith("There is no source that the filter same_objects could")
    assert opened().judge([], []) == []


def test_with_a_model(model: Path) -> None:
    """A random model finds what it finds; the copy of the source has the same objects."""
    names = ["beach", "boat", "cow", "ocean"]
    of = SourceImage("1", "1.jpg", noise(3), object_mask())
    made = [GeneratedImage(of.image.copy()), GeneratedImage(noise(4))]
    detector = FILTERS.open("objects", {"model": str(model)}).detector
    scores = detector.best_scores([of.image, made[1].image], names)
    threshold = float(np.median(scores))
    objects = FILTERS.open(
        "same_objects", {"model": str(model), "vocabulary": names, "threshold": threshold}
    )
    found = objects.judge([request(0, source=of), request(1, source=of)], made)
    above = [
        {name for name, one in zip(names, row, strict=True) if one >= threshold} for row in scores
    ]
    assert [one.score for one in found] == [1.0, f1_of_names(*above)]


def test_description(model: Path) -> None:
    described = FILTERS.open(
        "same_objects", {"model": str(model), "vocabulary": ["cow"]}
    ).describe()
    assert described["filter"] == "same_objects"
    assert described["settings"] == {
        "threshold": 0.1,
        "overlap": 0.5,
        "query": "a photo of {concepts}",
        "min_f1": None,
        "vocabulary_sha256": hashlib.sha256(b"cow").hexdigest(),
    }
    assert len(described["weights_sha256"]) == 64


def test_options() -> None:
    assert FILTERS["same_objects"].takes_vocabulary
    with pytest.raises(OptionError, match="The filter same_objects: min_f1 is 2"):
        FILTERS.open("same_objects", {"min_f1": 2})
