"""Counts in English, such as 1 image and 7,308 images, and parts of sentences."""

import re

_PLURAL = re.compile(r"\b(\w+?)(ies|(?<=[sx])es|s)\b")


def inflect(number: int, things: str) -> str:
    """Format a count: the first plural becomes a singular for one.

    Examples
    --------
    >>> inflect(7308, "images"), inflect(1, "queries"), inflect(0, "classes")
    ('7,308 images', '1 query', '0 classes')
    >>> inflect(1, "real images in groups of one class")
    '1 real image in groups of one class'
    """
    if number == 1:
        things = _PLURAL.sub(_singular, things, count=1)
    return f"{number:,} {things}"


def _singular(plural: re.Match[str]) -> str:
    stem, ending = plural.groups()
    return stem + text_if(ending == "ies", "y")


def agree(n: int, singular: str, plural: str) -> str:
    """The form of a verb that goes with a number.

    Examples
    --------
    >>> agree(1, "leans", "lean"), agree(0, "leans", "lean")
    ('leans', 'lean')
    """
    return singular if n == 1 else plural


def text_if(condition: object, text: str) -> str:
    """A part of a sentence, or an empty text where its condition does not hold.

    Examples
    --------
    >>> f"3 images{text_if(0, ', 0 pending')}{text_if(2, ', 2 rejected')}"
    '3 images, 2 rejected'
    """
    if condition:
        return text
    return ""
