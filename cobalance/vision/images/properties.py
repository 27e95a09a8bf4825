"""Exposure, sharpness, colour, size and camera of image files."""

from typing import Any

import numpy as np
import numpy.typing as npt

from cobalance.base.safe_text import safe_text
from cobalance.vision.images.decoding import open_image, to_rgb

NUMBERS = ("brightness", "contrast", "sharpness", "saturation", "aspect ratio", "pixels", "bytes")
FLAGS = ("grayscale", "border", "near-constant")
TEXTS = ("dominant hue", "file type", "camera", "EXIF orientation", *FLAGS)
# A flag that holds; of other images it is None.
YES = "yes"
_HUES = ("red", "yellow", "green", "cyan", "blue", "magenta")
# Shorter sides: of the pixels that are measured, and of those for colours.
_SIDE_PX, _SMALL_PX = 1024, 64
# Of 255: the most between pixels of one colour, and between the channels of a grey.
_ALIKE = 8
# Of 255: the contrast below which next to nothing is seen.
_CONSTANT = 4.0
# Tags of EXIF.
_MAKE, _MODEL, _ORIENTATION = 0x010F, 0x0110, 0x0112


def image_properties(content: bytes) -> dict[str, float | str | None]:
    """Measure an image file.

    Pixels are those that are stored, in RGB; the shorter side is halved while it keeps 1,024.

    Returns
    -------
    dict
        `NUMBERS`: ``brightness`` and ``contrast``, mean and standard deviation of luma (ITU-R
        BT.601), 0 to 255; ``sharpness``, the root mean square of its Laplacian (Pech-Pacheco et
        al., ICPR 2000); ``saturation``, HSV's in percent, weighted by value; ``aspect ratio``,
        width by height, upright. `TEXTS`, None where an image has none: ``dominant hue``, the
        sixth of the colour circle with the most chroma; ``border``, two opposite edges of one
        colour, each a 32nd of the shorter side.

    Raises
    ------
    ImageFileError
        The format is not supported, the file is damaged, or it is too large.
    """
    with open_image(content) as image:
        (width, height), file_type, tags = image.size, image.format, _exif(image)
        # A JPEG is decoded at a fraction of its size where that suffices.
        image.draft("RGB", (_SIDE_PX, _SIDE_PX))
        rgb = to_rgb(image)
    if (times := min(rgb.size) // _SIDE_PX) > 1:
        rgb = rgb.reduce(1 << times.bit_length() - 1)

    luma = np.asarray(rgb.convert("L"), dtype=np.float32)
    contrast = float(luma.std())
    # Colours need no detail.
    reduced = rgb.reduce(max(1, min(rgb.size) // _SMALL_PX))
    small = np.asarray(reduced)
    chroma = np.ptp(small, axis=2)
    is_grey = bool(np.quantile(chroma, 0.99) <= _ALIKE)
    aspect_ratio = width / height
    if tags.get(_ORIENTATION) in (5, 6, 7, 8):
        aspect_ratio = height / width

    return {
        "brightness": float(luma.mean()),
        "contrast": contrast,
        "sharpness": _sharpness(luma),
        "saturation": 100 * float(chroma.sum()) / max(float(small.max(axis=2).sum()), 1.0),
        "aspect ratio": aspect_ratio,
        "pixels": float(width * height),
        "bytes": float(len(content)),
        "dominant hue": None if is_grey else _dominant_hue(reduced, chroma),
        "file type": file_type,
        "camera": _camera(tags),
        "EXIF orientation": str(tags[_ORIENTATION]) if _ORIENTATION in tags else None,
        "grayscale": _flag(is_grey),
        # Rows at the top and the bottom, or columns at the left and the right.
        "border": _flag(_has_border(small) or _has_border(small.swapaxes(0, 1))),
        "near-constant": _flag(contrast < _CONSTANT),
    }


def _flag(holds: bool) -> str | None:
    return YES if holds else None


def _sharpness(luma: npt.NDArray[np.float32]) -> float:
    """Root mean square of the Laplacian: each pixel against its four neighbours."""
    edges = 4 * luma[1:-1, 1:-1]
    edges -= luma[:-2, 1:-1] + luma[2:, 1:-1] + luma[1:-1, :-2] + luma[1:-1, 2:]
    return float(np.sqrt(np.vdot(edges, edges) / max(edges.size, 1)))


def _dominant_hue(image: Any, chroma: npt.NDArray[np.uint8]) -> str:
    """The sixth of the colour circle with the most chroma."""
    hue = np.asarray(image.convert("HSV"))[..., 0].astype(np.int64)
    # Half a sixth is added, as hue 0 is in the middle of red.
    sixth = (hue * 6 + 128) // 256 % 6
    chroma_of_sixth = np.bincount(sixth.ravel(), chroma.ravel())
    return _HUES[int(chroma_of_sixth.argmax())]


def _has_border(pixels: npt.NDArray[np.uint8]) -> bool:
    """Whether the first two rows and the last two are of one colour."""
    edges = np.concatenate([pixels[:2], pixels[-2:]])
    return bool((np.ptp(edges, axis=(0, 1)) <= _ALIKE).all())


def _exif(image: Any) -> dict[int, Any]:
    try:
        return dict(image.getexif())
    except Exception:  # noqa: BLE001 -- as of untrusted bytes in `decoding`
        return {}


def _camera(tags: dict[int, Any]) -> str | None:
    texts = [str(tags.get(tag, "")).replace("\0", " ")[:80] for tag in (_MAKE, _MODEL)]
    make, model = (safe_text(" ".join(text.split())) for text in texts)
    # Most models are named with their maker.
    if not model.startswith(make):
        model = f"{make} {model}"
    return model.strip() or None
