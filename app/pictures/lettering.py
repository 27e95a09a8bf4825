"""Text in pictures: what a font can draw, and as much of it as there is room for."""

from functools import lru_cache
from typing import cast

from PIL import ImageFont

Font = ImageFont.FreeTypeFont

# The first has most scripts of the world's names; Pillow's own has those of Europe.
_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "Arial.ttf")
_MOST = 400  # characters that are looked at


@lru_cache(maxsize=64)
def font(size_px: int) -> Font:
    """A font of this size: one of the system's, else Pillow's own."""
    for name in _FONTS:
        try:
            return ImageFont.truetype(name, size_px)
        except OSError:
            continue
    return cast(Font, ImageFont.load_default(size_px))


def plain(text: str) -> str:
    r"""Text without what is no character to draw, such as line ends and marks of direction.

    Examples
    --------
    >>> plain("a\nb\u202ec")
    'a b c'
    """
    return "".join(c if c.isprintable() else " " for c in text[:_MOST])


def width_px(text: str, letters: Font) -> float:
    """How wide a line of text is."""
    return letters.getlength(text)


def fitted(text: str, letters: Font, most_px: float) -> str:
    """The text, or as much of its beginning as fits, with an ellipsis."""
    text = plain(text)
    if width_px(text, letters) <= most_px:
        return text
    end = _fitting(text, letters, most_px - width_px("…", letters))
    return text[:end].rstrip() + "…"


def wrapped(text: str, letters: Font, most_px: float, lines: int) -> list[str]:
    """The text in lines that fit, broken at spaces, in a long word anywhere, and cut off."""
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
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width_px(text[:middle], letters) <= most_px:
            low = middle
        else:
            high = middle - 1
    return low
