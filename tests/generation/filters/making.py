"""Requests and images by hand."""

import numpy as np
import numpy.typing as npt

from cobalance.generation.image_request import GeneratedImage, ImageRequest, SourceImage
from cobalance.vision.images.arrays import MaskArray

Pixels = npt.NDArray[np.uint8]


def noise(seed: int = 0, height: int = 48, width: int = 64) -> Pixels:
    """Coarse coloured blocks and fine noise: no two seeds look alike."""
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 200, (6, 8, 3))
    large = blocks.repeat(-(-height // 6), axis=0).repeat(-(-width // 8), axis=1)
    return (large[:height, :width] + rng.integers(0, 56, (height, width, 3))).astype(np.uint8)


def object_mask(height: int = 48, width: int = 64) -> MaskArray:
    mask = np.zeros((height, width), dtype=np.bool_)
    mask[8:24, 8:24] = True
    return mask


def source(seed: int = 100) -> SourceImage:
    return SourceImage("1", "1.jpg", noise(seed), object_mask())


def request(
    index: int = 0,
    query: int = 0,
    concepts: tuple[str, ...] = ("beach", "ocean"),
    source: SourceImage | None = None,
    prompt: str = "a photo of a beach and an ocean",
) -> ImageRequest:
    name = f"5f1c/{query:06d}/{index:06d}"
    return ImageRequest(name, "landbird", concepts, prompt, index, source)


def pasted(background: int, onto: SourceImage) -> GeneratedImage:
    """The object of a source on another background."""
    image = noise(background)
    image[onto.mask] = onto.image[onto.mask]
    return GeneratedImage(image, onto.mask, kept=onto.mask)
