"""Instances of people, and of dogs, in images without outlines."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate
from transformers import Mask2FormerForUniversalSegmentation

from cobalance.base.errors import OptionError
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.generation.sources.segmenters.segmenter import InstanceSegmenter
from tests.generation.filters.making import noise
from tests.tiny.vision import THINGS

ALL = {"threshold": 0, "overlap": 1}


def by_hand(folder: Path, segmenter: Any, image: np.ndarray, labels: list[int]) -> Any:
    """Scores and masks of the model's queries, computed without the segmenter's code."""
    model = Mask2FormerForUniversalSegmentation.from_pretrained(folder).eval()
    with torch.inference_mode():
        output = model(pixel_values=segmenter.vision.pixels([image]))
    chances = torch.softmax(output.class_queries_logits[0], -1).numpy()
    low = output.masks_queries_logits
    logits = interpolate(low, image.shape[:2], mode="bilinear", align_corners=False)[0].numpy()
    found = []
    for chance, logit in zip(chances, logits, strict=True):
        mask = logit > 0
        inside = 1 / (1 + np.exp(-logit[mask]))
        found.append((max(chance[label] for label in labels) * inside.mean(), mask))
    return sorted(found, key=lambda pair: -pair[0])


@pytest.mark.parametrize("size", [(48, 64), (61, 37)])
@pytest.mark.parametrize("names", [("person",), ("dog",), ("cat", "dog")])
def test_instances_are_those_of_the_labels(
    people: Path, size: tuple[int, int], names: tuple[str, ...]
) -> None:
    image = noise(1, *size)
    segmenter: Any = SEGMENTERS.open("people", {"model": str(people), "labels": names, **ALL})
    expected = by_hand(people, segmenter, image, [THINGS.index(name) for name in names])
    found = segmenter.instances(image)
    assert isinstance(segmenter, InstanceSegmenter)
    assert len(found) == len(expected) == 12
    for mask, (_, other) in zip(found, expected, strict=True):
        assert mask.dtype == np.bool_
        assert mask.shape == size
        assert np.count_nonzero(mask != other) <= 2  # of pixels at one half
    limit = float(np.mean([expected[4][0], expected[5][0]]))
    surer: Any = SEGMENTERS.open(
        "people", {"model": str(people), "labels": names, "overlap": 1, "threshold": limit}
    )
    assert len(surer.instances(image)) == 5
    with pytest.raises(GenerationError, match=f"finds no {' or '.join(names)} in the image"):
        SEGMENTERS.open("people", {"model": str(people), "labels": names, "threshold": 1}).segment(
            image, None
        )


def instance(rows: slice, columns: slice) -> np.ndarray:
    mask = np.zeros((48, 64), bool)
    mask[rows, columns] = True
    return mask


@pytest.fixture
def told(people: Path, monkeypatch: pytest.MonkeyPatch):
    """Open a segmenter whose model finds these scores and masks."""

    def open_with(found: list[tuple[float, np.ndarray]], **options: Any) -> Any:
        segmenter: Any = SEGMENTERS.open("people", {"model": str(people), **options})
        scores = np.array([score for score, _ in found])
        answer = scores, [mask for _, mask in found]
        monkeypatch.setattr(type(segmenter), "_predict", lambda *_: answer)
        return segmenter

    return open_with


LEFT, RIGHT = instance(slice(10, 40), slice(0, 20)), instance(slice(10, 40), slice(30, 60))
NEAR_LEFT = instance(slice(10, 40), slice(0, 19))


def test_the_same_instance_found_twice_is_one(told) -> None:
    segmenter = told([(0.6, NEAR_LEFT), (0.9, LEFT), (0.8, RIGHT), (0.3, ~LEFT)])
    found = segmenter.instances(noise())
    assert [mask.tobytes() for mask in found] == [LEFT.tobytes(), RIGHT.tobytes()]
    twice = told([(0.6, NEAR_LEFT), (0.9, LEFT)], overlap=0.96)
    assert len(twice.instances(noise())) == 2
    assert np.array_equal(segmenter.segment(noise(), None), LEFT)


def test_the_instance_that_fits_the_box_best(told) -> None:
    whole = instance(slice(0, 48), slice(0, 60))
    segmenter = told([(0.9, whole), (0.6, LEFT), (0.7, RIGHT)])
    for box, mask in (
        ((0.0, 9.0, 21.0, 32.0), LEFT),
        ((31.5, 10.0, 30.0, 30.0), RIGHT),
        ((1.0, 1.0, 60.0, 46.0), whole),
    ):
        assert np.array_equal(segmenter.segment(noise(), box), mask)
    # 100 of the 600 pixels of the left one and 10 by 10 of its own
    with pytest.raises(GenerationError, match=r"an IoU of 0\.17, less than 0\.5. Lower min_fit"):
        segmenter.segment(noise(), (0.0, 10.0, 10.0, 10.0))
    with pytest.raises(GenerationError, match="lies outside the image"):
        segmenter.segment(noise(), (70.0, 10.0, 10.0, 10.0))


def test_labels(people: Path) -> None:
    segmenter = SEGMENTERS.open("people", {"model": str(people), "labels": "dog"})
    about = segmenter.describe()
    assert about["settings"] == {
        "labels": ["dog"],
        "threshold": 0.5,
        "overlap": 0.8,
        "min_fit": 0.5,
    }
    with pytest.raises(OptionError, match=r"no label 'horse'. Its labels: person, dog, cat"):
        SEGMENTERS.open("people", {"model": str(people), "labels": ["dog", "horse"]})
    with pytest.raises(OptionError, match="The segmenter people: labels is"):
        SEGMENTERS.check("people", {"labels": []})
