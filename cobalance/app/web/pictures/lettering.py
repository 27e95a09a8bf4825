"""Text in pictures: fonts, widths, truncation and line breaks."""

from bisect import bisect_right
from functools import lru_cache
from typing import cast

from PIL import ImageFont

Font = ImageFont.FreeTypeFont

# The first covers most scripts; Pillow's own font covers those of Europe.
_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf")
_MOST = 400  # characters; the rest is ignored


@lru_cache(maxsize=64)
def font(size_px: int) -> Font:
    """A font of this size: a system font, else Pillow's default."""
    for name in _FONTS:
        try:
            return ImageFont.truetype(name, size_px)
        except OSError:
            continue
    return cast(Font, ImageFont.load_default(size_px))


def plain(text: str) -> str:
    r"""Replace unprintable characters, such as line ends and direction marks, by spaces.

    Examples
    --------
    >>> plain("a\nb\u202ec")
    'a b c'
    """
    return "".join(c if c.isprintable() else " " for c in text[:_MOST])


def width_px(text: str, letters: Font) -> float:
    """Width of a line of text."""
    return letters.getlength(text)


def fitted(text: str, letters: Font, most_px: float) -> str:
    """Truncate text to a width, with an ellipsis."""
    text = plain(text)
    if width_px(text, letters) <= most_px:
        return text
    end = _fitting(text, letters, most_px - width_px("…", letters))
    return text[:end].rstrip() + "…"


def wrapped(text: str, letters: Font, most_px: float, lines: int) -> list[str]:
    """Break text into lines at spaces, or inside long words, and truncate the last one."""
    rest = plain(text).strip()
    found: list[str] = []
    while rest and len(found) < lines - 1:
        end = _fitting(rest, letters, most_px)
        space = rest.rfind(" ", 0, end + 1) if end < len(rest) else end
        end = space if space > 0 else max(end, 1)
        found.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*found, fitted(rest, letters, most_px)] if rest else found


def _fitting(text: str, letters: Font, most_px: float) -> int:
    """The most characters that fit into a width."""
    ends = range(len(text) + 1)
    return bisect_right(ends, most_px, key=lambda end: width_px(text[:end], letters)) - 1
