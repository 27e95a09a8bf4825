"""Draw a class activation map over a picture."""

from io import BytesIO

import numpy as np
from PIL import Image

from cobalance.ingest.images.decoding import open_image

_OPACITY = 0.65
_COLD, _WARM, _HOT = (40, 20, 90), (215, 60, 70), (255, 235, 120)


def draw_heat(picture: bytes, activation: bytes) -> bytes:
    """A JPEG of the picture, coloured where the map is bright and dimmed where it is dark.

    Parameters
    ----------
    picture : bytes
        Of an image file.
    activation : bytes
        A greyscale PNG of the same shape, of any size.

    Raises
    ------
    ImageFileError
        One of the two cannot be decoded.
    """
    with open_image(picture) as opened:
        base = opened.convert("RGB")
    with open_image(activation) as opened:
        heat = opened.convert("L").resize(base.size, Image.Resampling.BILINEAR)
    level = np.asarray(heat, dtype=np.float64)[..., np.newaxis] / 255
    ends = [np.array(color, dtype=np.float64) for color in (_COLD, _WARM, _HOT)]
    colors = np.where(
        level < 0.5,
        ends[0] + (ends[1] - ends[0]) * level * 2,
        ends[1] + (ends[2] - ends[1]) * (level * 2 - 1),
    )
    weight = _OPACITY * level
    mixed = np.asarray(base, dtype=np.float64) * (0.75 + 0.25 * level) * (1 - weight)
    out = BytesIO()
    Image.fromarray((mixed + colors * weight).clip(0, 255).astype(np.uint8)).save(
        out, "JPEG", quality=88
    )
    return out.getvalue()
