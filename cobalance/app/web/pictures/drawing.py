"""Draw boxes, masks, labels or activation onto an image, or a placeholder for one not shown."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import cast

import numpy as np
import pandas as pd
from PIL import Image, ImageChops, ImageColor, ImageDraw, ImageFilter, ImageFont

from cobalance.vision.images.decoding import open_image
from cobalance.vision.images.masks import Polygons, SegmentationError, parse_segmentation

MOST_REGIONS = 200
"""The largest of an image are drawn."""

_NO_COLOR = "#E69F00"
_DARK, _LIGHT = (20, 20, 20), (255, 255, 255)
_LABELLED_PX = 128
_MASK, _EDGE = 100, 220  # opacity of a mask and of its edge, of 255
_PAPER, _INK, _FAINT = "#ECEEF1", "#3C424B", "#7A828E"  # of placeholders
_WIDEST = 640
_SHAPE = 3 / 4  # height to width
_OPACITY = 0.65  # of a class activation map
_COLD, _WARM, _HOT = (40, 20, 90), (215, 60, 70), (255, 235, 120)

Color = tuple[int, int, int]
Font = ImageFont.FreeTypeFont
Corners = tuple[float, float, float, float]  # left, top, right, bottom, in pixels of the picture


def draw_regions(
    image: Image.Image,
    regions: pd.DataFrame,
    colors: Mapping[str, str],
    *,
    scale: tuple[float, float] = (1.0, 1.0),
    labelled: bool = True,
) -> Image.Image:
    """Draw boxes with labels, and half-transparent masks, onto an RGB image, in place.

    What lies outside of the image is clipped or left out; a segmentation that cannot be read is
    not drawn.

    Parameters
    ----------
    image : PIL.Image.Image
        In RGB.
    regions : pandas.DataFrame
        From `cobalance.vision.images.regions.read_regions`, of one image.
    colors : mapping of str to str
        CSS colour of each concept; concepts without one share a default.
    scale : tuple of two floats
        Pixels of the image for one of the annotations, across and down.
    labelled : bool
        Whether names stand at the boxes; never on a small picture, which they would cover.
    """
    shapes = [_shape(row, colors, scale) for row in regions.to_dict("records")]
    shapes.sort(key=lambda shape: -shape.area_px2)
    shapes = shapes[:MOST_REGIONS]
    for shape in shapes:
        _fill(image, shape, scale)
    draw = ImageDraw.Draw(image)
    line = max(2, round(min(image.size) / 240))
    boxes = [(shape, box) for shape in shapes if (box := _clip(shape.box, image.size))]
    for shape, box in boxes:
        _outline(draw, box, shape.color, line)
    if not labelled or min(image.size) < _LABELLED_PX:
        return image
    letters = _font(max(11, min(22, min(image.size) // 32)))
    taken: list[Corners] = []
    for shape, box in reversed(boxes):  # the smallest find a free place first
        _label(draw, image.size, shape, box, letters, taken)
    return image


@dataclass
class _Shape:
    """A region to draw."""

    text: str  # the concept, with its score
    color: Color
    box: Corners | None  # not yet cut to the picture
    segmentation: str | None  # as annotated

    @property
    def area_px2(self) -> float:
        """Area of the box; a shape without one is drawn below the others."""
        if self.box is None:
            return float("inf")
        left, top, right, bottom = self.box
        return (right - left) * (bottom - top)


def _shape(
    row: Mapping[object, object], colors: Mapping[str, str], scale: tuple[float, float]
) -> _Shape:
    concept, score, outline = str(row["concept"]), row.get("score"), row.get("segmentation")
    x, y, w, h = (float(row[name]) for name in ("x_px", "y_px", "w_px", "h_px"))  # type: ignore[arg-type]
    corners = np.array([x, y, x + w, y + h]) * (*scale, *scale)
    return _Shape(
        f"{concept} {score:.2f}" if isinstance(score, float) and score == score else concept,
        _color(colors.get(concept, _NO_COLOR)),
        tuple(corners.tolist()) if np.isfinite(corners).all() else None,
        outline if isinstance(outline, str) else None,
    )


def _color(css: str) -> Color:
    try:
        red, green, blue = ImageColor.getrgb(css)[:3]
    except ValueError:
        red, green, blue = ImageColor.getrgb(_NO_COLOR)[:3]
    return red, green, blue


def _fill(image: Image.Image, shape: _Shape, scale: tuple[float, float]) -> None:
    """Overlay a mask; a shape without a box gets the bounding box of its mask."""
    if shape.segmentation is None:
        return
    try:
        found = parse_segmentation(shape.segmentation)
        if isinstance(found, Polygons):
            pixels = found.scale(*scale).mask(*image.size)
        else:
            whole = Image.fromarray(found.mask())
            pixels = np.asarray(whole.resize(image.size, Image.Resampling.NEAREST))
    except SegmentationError:
        return
    rows, columns = np.flatnonzero(pixels.any(axis=1)), np.flatnonzero(pixels.any(axis=0))
    if not len(rows):
        return
    left, top, right, bottom = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
    part = np.pad(pixels[top:bottom, left:right], 1)
    inner = part[:-2, 1:-1] & part[2:, 1:-1] & part[1:-1, :-2] & part[1:-1, 2:]
    part = part[1:-1, 1:-1]
    cover = Image.fromarray(np.select([inner & part, part], [_MASK, _EDGE], 0).astype(np.uint8))
    image.paste(shape.color, (int(left), int(top), int(right), int(bottom)), cover)
    if shape.box is None:
        shape.box = (float(left), float(top), float(right), float(bottom))


def draw_mask_edge(image: Image.Image, mask: Image.Image, color: str) -> Image.Image:
    """Draw the edge of a mask onto an RGB image, in place, and give it: a line with a halo.

    The mask, of any size and mode, is white on the object, and scaled to the image; the colour is
    as CSS has it.
    """
    scaled = mask.convert("L").resize(image.size, Image.Resampling.NEAREST)
    inside = scaled.point([0] * 128 + [255] * 128)
    line = max(1, round(min(image.size) / 100))
    grown = inside
    for width, paint in ((line, _color(color)), (2 * line, _contrast(_color(color)))):
        wider = inside.filter(ImageFilter.MaxFilter(2 * width + 1))
        image.paste(paint, mask=ImageChops.subtract(wider, grown))
        grown = wider
    return image


def _outline(draw: ImageDraw.ImageDraw, box: Corners, color: Color, line: int) -> None:
    """Draw a box with a thin contrasting line on either side."""
    left, top, right, bottom = box
    halo = _contrast(color)
    draw.rectangle((left - 1, top - 1, right + 1, bottom + 1), outline=halo, width=line + 2)
    draw.rectangle(box, outline=color, width=line)


def _clip(box: Corners | None, size: tuple[int, int]) -> Corners | None:
    """Clip a box to the picture, at least two pixels wide and high; None if it is outside."""
    if box is None:
        return None
    left, top, right, bottom = box
    width, height = size
    if left >= width or top >= height or right < 0 or bottom < 0 or right < left or bottom < top:
        return None
    left, top = min(max(left, 0.0), width - 2.0), min(max(top, 0.0), height - 2.0)
    right, bottom = max(min(right, width - 1.0), left + 1), max(min(bottom, height - 1.0), top + 1)
    return left, top, right, bottom


def _label(
    draw: ImageDraw.ImageDraw,
    size: tuple[int, int],
    shape: _Shape,
    box: Corners,
    letters: Font,
    taken: list[Corners],
) -> None:
    """Write a label above its box, else inside, else below, where it overlaps no other label."""
    left, top, right, bottom = box
    pad = 3
    text = _truncate(
        shape.text, letters, min(size[0] - 2 * pad, max(right - left, 12 * letters.size))
    )
    width, height = letters.getlength(text) + 2 * pad, round(letters.size * 1.3)
    x = max(0.0, min(left, size[0] - width))
    places = [(x, y, x + width, y + height) for y in (top - height, top, bottom - height, bottom)]
    inside = [place for place in places if place[1] >= 0 and place[3] <= size[1]]
    free = [place for place in inside if not any(_overlap(place, other) for other in taken)]
    place = (free or inside or places[1:2])[0]
    taken.append(place)
    draw.rectangle(place, fill=shape.color)
    middle = (place[0] + pad, (place[1] + place[3]) / 2)
    draw.text(middle, text, font=letters, fill=_contrast(shape.color), anchor="lm")


def _overlap(a: Corners, b: Corners) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _contrast(color: Color) -> Color:
    """Black or white, whichever has more contrast by the relative luminance of WCAG 2."""
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return _DARK if luminance > 0.179 else _LIGHT


def placeholder(problem: str, uri: str | None, size_px: int) -> Image.Image:
    """Draw a problem and a path; readable from about 160 pixels on."""
    width = max(16, min(size_px, _WIDEST))
    height = round(width * _SHAPE)
    image = Image.new("RGB", (width, height), _PAPER)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, width - 1, height - 1), outline=_FAINT)
    letters = _font(max(9, min(16, width // 22)))
    line = round(letters.size * 1.35)
    margin = max(4, width // 20)
    room = max(2, (height - 2 * margin) // line)
    said = _wrap(problem, letters, width - 2 * margin, max(1, room * 2 // 3))
    path = _wrap(uri or "", letters, width - 2 * margin, max(1, room - len(said) - 1))
    top = (height - line * (len(said) + len(path)) - (line // 2 if path else 0)) / 2
    for texts, ink in ((said, _INK), (path, _FAINT)):
        for text in texts:
            left = (width - letters.getlength(text)) / 2
            draw.text((left, top), text, font=letters, fill=ink)
            top += line
        top += line / 2
    return image


# The first covers most scripts; Pillow's own font covers those of Europe.
_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf")
_MOST = 400  # characters; the rest is ignored


@lru_cache(maxsize=64)
def _font(size_px: int) -> Font:
    """A font of this size: a system font, else Pillow's default."""
    for name in _FONTS:
        try:
            return ImageFont.truetype(name, size_px)
        except OSError:
            continue
    return cast(Font, ImageFont.load_default(size_px))


