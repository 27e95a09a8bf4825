"""What an export has to know of image files: their kind, their size, and masks as COCO has them."""

from dataclasses import dataclass
from functools import cache
from io import BytesIO

import numpy as np
from PIL import ExifTags, Image

from graph.arrays import BoolArray
from graph.records import Mention
from ingest.images.masks import MAX_PIXELS, encode_mask

# Endings that loaders know.
SUFFIXES = {
    "AVIF": "avif",
    "BMP": "bmp",
    "GIF": "gif",
    "JPEG": "jpg",
    "JPEG2000": "jp2",
    "MPO": "jpg",
    "PNG": "png",
    "PPM": "ppm",
    "TIFF": "tif",
    "WEBP": "webp",
}


class NoPictureError(ValueError):
    """Bytes that are no image of a known kind; the message is a clause."""


@dataclass(frozen=True, slots=True)
class Header:
    """The kind of an image file as its usual ending, and its size."""

    suffix: str
    width_px: int
    height_px: int


def header(data: bytes) -> Header:
    """Read an image file's header; its pixels are not looked at.

    Raises
    ------
    NoPictureError
        It is no image of a known kind.
    """
    try:
        with Image.open(BytesIO(data), formats=_kinds()) as picture:
            return Header(SUFFIXES[str(picture.format)], *picture.size)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise NoPictureError(f"is no image of a known kind ({_first_line(error)})") from None


def is_turned(data: bytes) -> bool:
    """Tell whether the EXIF data of an image file turn it by a quarter to be shown."""
    try:
        with Image.open(BytesIO(data), formats=_kinds()) as picture:
            orientation = picture.getexif().get(ExifTags.Base.Orientation, 1)
    # A decoder of foreign bytes may raise anything.
    except Exception:  # noqa: BLE001
        return False
    return orientation in (5, 6, 7, 8)


def object_of(mask_png: bytes, class_name: str, width_px: int, height_px: int) -> Mention:
    """Give the object of a generated image as a region, by its mask: a PNG that is not 0 on it.

    Raises
    ------
    NoPictureError
        It is no mask of an image of this size.
    """
    try:
        with Image.open(BytesIO(mask_png)) as picture:
            if picture.size != (width_px, height_px) or width_px * height_px > MAX_PIXELS:
                raise NoPictureError(f"is of {picture.size}, the image of {(width_px, height_px)}")
            pixels = np.asarray(picture.convert("L")) != 0
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise NoPictureError(f"is no image ({_first_line(error)})") from None
    if not pixels.any():
        raise NoPictureError("shows nothing")
    return Mention(
        class_name,
        source="mask",
        area_px2=float(pixels.sum()),
        box=mask_box(pixels),
        segmentation=encode_mask(pixels),
    )


def mask_box(pixels: BoolArray) -> tuple[float, float, float, float]:
    """Give the box around a mask's pixels: x, y, width, height; at least one must be on.

    Examples
    --------
    >>> mask_box(np.array([[False, False, False], [False, True, True]]))
    (1.0, 1.0, 2.0, 1.0)
    """
    columns, rows = np.flatnonzero(pixels.any(axis=0)), np.flatnonzero(pixels.any(axis=1))
    x, y = float(columns[0]), float(rows[0])
    return x, y, float(columns[-1]) + 1 - x, float(rows[-1]) + 1 - y


@cache
def _kinds() -> list[str]:
    Image.init()
    return [kind for kind in SUFFIXES if kind in Image.OPEN]  # some builds have no AVIF


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(". ")
