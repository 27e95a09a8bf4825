"""What texts say, found by a model of images and texts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn.functional import interpolate
from transformers import (
    CLIPSegForImageSegmentation,
    CLIPSegProcessor,
    CLIPTokenizer,
    ViTImageProcessorPil,
)

from cobalance.base.errors import OptionError
from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.generation.sources.segmenters.segmenter import PartSegmenter, find_parts
from tests.generation.filters.making import noise

TEXTS = ["skin", "a hand of the person", "an"]


def shares_by_hand(folder: Path, image: np.ndarray, text: str) -> np.ndarray:
    """Each pixel's probability, with the library's own processor and one text at a time."""
    processor = CLIPSegProcessor(
        ViTImageProcessorPil.from_pretrained(folder), CLIPTokenizer.from_pretrained(folder)
    )
    inputs = processor(text=[text], images=[Image.fromarray(image)], return_tensors="pt")
    model = CLIPSegForImageSegmentation.from_pretrained(folder).eval()
    with torch.inference_mode():
        low = model(**inputs).logits
    logits = interpolate(
        low.reshape(1, 1, *low.shape[-2:]), image.shape[:2], mode="bilinear", align_corners=False
    )
    return torch.sigmoid(logits)[0, 0].numpy()


@pytest.mark.parametrize("size", [(48, 64), (61, 37)])
def test_each_text_is_a_part_and_all_are_the_object(clipseg: Path, size: tuple[int, int]) -> None:
    image = noise(2, *size)
    shares = {text: shares_by_hand(clipseg, image, text) for text in TEXTS}
    threshold = float(np.median(shares["skin"]))
    segmenter: Any = SEGMENTERS.open(
        "clipseg", {"model": str(clipseg), "texts": TEXTS, "threshold": threshold}
    )
    assert isinstance(segmenter, PartSegmenter)
    parts = find_parts(segmenter, "clipseg")(image)
    assert list(parts) == TEXTS
    for text, mask in parts.items():
        assert mask.dtype == np.bool_
        sure = np.abs(shares[text] - threshold) > 1e-5
        assert np.array_equal(mask[sure], (shares[text] >= threshold)[sure])
    assert 0 < parts["skin"].mean() < 1
    union = np.logical_or.reduce(list(parts.values()))
    alone: Any = SEGMENTERS.open(
        "clipseg", {"model": str(clipseg), "texts": "skin", "threshold": threshold}
    )
    skin, sure = alone.segment(image, None), np.abs(shares["skin"] - threshold) > 1e-5
    assert np.array_equal(skin[sure], parts["skin"][sure])
    inside = np.zeros(size, bool)
    inside[4:24, 4:34] = True
    assert np.array_equal(alone.segment(image, (4.0, 4.0, 30.0, 20.0)), skin & inside)
    if union.all():
        with pytest.raises(GenerationError, match="clipseg finds nothing but the object"):
            segmenter.segment(image, None)
    else:
        assert np.array_equal(segmenter.segment(image, None), union)


def test_texts_that_differ_give_masks_that_differ(clipseg: Path) -> None:
    one, other = (shares_by_hand(clipseg, noise(), text) for text in TEXTS[:2])
    assert np.abs(one - other).max() > 1e-4


def test_what_is_not_there(clipseg: Path) -> None:
    segmenter: Any = SEGMENTERS.open("clipseg", {"model": str(clipseg), "threshold": 1})
    assert not segmenter.parts(noise())["skin"].any()
    with pytest.raises(GenerationError, match="The segmenter clipseg finds no object"):
        segmenter.segment(noise(), None)


def test_options(clipseg: Path) -> None:
    about = SEGMENTERS.open("clipseg", {"model": str(clipseg)}).describe()
    assert about["settings"] == {"texts": ["skin"], "threshold": 0.5}
    with pytest.raises(OptionError, match="The segmenter clipseg: texts is"):
        SEGMENTERS.check("clipseg", {"texts": []})
