"""Bytes of image files as pixels, whatever the bytes are: images, and masks of objects."""

from dataclasses import dataclass
from io import BytesIO

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image, UnidentifiedImageError

from graph.errors import CobalanceError
from ingest.images.arrays import ImageArray, MaskArray

MAX_PIXELS = 89_478_485
"""Of a file: Pillow's own limit, beyond which it warns of a decompression bomb."""

VOID = 255
"""The index of pixels that nobody has judged, in masks with a palette."""
MOST_GREYS = 16
"""Of a mask whose palette is a grey ramp: with more of them it has soft edges, not classes."""
DARK, BRIGHT = 16, 128
"""What the greatest of a colour's parts is, at most and at least."""
FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "JPEG2000", "AVIF")
"""Formats that are decoded, as Pillow names them."""
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""How a picture is turned to be shown, by its EXIF orientation."""


class DecodingError(CobalanceError):
    """Bytes that are no image that can be used; the message says why, as a sentence."""


@dataclass(frozen=True, eq=False)
class Decoded:
    """An image as it lies in its file, and how it is to be shown.

    Parameters
    ----------
    stored : PIL.Image.Image
        As it lies in the file.
    orientation : int
        From the EXIF data, from 1 to 8; 1 is for an image that is shown as it lies there.
    """

    stored: Image.Image
    orientation: int

    def upright(self) -> Image.Image:
        """The image as it is shown."""
        turn = TURNS.get(self.orientation)
        return self.stored if turn is None else self.stored.transpose(turn)

    def turned_for(self, annotated_px: tuple[int, int] | None) -> Image.Image:
        """The image as it was annotated.

        As shown, unless the annotations are of an image of the stored size and the EXIF data turn
        it by a quarter: then as it lies in the file, which is what the web app draws regions on.

        Parameters
        ----------
        annotated_px : tuple of two int, or None
            Width and height that the annotations are in pixels of; None where that is unknown.
        """
        upright = self.upright()
        if annotated_px not in (None, upright.size) and annotated_px == self.stored.size:
            return self.stored
        return upright


def decode(content: bytes) -> Decoded:
    """Decode an image file whole.

    Raises
    ------
    DecodingError
        The content is no image of a known kind, broken, or has too many pixels.
    """
    try:
        return _decoded(content)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise DecodingError(_too_many()) from None
    except UnidentifiedImageError:
        raise DecodingError("It is no image file of a known kind, or a broken one.") from None
    except DecodingError:
        raise
    # A decoder of foreign bytes may raise anything.
    except Exception as error:
        raise DecodingError(f"It is broken: {error}.") from error


def _decoded(content: bytes) -> Decoded:
    Image.init()
    known = [name for name in FORMATS if name in Image.OPEN]
    with Image.open(BytesIO(content), formats=known) as image:
        if image.width * image.height > MAX_PIXELS:
            raise DecodingError(_too_many())
        image.load()
        return Decoded(image.copy(), _orientation(image))


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(ExifTags.Base.Orientation, 1))
    except Exception:  # noqa: BLE001
        return 1


def rgb_array(image: Image.Image) -> ImageArray:
    """Give pixels: what is transparent on white, what is deeper than 8 bits in 8."""
    if image.mode.startswith(("I", "F")):
        values = np.asarray(image).astype(np.float64)
        depth = 65_535 if image.mode.startswith("I;16") else max(float(np.nanmax(values)), 255.0)
        grey = np.nan_to_num(values * (255 / depth)).clip(0, 255).astype(np.uint8)
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    return np.array(image.convert("RGB"), dtype=np.uint8)


def mask_array(image: Image.Image) -> MaskArray:
    """Give a mask: the pixels that are at least half as bright as the brightest; none of black.

    So that 0 and 1, 0 and 255, and soft edges are all understood. Two kinds of picture say it in
    another way:

    - With a palette the indices count, whatever their colours: 0 is the background, 255 is void,
      as on the edges of Pascal VOC's objects, and all others are the object. 255 is the object
      where it is the only one beside 0. Brightness counts in three cases. 0 is not black and
      another index is, or 0 is bright and another nearly black: programs that reduce colours
      number them in any order. The colours are a ramp of more than `MOST_GREYS` greys: soft
      edges. Each index is a grey of that brightness and most of what is not 0 is 255: the same.
    - Where what can be seen has one colour and the transparency varies, opaqueness counts as
      brightness does.

    Examples
    --------
    >>> mask_array(Image.fromarray(np.array([[0, 100, 200]], dtype=np.uint8))).tolist()
    [[False, True, True]]
    """
    if image.mode == "P":
        indices = np.asarray(image)
        if not _is_grey(image, indices):
            return _of_indices(indices)
    values = _opaqueness(image)
    if values is None:
        grey = image if image.mode.startswith(("I", "F")) else image.convert("L")
        values = np.asarray(grey).astype(np.float64)
    brightest = float(values.max(initial=0.0))
    if not brightest > 0:
        return np.zeros(values.shape, dtype=bool)
    found: MaskArray = values * 2 >= brightest
    return found


def _of_indices(indices: npt.NDArray[np.uint8]) -> MaskArray:
    inside: MaskArray = indices != 0
    without_void = inside & (indices != VOID)
    return without_void if without_void.any() else inside


def _is_grey(image: Image.Image, indices: npt.NDArray[np.uint8]) -> bool:
    """Whether a picture with a palette is one of brightness all the same."""
    palette = np.asarray(image.getpalette("RGB") or [], dtype=np.uint8).reshape(-1, 3)
    counts = np.bincount(indices.ravel(), minlength=VOID + 1)
    used = np.flatnonzero(counts)
    used = used[used < len(palette)]
    colours = palette[used].astype(np.int64)
    if not len(used):
        return False
    peaks = colours.max(axis=1)
    dark = DARK if peaks[0] >= BRIGHT else 0
    if used[0] == 0 and peaks[0] > dark >= peaks.min():
        return True
    if (colours != peaks[:, None]).any():
        return False
    steps = np.diff(peaks)
    if len(np.unique(peaks)) > MOST_GREYS and ((steps >= 0).all() or (steps <= 0).all()):
        return True
    is_ramp = bool((peaks == used).all())
    return is_ramp and bool(counts[VOID] > counts[1:VOID].sum() > 0)


def _opaqueness(image: Image.Image) -> npt.NDArray[np.float64] | None:
    """The alpha channel where it alone tells pixels apart; else None."""
    if "A" not in image.getbands():
        return None
    layers = np.asarray(image.convert("RGBA"))
    alpha = layers[..., 3]
    seen = layers[alpha > 0][:, :3]
    if alpha.min() == alpha.max() or (seen != seen[:1]).any():
        return None
    return alpha.astype(np.float64)


def _too_many() -> str:
    return f"It has more than {MAX_PIXELS // 1_000_000} million pixels."
