"""Decode and encode image files within limits: EXIF orientation, thumbnails, RGB arrays.

Pillow is imported where a file is opened, as the core installs without it.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO

import numpy as np

from cobalance.base import Box, CobalanceError, Image, needs_extra
from cobalance.vision.images.arrays import ImageArray
from cobalance.vision.images.image_file import ImageFileError, check_size

MAX_PIXELS = 89_478_485
"""Largest image that is decoded: Pillow's own limit, where it warns of a decompression bomb."""
MAX_SIDE_PX = 1024
"""Longest side of an image that is sent; models that look at images see no more by default."""
FORMATS = {
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
"""Supported formats, by Pillow's names, with the file ending that loaders expect."""
IMAGE_ENDINGS = tuple(sorted({f".{ending}" for ending in (*FORMATS.values(), "jpeg", "tiff")}))
"""Endings of files of these formats."""

_TRANSPOSE = ("FLIP_LEFT_RIGHT", "ROTATE_180", "FLIP_TOP_BOTTOM", "TRANSPOSE", "ROTATE_270",
              "TRANSVERSE", "ROTATE_90")  # fmt: skip
"""Pillow's names of the EXIF orientations from 2 on."""
# A tag of EXIF, and its values that swap width and height.
_ORIENTATION = 0x0112
_QUARTER_TURNS = (5, 6, 7, 8)
_SCALED_IN_PLACE = ("RGB", "L", "CMYK", "YCbCr")


@contextmanager
def open_image(
    content: bytes, formats: Collection[str] = FORMATS, max_pixels: int = MAX_PIXELS
) -> Iterator["Image.Image"]:
    """Open an image file whose pixels are decoded on first use.

    Pillow's errors inside the ``with`` block are translated.

    Parameters
    ----------
    content : bytes
        The file's content.
    formats : collection of str
        Accepted formats, by Pillow's names; those that this build of Pillow lacks are ignored.
    max_pixels : int
        Largest accepted image, in pixels.

    Raises
    ------
    ImageFileError
        The format is not supported, the file is damaged, or it is too large.
    MissingExtraError
        Pillow is not installed.
    """
    with needs_extra("Opening images", "worker"):
        from PIL import UnidentifiedImageError

    check_size(len(content))
    Image.init()
    readable = [name for name in formats if name in Image.OPEN]

    try:
        with Image.open(BytesIO(content), formats=readable) as image:
            if image.width * image.height > max_pixels:
                raise Image.DecompressionBombError  # noqa: TRY301 -- one message for both limits
            yield image
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ImageFileError(
            f"The image has more than {max_pixels // 1_000_000} million pixels."
        ) from None
    except UnidentifiedImageError:
        raise ImageFileError(
            "This is not an image file of a supported format, or it is damaged."
        ) from None
    except MemoryError:
        raise ImageFileError("The image needs more memory than there is.") from None
    except CobalanceError:
        raise
    except Exception as error:  # decoders of untrusted bytes may raise anything
        raise ImageFileError(f"The image file is damaged: {error}.") from error


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """Usual ending, without a dot, and size of an image file, read without decoding pixels.

    The size is as stored, before any EXIF orientation.
    """

    suffix: str
    width_px: int
    height_px: int


def read_header(content: bytes) -> ImageHeader:
    """Read the format and size of an image file, which may exceed the limits of decoding.

    Raises
    ------
    ImageFileError
        The format is not supported, or the header is damaged.
    """
    with open_image(content, max_pixels=2 * MAX_PIXELS) as image:
        return ImageHeader(FORMATS[str(image.format)], *image.size)


def read_orientation(content: bytes) -> int:
    """EXIF orientation of an image file, from 1, as it is stored, to 8; 1 of a damaged one."""
    try:
        with open_image(content, max_pixels=2 * MAX_PIXELS) as image:
            return _orientation(image)
    except ImageFileError:
        return 1


def is_turned(content: bytes) -> bool:
    """Whether the EXIF orientation swaps width and height."""
    return read_orientation(content) in _QUARTER_TURNS


def upright_box(box: Box, orientation: int, stored_px: tuple[int, int]) -> Box:
    """A box of an image as it is stored, in the image as its EXIF orientation shows it.

    Parameters
    ----------
    box : tuple of float
        x, y, width and height in pixels.
    orientation : int
        One that swaps width and height, from 5 to 8.
    stored_px : tuple of int
        Width and height of the stored image.

    Examples
    --------
    >>> upright_box((10, 20, 30, 5), 6, (100, 40))
    (15, 10, 5, 30)
    """
    x, y, width, height = box
    stored_width, stored_height = stored_px
    # x and y change places; 6 and 7 count from the stored bottom, 7 and 8 from the stored right.
    left = stored_height - y - height if orientation in (6, 7) else y
    top = stored_width - x - width if orientation in (7, 8) else x
    return left, top, height, width


@dataclass(frozen=True, eq=False)
class DecodedImage:
    """An image as stored in its file, and its EXIF orientation: 1, which leaves it so, to 8."""

    stored: "Image.Image"
    orientation: int

    def upright(self) -> "Image.Image":
        """The image with its EXIF orientation applied, as viewers show it."""
        return _upright(self.stored, self.orientation)

    def orient_for(self, annotated_px: tuple[int, int] | None) -> "Image.Image":
        """The image in the orientation of its annotations.

        Upright, unless EXIF swaps width and height and the annotations have the stored size:
        `annotated_px` is the width and height of the annotated image, None if unknown.
        """
        upright = self.upright()
        if annotated_px not in (None, upright.size) and annotated_px == self.stored.size:
            return self.stored
        return upright


def decode(content: bytes) -> DecodedImage:
    """Decode all pixels of an image file.

    Raises
    ------
    ImageFileError
        The format is not supported, the file is damaged, or it is too large.
    """
    with open_image(content) as image:
        image.load()
        return DecodedImage(image.copy(), _orientation(image))


@dataclass(frozen=True, eq=False)
class Thumbnail:
    """An image scaled down, in RGB, and the size of the original in the same orientation."""

    image: "Image.Image"
    width_px: int
    height_px: int


def thumbnail(content: bytes, size_px: int, *, upright: bool = True) -> Thumbnail:
    """Decode an image file and scale it down to fit into a square; JPEGs at reduced size.

    Parameters
    ----------
    size_px : int
        Side of the square; a smaller image keeps its size.
    upright : bool
        Apply the EXIF orientation.

    Raises
    ------
    ImageFileError
        The format is not supported, the file is damaged, or it is too large.
    """
    with open_image(content) as image:
        width, height = image.size
        # Other modes are converted first: a palette, for one, has no colours in between.
        if image.mode in _SCALED_IN_PLACE:
            image.thumbnail((size_px, size_px))
            small = to_rgb(image)
        else:
            small = to_rgb(image)
            small.thumbnail((size_px, size_px))
        orientation = _orientation(image) if upright else 1
        small = _upright(small, orientation)

    if orientation in _QUARTER_TURNS:
        width, height = height, width
    return Thumbnail(small, width, height)


def to_rgb(image: "Image.Image") -> "Image.Image":
    """Convert to 8-bit RGB; transparency is laid on white, deeper greys are scaled to 8 bits."""
    if image.mode.startswith(("I", "F")):
        values = np.asarray(image).astype(np.float64)
        # 32-bit and float images do not say how bright white is: it is their brightest pixel.
        depth = 65_535 if image.mode.startswith("I;16") else max(float(np.nanmax(values)), 255.0)
        grey = np.nan_to_num(values * (255 / depth)).clip(0, 255).astype(np.uint8)
        return Image.fromarray(grey).convert("RGB")

    if image.has_transparency_data:
        layer = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    return image.convert("RGB")


def rgb_array(image: "Image.Image") -> ImageArray:
    """Pixels as an array of shape (height, width, 3); see `to_rgb`."""
    return np.array(to_rgb(image), dtype=np.uint8)


def within(image: ImageArray, max_side_px: int = MAX_SIDE_PX) -> ImageArray:
    """An image scaled down to a longest side, in its proportions; a smaller one as it is.

    Examples
    --------
    >>> within(np.zeros((30, 4000, 3), np.uint8)).shape
    (8, 1024, 3)
    """
    if max(image.shape[:2]) <= max_side_px:
        return image
    small = Image.fromarray(image)
    small.thumbnail((max_side_px, max_side_px), Image.Resampling.LANCZOS)
    return np.asarray(small)


def png(image: ImageArray) -> bytes:
    """The pixels as a PNG file, within `MAX_SIDE_PX`; nothing else of the image's file is in it."""
    buffer = BytesIO()
    Image.fromarray(within(image)).save(buffer, "PNG")
    return buffer.getvalue()


def _orientation(image: "Image.Image") -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # noqa: BLE001 -- damaged EXIF may raise anything
        return 1


def _upright(image: "Image.Image", orientation: int) -> "Image.Image":
    if not 2 <= orientation <= 8:
        return image
    return image.transpose(Image.Transpose[_TRANSPOSE[orientation - 2]])
