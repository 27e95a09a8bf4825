"""Objects' masks, with the real code and tiny random models."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate
from transformers import SegformerForSemanticSegmentation

from generation.image_request import GenerationError
from generation.sources.segmenters import SEGMENTERS
from graph.errors import JobBlockedError, OptionError, OutOfMemoryError, UnknownNameError
from tests.generation.filters.making import noise
from tests.tiny.vision import LABELS, save_parsing, save_sam

BOX = (4.0, 4.0, 30.0, 20.0)


@pytest.fixture(scope="module")
def sam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_sam(tmp_path_factory.mktemp("sam"))


@pytest.fixture(scope="module")
def parsing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_parsing(tmp_path_factory.mktemp("parsing"))


def is_nearly(mask: np.ndarray, logits: torch.Tensor) -> bool:
    """Whether a mask is where logits are positive; those at zero may be either."""
    expected = logits.numpy()
    return bool(((expected > 0) == mask)[np.abs(expected) > 1e-5].all())


@pytest.mark.parametrize(("height", "width"), [(48, 64), (64, 48), (100, 130)])
def test_sam_masks_have_the_images_size(sam: Path, height: int, width: int) -> None:
    """The mask is the decoder's, enlarged, without the padding, at the image's size."""
    image = noise(0, height, width)
    segmenter: Any = SEGMENTERS.open("sam", {"model": str(sam)})
    mask = segmenter.segment(image, BOX)
    assert mask.dtype == np.bool_
    assert mask.shape == (height, width)
    scale = 64 / max(height, width)
    left, top, w, h = (side * scale for side in BOX)
    new_height, new_width = int(height * scale + 0.5), int(width * scale + 0.5)
    box = np.array([BOX[0], BOX[1], BOX[0] + BOX[2], BOX[1] + BOX[3]])
    box *= np.array([new_width / width, new_height / height] * 2)
    assert box == pytest.approx([left, top, left + w, top + h], rel=0.02)
    vision = segmenter.vision
    with torch.inference_mode():
        low = vision.model(
            pixel_values=vision.pixels([image]),
            input_boxes=torch.tensor(box, dtype=torch.float32).reshape(1, 1, 4),
            multimask_output=False,
        ).pred_masks[0]
        large = interpolate(low, (64, 64), mode="bilinear", align_corners=False)
        own = large[..., :new_height, :new_width]
        logits = interpolate(own, (height, width), mode="bilinear", align_corners=False)[0, 0]
    assert is_nearly(mask, logits)


def test_sam_follows_its_box(sam: Path) -> None:
    segmenter = SEGMENTERS.open("sam", {"model": str(sam)})
    masks = [segmenter.segment(noise(), box) for box in (BOX, BOX, (30.0, 20.0, 30.0, 25.0))]
    assert np.array_equal(masks[0], masks[1])
    assert not np.array_equal(masks[0], masks[2])


def test_sam_needs_a_box_in_the_image(sam: Path) -> None:
    segmenter = SEGMENTERS.open("sam", {"model": str(sam)})
    with pytest.raises(GenerationError, match="has no box"):
        segmenter.segment(noise(), None)
    for box in ((64.0, 0.0, 5.0, 5.0), (5.0, 5.0, 0.0, 5.0), (-9.0, 0.0, 5.0, 5.0)):
        with pytest.raises(GenerationError, match="lies outside the image of 64 x 48 px"):
            segmenter.segment(noise(), box)


@pytest.mark.parametrize(("height", "width"), [(3, 2000), (2000, 3), (1, 129)])
def test_sam_refuses_an_image_of_which_nothing_is_left(sam: Path, height: int, width: int) -> None:
    segmenter = SEGMENTERS.open("sam", {"model": str(sam)})
    problem = f"finds no object in an image of {width} x {height} px: at its 64 px nothing is left"
    with pytest.raises(GenerationError, match=problem):
        segmenter.segment(noise(0, height, width), (0.0, 0.0, 1.0, 1.0))


def test_sam_takes_the_thinnest_image_of_which_something_is_left(sam: Path) -> None:
    segmenter: Any = SEGMENTERS.open("sam", {"model": str(sam)})
    assert segmenter._predict(noise(0, 1, 128), (0.0, 0.0, 50.0, 1.0)).shape == (1, 128)


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
        monkeypatch.setattr(type(segmenter), "_predict", lambda *_, mask=mask: mask)
        with pytest.raises(GenerationError, match=f"The segmenter parsing finds {what}"):
            segmenter.segment(noise(), None)


@pytest.mark.parametrize("name", ["sam", "parsing"])
def test_memory(name: str, sam: Path, parsing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = {"sam": sam, "parsing": parsing}[name]
    segmenter: Any = SEGMENTERS.open(name, {"model": str(folder)})

    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(segmenter.vision.model, "forward", fail)
    with pytest.raises(OutOfMemoryError, match="on one image"):
        segmenter.segment(noise(), BOX)


@pytest.mark.parametrize("name", ["sam", "parsing"])
def test_memory_for_the_model(
    name: str, sam: Path, parsing: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = {"sam": sam, "parsing": parsing}[name]

    def fail(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr("transformers.PreTrainedModel.to", fail)
    with pytest.raises(OutOfMemoryError, match=r"the model .+\. Use a smaller model"):
        SEGMENTERS.open(name, {"model": str(folder)})


@pytest.mark.parametrize("name", ["sam", "parsing"])
def test_the_description_is_of_what_was_loaded(
    name: str, sam: Path, parsing: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree({"sam": sam, "parsing": parsing}[name], tmp_path / "model")
    segmenter = SEGMENTERS.open(name, {"model": str(folder)})
    shutil.rmtree(folder)
    assert len(segmenter.describe()["weights_sha256"]) == 64


def test_registry(tmp_path: Path) -> None:
    assert list(SEGMENTERS) == ["sam", "parsing"]
    with pytest.raises(UnknownNameError, match=r"unknown segmenter 'paint'. Known: parsing, sam"):
        SEGMENTERS.open("paint")
    for name in SEGMENTERS:
        with pytest.raises(OptionError, match=f"The segmenter {name} has no option 'box'"):
            SEGMENTERS.open(name, {"box": 1})
        with pytest.raises(JobBlockedError, match="no such folder"):
            SEGMENTERS.open(name, {"model": str(tmp_path / "nothing")})
