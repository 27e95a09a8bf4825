from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate

from cobalance.generation.image_request import GenerationError
from cobalance.generation.sources.segmenters import SEGMENTERS
from tests.generation.filters.making import noise

BOX = (4.0, 4.0, 30.0, 20.0)


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
