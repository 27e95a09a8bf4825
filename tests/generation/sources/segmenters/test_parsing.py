from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate
from transformers import SegformerForSemanticSegmentation

from cobalance.base.errors import OptionError
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.generation.sources.segmenters.segmenter import label_names
from tests.generation.filters.making import noise
from tests.tiny.vision import LABELS

BOX = (4.0, 4.0, 30.0, 20.0)


def labels_by_hand(folder: Path, segmenter: Any, image: np.ndarray) -> np.ndarray:
    model = SegformerForSemanticSegmentation.from_pretrained(folder).eval()
    with torch.inference_mode():
        low = model(pixel_values=segmenter.vision.pixels([image])).logits
    logits = interpolate(low, image.shape[:2], mode="bilinear", align_corners=False)[0]
    return logits.numpy().argmax(axis=0)


def test_parsing_takes_all_but_the_background(parsing: Path) -> None:
    image = noise()
    segmenter: Any = SEGMENTERS.open("parsing", {"model": str(parsing)})
    mask = segmenter.segment(image, None)
    assert mask.dtype == np.bool_
    assert np.array_equal(mask, labels_by_hand(parsing, segmenter, image) != 0)
    assert segmenter.describe()["settings"] == {"labels": list(LABELS[1:])}


def test_parsing_takes_the_labels_that_were_chosen(parsing: Path) -> None:
    image = noise()
    segmenter: Any = SEGMENTERS.open("parsing", {"model": str(parsing)})
    labels = labels_by_hand(parsing, segmenter, image)
    most = int(np.bincount(labels[labels > 0]).argmax())
    chosen = SEGMENTERS.open("parsing", {"model": str(parsing), "labels": [LABELS[most]]})
    assert np.array_equal(chosen.segment(image, None), labels == most)
    with pytest.raises(OptionError, match=r"no label 'Tail'. Its labels: Background, Hat, Hair"):
        SEGMENTERS.open("parsing", {"model": str(parsing), "labels": ["Tail"]})


def test_parsing_stays_in_the_box(parsing: Path) -> None:
    image = noise()
    segmenter = SEGMENTERS.open("parsing", {"model": str(parsing)})
    inside = np.zeros((48, 64), dtype=np.bool_)
    inside[4:24, 4:34] = True
    whole = segmenter.segment(image, None)
    assert np.array_equal(segmenter.segment(image, BOX), whole & inside)


def test_an_image_without_the_object(parsing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segmenter: Any = SEGMENTERS.open("parsing", {"model": str(parsing)})
    for value, what in ((False, "no object"), (True, "nothing but the object")):
        mask = np.full((48, 64), value)
        monkeypatch.setattr(type(segmenter), "parts", lambda *_, mask=mask: {"Hair": mask})
        with pytest.raises(GenerationError, match=f"The segmenter parsing finds {what}"):
            segmenter.segment(noise(), None)


def test_two_labels_of_one_name_are_both_the_object(
    parsing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    segmenter: Any = SEGMENTERS.open("parsing", {"model": str(parsing)})
    model = segmenter.vision.model
    model.config.id2label = {0: "Background", 1: "Shoe", 2: "Shoe"}
    known = label_names(model, ["Shoe"], "parsing")
    assert known == {0: "Background", 1: "Shoe", 2: "Shoe"}
    shoes = replace(segmenter, labels={1: "Shoe", 2: "Shoe"})
    labels = np.array([[0, 1], [2, 0]])
    monkeypatch.setattr(type(shoes), "_labels_of", lambda *_: labels)
    image = np.zeros((2, 2, 3), np.uint8)
    assert np.array_equal(shoes.segment(image, None), labels > 0)
    assert np.array_equal(shoes.parts(image)["Shoe"], labels > 0)
