"""Names as the graph has them, whoever typed them."""

import re
import unicodedata

IMAGE_PROPERTY = "image: "
"""How the names of concepts begin that are properties of an image's file."""
# Joiners, which shape letters, are not among them.
_NO_WIDTH = re.compile("[\u200b\u2060\ufeff]")


def clean_name(text: str) -> str:
    r"""Strip white space, remove spaces without width, and normalise to Unicode NFC.

    Examples
    --------
    >>> clean_name(" cafe\u0301 ")
    'café'
    >>> clean_name("\ufeffstop\u200b sign")
    'stop sign'
    """
    return unicodedata.normalize("NFC", _NO_WIDTH.sub("", text).strip())


def is_image_property(concept: str) -> bool:
    """Whether a concept is a property of an image's file, such as its brightness."""
    return concept.startswith(IMAGE_PROPERTY)
