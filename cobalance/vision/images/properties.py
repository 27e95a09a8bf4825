"""Exposure, sharpness, colour, size and camera of image files."""

from typing import Any

import numpy as np

from cobalance.base.safe_text import safe_text
from cobalance.vision.images.decoding import open_image, to_rgb

NUMBERS = ("brightness", "contrast", "sharpness", "saturation", "aspect ratio", "pixels", "bytes")
FLAGS = ("grayscale", "border", "near-constant")
TEXTS = ("dominant hue", "file type", "camera", "EXIF orientation", *FLAGS)
YES = "yes"  # of flags
_HUES = ("red", "yellow", "green", "cyan", "blue", "magenta")
_SIDE_PX, _SMALL_PX = 1024, 64
_ALIKE = 8  # of 255: between pixels of one colour, and between the channels of a grey
_CONSTANT = 4.0  # of 255: the contrast below which next to nothing is seen
_MAKE, _MODEL, _ORIENTATION = 0x010F, 0x0110, 0x0112  # EXIF's tags


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
        image.draft("RGB", (_SIDE_PX, _SIDE_PX))
        rgb = to_rgb(image)
    if (halved := min(rgb.size) // _SIDE_PX) > 1:
        rgb = rgb.reduce(1 << halved.bit_length() - 1)
    luma = np.asarray(rgb.convert("L"), dtype=np.float32)
    brightness, contrast = float(luma.mean()), float(luma.std())
    edges = 4 * luma[1:-1, 1:-1]
    for near in (luma[:-2, 1:-1], luma[2:, 1:-1], luma[1:-1, :-2], luma[1:-1, 2:]):
        edges -= near
    reduced = rgb.reduce(max(1, min(rgb.size) // _SMALL_PX))
    small, hue = np.asarray(reduced), np.asarray(reduced.convert("HSV"))[..., 0].astype(np.int64)
    chroma = np.ptp(small, axis=2)
    of_hue = np.bincount(((hue * 6 + 128) // 256 % 6).ravel(), chroma.ravel())  # hue 0 is red
    is_grey = bool(np.quantile(chroma, 0.99) <= _ALIKE)
    sides = (np.concatenate([side[:2], side[-2:]]) for side in (small, small.swapaxes(0, 1)))
    turned = tags.get(_ORIENTATION) in (5, 6, 7, 8)
    flags = {
        "grayscale": is_grey,
        "border": any(bool((np.ptp(side, axis=(0, 1)) <= _ALIKE).all()) for side in sides),
        "near-constant": bool(contrast < _CONSTANT),
    }
    return {
        "brightness": brightness,
        "contrast": contrast,
        "sharpness": float(np.sqrt(np.vdot(edges, edges) / max(edges.size, 1))),
        "saturation": 100 * float(chroma.sum()) / max(float(small.max(axis=2).sum()), 1.0),
        "aspect ratio": height / width if turned else width / height,
        "pixels": float(width * height),
        "bytes": float(len(content)),
        "dominant hue": None if is_grey else _HUES[int(of_hue.argmax())],
        "file type": file_type,
        "camera": _camera(tags),
        "EXIF orientation": str(tags[_ORIENTATION]) if _ORIENTATION in tags else None,
        **{name: YES if shown else None for name, shown in flags.items()},
    }


def _exif(image: Any) -> dict[int, Any]:
    try:
        return dict(image.getexif())
    except Exception:  # noqa: BLE001 -- as of untrusted bytes in `decoding`
        return {}


def _camera(tags: dict[int, Any]) -> str | None:
    texts = (str(tags.get(tag, "")).replace("\0", " ")[:80] for tag in (_MAKE, _MODEL))
    make, model = (safe_text(" ".join(text.split())) for text in texts)
    return (model if model.startswith(make) else f"{make} {model}").strip() or None