def _printable(text: str) -> str:
    r"""Replace unprintable characters, such as line ends and direction marks, by spaces.

    Examples
    --------
    >>> _printable("a\nb\u202ec")
    'a b c'
    """
    return "".join(c if c.isprintable() else " " for c in text[:_MOST])


def _truncate(text: str, letters: Font, most_px: float) -> str:
    """Truncate text to a width, with an ellipsis."""
    text = _printable(text)
    if letters.getlength(text) <= most_px:
        return text
    end = _fitting(text, letters, most_px - letters.getlength("…"))
    return text[:end].rstrip() + "…"


def _wrap(text: str, letters: Font, most_px: float, lines: int) -> list[str]:
    """Break text into lines at spaces, or inside long words, and truncate the last one."""
    rest = _printable(text).strip()
    found: list[str] = []
    while rest and len(found) < lines - 1:
        end = _fitting(rest, letters, most_px)
        space = rest.rfind(" ", 0, end + 1) if end < len(rest) else end
        end = space if space > 0 else max(end, 1)
        found.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*found, _truncate(rest, letters, most_px)] if rest else found


def _fitting(text: str, letters: Font, most_px: float) -> int:
    """The most characters that fit into a width."""
    ends = range(len(text) + 1)
    return bisect_right(ends, most_px, key=lambda end: letters.getlength(text[:end])) - 1


def draw_heat(picture: bytes, activation: bytes) -> bytes:
    """A JPEG of an image file, coloured where a map is bright and dimmed where it is dark.

    The map is a greyscale PNG of the same shape, of any size.

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
    cold, warm, hot = (np.array(color, dtype=np.float64) for color in (_COLD, _WARM, _HOT))
    below, above = cold + (warm - cold) * level * 2, warm + (hot - warm) * (level * 2 - 1)
    colors = np.where(level < 0.5, below, above)
    weight = _OPACITY * level
    mixed = np.asarray(base, dtype=np.float64) * (0.75 + 0.25 * level) * (1 - weight)
    out = BytesIO()
    Image.fromarray((mixed + colors * weight).clip(0, 255).astype(np.uint8)).save(
        out, "JPEG", quality=88
    )
    return out.getvalue()
