"""Draw boxes, masks, labels or activation onto an image, or a placeholder for one not shown."""

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import cast

import numpy as np
import pandas as pd
from PIL import Image, ImageChops, ImageColor, ImageDraw, ImageFilter, ImageFont

from cobalance.base import BoolArray
from cobalance.vision import Polygons, SegmentationError, open_image, parse_segmentation

MOST_REGIONS = 200
"""The largest of an image are drawn."""

_NO_COLOR = "#E69F00"
_DARK, _LIGHT = (20, 20, 20), (255, 255, 255)
_LABELLED_PX = 128
# Opacity of a mask and of its edge, of 255.
_MASK, _EDGE = 100, 220
# Colours of placeholders.
_PAPER, _INK, _FAINT = "#ECEEF1", "#3C424B", "#7A828E"
_WIDEST = 640
# Height of a placeholder, as a share of its width.
_SHAPE = 3 / 4
# Opacity of a class activation map where it is brightest.
_OPACITY = 0.65
_COLD, _WARM, _HOT = (40, 20, 90), (215, 60, 70), (255, 235, 120)

Color = tuple[int, int, int]
Font = ImageFont.FreeTypeFont
# Left, top, right and bottom of a box, in pixels of the picture.
Corners = tuple[float, float, float, float]


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
    # The largest first, so that they lie below the smaller ones.
    shapes = [_shape(row, colors, scale) for row in regions.to_dict("records")]
    shapes.sort(key=lambda shape: -shape.area_px2)
    shapes = shapes[:MOST_REGIONS]
    for shape in shapes:
        _fill(image, shape, scale)

    # Boxes come after all masks, which may have given a shape its box.
    shorter_px = min(image.size)
    draw = ImageDraw.Draw(image)
    line = max(2, round(shorter_px / 240))
    boxes = [(shape, box) for shape in shapes if (box := _clip(shape.box, image.size))]
    for shape, box in boxes:
        _outline(draw, box, shape.color, line)
    if not labelled or shorter_px < _LABELLED_PX:
        return image

    # The smallest find a free place first.
    font = _font(max(11, min(22, shorter_px // 32)))
    occupied: list[Corners] = []
    for shape, box in reversed(boxes):
        _label(draw, image.size, shape, box, font, occupied)
    return image


@dataclass
class _Shape:
    """A region to draw: its text is the concept with its score.

    The box is not yet cut to the picture, and the segmentation is as annotated.
    """

    text: str
    color: Color
    box: Corners | None
    segmentation: str | None

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
    """The shape of a row of the regions, in pixels of the picture."""
    concept, score, segmentation = str(row["concept"]), row.get("score"), row.get("segmentation")
    text = concept
    if isinstance(score, float) and not math.isnan(score):
        text = f"{concept} {score:.2f}"

    # A region without a box has NaN in its place.
    x, y, w, h = (float(row[name]) for name in ("x_px", "y_px", "w_px", "h_px"))  # type: ignore[arg-type]
    corners = np.array([x, y, x + w, y + h]) * (*scale, *scale)
    box = tuple(corners.tolist()) if np.isfinite(corners).all() else None
    return _Shape(
        text=text,
        color=_color(colors.get(concept, _NO_COLOR)),
        box=box,
        segmentation=segmentation if isinstance(segmentation, str) else None,
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
        inside = _rasterise(shape.segmentation, image.size, scale)
    except SegmentationError:
        return
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    if not len(rows):
        return

    # Only the mask's own part of the picture is looked at.
    left, upper, right, lower = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
    bounds = (int(left), int(upper), int(right), int(lower))
    part = np.pad(inside[upper:lower, left:right], 1)
    # A pixel is on the edge unless its four neighbours are in the mask, too.
    interior = part[:-2, 1:-1] & part[2:, 1:-1] & part[1:-1, :-2] & part[1:-1, 2:]
    part = part[1:-1, 1:-1]
    opacity = np.select([interior & part, part], [_MASK, _EDGE], 0).astype(np.uint8)
    image.paste(shape.color, bounds, Image.fromarray(opacity))
    if shape.box is None:
        shape.box = (float(left), float(upper), float(right), float(lower))


def _rasterise(segmentation: str, size: tuple[int, int], scale: tuple[float, float]) -> BoolArray:
    """The pixels of the picture that a segmentation covers."""
    mask = parse_segmentation(segmentation)
    if isinstance(mask, Polygons):
        return mask.scale(*scale).mask(*size)
    # Nearest, as a pixel is in the mask or not.
    original = Image.fromarray(mask.mask())
    return np.asarray(original.resize(size, Image.Resampling.NEAREST))


def draw_mask_edge(image: Image.Image, mask: Image.Image, color: str) -> Image.Image:
    """Draw the edge of a mask onto an RGB image, in place, and give it: a line with a halo.

    The mask, of any size and mode, is white on the object, and scaled to the image; the colour is
    as CSS has it.
    """
    scaled = mask.convert("L").resize(image.size, Image.Resampling.NEAREST)
    inside = scaled.point([0] * 128 + [255] * 128)
    line = max(1, round(min(image.size) / 100))

    # Each ring is the mask grown by a width, less what the one before has covered.
    covered = inside
    for width, paint in ((line, _color(color)), (2 * line, _contrast(_color(color)))):
        grown = inside.filter(ImageFilter.MaxFilter(2 * width + 1))
        image.paste(paint, mask=ImageChops.subtract(grown, covered))
        covered = grown
    return image


def _outline(draw: ImageDraw.ImageDraw, box: Corners, color: Color, line: int) -> None:
    """Draw a box with a thin contrasting line on either side."""
    x0, y0, x1, y1 = box
    halo = (x0 - 1, y0 - 1, x1 + 1, y1 + 1)
    draw.rectangle(halo, outline=_contrast(color), width=line + 2)
    draw.rectangle(box, outline=color, width=line)


def _clip(box: Corners | None, size: tuple[int, int]) -> Corners | None:
    """Clip a box to the picture, at least two pixels wide and high; None if it is outside."""
    if box is None:
        return None
    x0, y0, x1, y1 = box
    width, height = size
    if x0 >= width or y0 >= height or x1 < 0 or y1 < 0 or x1 < x0 or y1 < y0:
        return None

    x0, y0 = min(max(x0, 0.0), width - 2.0), min(max(y0, 0.0), height - 2.0)
    x1, y1 = max(min(x1, width - 1.0), x0 + 1), max(min(y1, height - 1.0), y0 + 1)
    return x0, y0, x1, y1


def _label(
    draw: ImageDraw.ImageDraw,
    size: tuple[int, int],
    shape: _Shape,
    box: Corners,
    font: Font,
    occupied: list[Corners],
) -> None:
    """Write a label above its box, else inside, else below, where it overlaps no other label."""
    x0, y0, x1, y1 = box
    pad = 3
    # As wide as its box, or as a word of some length.
    room = max(x1 - x0, 12 * font.size)
    text = _truncate(shape.text, font, min(size[0] - 2 * pad, room))
    width, height = font.getlength(text) + 2 * pad, round(font.size * 1.3)

    x = max(0.0, min(x0, size[0] - width))
    places = [(x, y, x + width, y + height) for y in (y0 - height, y0, y1 - height, y1)]
    inside = [place for place in places if place[1] >= 0 and place[3] <= size[1]]
    free = [place for place in inside if not any(_overlap(place, other) for other in occupied)]
    # Where all are occupied labels overlap, and on a picture that is too low they are cut.
    place = (free or inside or places[1:2])[0]
    occupied.append(place)

    draw.rectangle(place, fill=shape.color)
    middle = (place[0] + pad, (place[1] + place[3]) / 2)
    draw.text(middle, text, font=font, fill=_contrast(shape.color), anchor="lm")


def _overlap(a: Corners, b: Corners) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _contrast(color: Color) -> Color:
    """Black or white, whichever has more contrast by the relative luminance of WCAG 2."""
    red, green, blue = map(_linear, color)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    # At this luminance black and white have the same contrast.
    return _DARK if luminance > 0.179 else _LIGHT


def _linear(channel: int) -> float:
    """The intensity of a channel of sRGB, from 0 to 1."""
    if channel <= 10:
        return channel / (255 * 12.92)
    return float(((channel / 255 + 0.055) / 1.055) ** 2.4)


def placeholder(problem: str, uri: str | None, size_px: int) -> Image.Image:
    """Draw a problem and a path; readable from about 160 pixels on."""
    width = max(16, min(size_px, _WIDEST))
    height = round(width * _SHAPE)
    image = Image.new("RGB", (width, height), _PAPER)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, width - 1, height - 1), outline=_FAINT)

    font = _font(max(9, min(16, width // 22)))
    line = round(font.size * 1.35)
    margin = max(4, width // 20)
    most_lines = max(2, (height - 2 * margin) // line)
    # A long problem leaves a third of the lines to the path.
    problem_lines = _wrap(problem, font, width - 2 * margin, max(1, most_lines * 2 // 3))
    room = max(1, most_lines - len(problem_lines) - 1)
    path_lines = _wrap(uri or "", font, width - 2 * margin, room)

    # Half a line stands between the two, which are in the middle together.
    text_height = line * (len(problem_lines) + len(path_lines))
    if path_lines:
        text_height += line // 2
    y = (height - text_height) / 2
    for texts, ink in ((problem_lines, _INK), (path_lines, _FAINT)):
        for text in texts:
            x = (width - font.getlength(text)) / 2
            draw.text((x, y), text, font=font, fill=ink)
            y += line
        y += line / 2
    return image


# The first covers most scripts; Pillow's own font covers those of Europe.
_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf")
# Characters of a text that are drawn at most.
_MOST = 400


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


def _truncate(text: str, font: Font, most_px: float) -> str:
    """Truncate text to a width, with an ellipsis."""
    text = _printable(text)
    if font.getlength(text) <= most_px:
        return text
    end = _fitting(text, font, most_px - font.getlength("…"))
    return text[:end].rstrip() + "…"


def _wrap(text: str, font: Font, most_px: float, most_lines: int) -> list[str]:
    """Break text into lines at spaces, or inside long words, and truncate the last one."""
    rest = _printable(text).strip()
    lines: list[str] = []
    while rest and len(lines) < most_lines - 1:
        end = _fitting(rest, font, most_px)
        if end < len(rest):
            # At the last space, or inside a word that has none before it; a character at least.
            space = rest.rfind(" ", 0, end + 1)
            end = space if space > 0 else max(end, 1)
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()

    if rest:
        lines.append(_truncate(rest, font, most_px))
    return lines


def _fitting(text: str, font: Font, most_px: float) -> int:
    """The most characters that fit into a width."""
    # A longer text is never narrower, so that the end can be found by bisection.
    ends = range(len(text) + 1)
    return bisect_right(ends, most_px, key=lambda end: font.getlength(text[:end])) - 1


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

    # From cold to warm in the lower half of the levels, from warm to hot in the upper one.
    cold, warm, hot = (np.array(color, dtype=np.float64) for color in (_COLD, _WARM, _HOT))
    below = cold + (warm - cold) * level * 2
    above = warm + (hot - warm) * (level * 2 - 1)
    colors = np.where(level < 0.5, below, above)

    weight = _OPACITY * level
    dimmed = np.asarray(base, dtype=np.float64) * (0.75 + 0.25 * level)
    mixed = dimmed * (1 - weight) + colors * weight
    out = BytesIO()
    Image.fromarray(mixed.clip(0, 255).astype(np.uint8)).save(out, "JPEG", quality=88)
    return out.getvalue()
