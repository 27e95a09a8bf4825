"""Bytes of an image file into a small picture, whatever the bytes are."""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import ExifTags, Image, UnidentifiedImageError

from ingest.images.decoding import FORMATS, MAX_PIXELS, TURNS
from ingest.images.problems import PictureError

_LARGE = 20_000_000  # pixels; of files beyond, one at a time is decoded, for the memory it takes
_large = threading.Lock()
_QUALITY = 88


@dataclass(frozen=True)
class Scaled:
    """A small picture.

    Parameters
    ----------
    image : PIL.Image.Image
        In RGB.
    width_px, height_px : int
        Size of the picture in its file, turned as `image` is.
    """

    image: Image.Image
    width_px: int
    height_px: int


def scaled(content: bytes, size_px: int, *, upright: bool = True) -> Scaled:
    """Decode an image file and make it fit into a square.

    Parameters
    ----------
    size_px : int
        Side of the square; a smaller picture stays as it is.
    upright : bool
        Turn the picture as its EXIF orientation says.

    Raises
    ------
    PictureError
        The content is no image of a known kind, broken, or has too many pixels.
    """
    try:
        return _scaled(content, size_px, upright)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise PictureError(_too_many()) from None
    except UnidentifiedImageError:
        raise PictureError("This is no image file of a known kind, or a broken one.") from None
    except MemoryError:
        raise PictureError("The image takes more memory than there is.") from None
    except PictureError:
        raise
    # A decoder of foreign bytes may raise anything, and a page shows what it was.
    except Exception as error:
        raise PictureError(f"The image file is broken: {error}.") from error


def _scaled(content: bytes, size_px: int, upright: bool) -> Scaled:
    Image.init()
    known = [name for name in FORMATS if name in Image.OPEN]
    with Image.open(BytesIO(content), formats=known) as image:
        if image.width * image.height > MAX_PIXELS:
            raise PictureError(_too_many())
        width, height = image.size
        with _taking_turns(width * height):
            if image.mode in ("RGB", "L", "CMYK", "YCbCr"):
                # Pillow has a JPEG decoded at a fraction of its size.
                image.thumbnail((size_px, size_px))
                small = _rgb(image)
            else:
                small = _rgb(image)
                small.thumbnail((size_px, size_px))
        orientation = _orientation(image) if upright else 1
    if orientation in TURNS:
        small = small.transpose(TURNS[orientation])
    if orientation >= 5:
        width, height = height, width
    return Scaled(small, width, height)


@contextlib.contextmanager
def _taking_turns(n_pixels: int) -> Iterator[None]:
    if n_pixels <= _LARGE:
        yield
        return
    with _large:
        yield


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation that is left to apply; 1 where there is none, or EXIF is broken."""
    try:
        return int(image.getexif().get(ExifTags.Base.Orientation, 1))
    except Exception:  # noqa: BLE001
        return 1


def _rgb(image: Image.Image) -> Image.Image:
    """Give a picture in RGB: what is transparent on white, what is deeper than 8 bits in 8."""
    if image.mode.startswith(("I", "F")):
        values = np.asarray(image).astype(np.float64)
        depth = 65_535 if image.mode.startswith("I;16") else max(float(np.nanmax(values)), 255.0)
        return Image.fromarray((values * (255 / depth)).clip(0, 255).astype(np.uint8)).convert(
            "RGB"
        )
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        white = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(white, layer).convert("RGB")
    return image.convert("RGB")


def _too_many() -> str:
    return f"The image has more than {MAX_PIXELS // 1_000_000} million pixels."


def encoded(image: Image.Image, comment: str = "", *, sharp: bool = False) -> bytes:
    """Give a picture as JPEG, with a comment inside; a sharp one has colours as fine as light."""
    file = BytesIO()
    subsampling = 0 if sharp else 2
    image.save(file, "JPEG", quality=_QUALITY, subsampling=subsampling, comment=comment.encode())
    return file.getvalue()
