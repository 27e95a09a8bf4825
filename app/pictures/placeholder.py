"""Placeholder for an image that cannot be shown, with the reason and its path."""

from PIL import Image, ImageDraw

from app.pictures.lettering import font, width_px, wrapped

_PAPER, _INK, _FAINT = "#ECEEF1", "#3C424B", "#7A828E"
_WIDEST = 640
_SHAPE = 3 / 4  # height to width


def placeholder(problem: str, uri: str | None, size_px: int) -> Image.Image:
    """Draw a problem and a path; readable from about 160 pixels on."""
    width = max(16, min(size_px, _WIDEST))
    height = round(width * _SHAPE)
    image = Image.new("RGB", (width, height), _PAPER)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, width - 1, height - 1), outline=_FAINT)
    letters = font(max(9, min(16, width // 22)))
    line = round(letters.size * 1.35)
    margin = max(4, width // 20)
    room = max(2, (height - 2 * margin) // line)
    said = wrapped(problem, letters, width - 2 * margin, max(1, room * 2 // 3))
    path = wrapped(uri or "", letters, width - 2 * margin, max(1, room - len(said) - 1))
    top = (height - line * (len(said) + len(path)) - (line // 2 if path else 0)) / 2
    for texts, ink in ((said, _INK), (path, _FAINT)):
        for text in texts:
            left = (width - width_px(text, letters)) / 2
            draw.text((left, top), text, font=letters, fill=ink)
            top += line
        top += line / 2
    return image
