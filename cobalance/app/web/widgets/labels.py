"""Labels, names in Markdown and number formats of all pages."""

import re
from collections.abc import Iterable, Sequence

_SPECIAL = "\\`*_{}[]()<>#+-.!|~$:&^=\"'@/"
# A hyphen before a number, and not within a name.
_HYPHEN = re.compile(r"(?<![\w-])-(?=\.?\d)")
_ESCAPES = str.maketrans({c: f"\\{c}" for c in _SPECIAL} | dict.fromkeys("\r\n\t", " "))


def shorten(text: str, most: int = 40) -> str:
    """Cut a long name for a heading.

    Examples
    --------
    >>> shorten("a" * 50, 10)
    'aaaaaaaaa…'
    """
    if len(text) <= most:
        return text
    return f"{text[: most - 1]}…"


def shorten_middle(text: str, most: int) -> str:
    """Cut a long name in its middle, since long names often differ only at their ends.

    Examples
    --------
    >>> shorten_middle("a road in a field", 11)
    'a road …eld'
    """
    if len(text) <= most:
        return text
    # The beginning says more, and has twice the room of the end.
    tail = (most - 1) // 3
    return f"{text[: most - 1 - tail]}…{text[-tail:]}"


def distinct_labels(names: Sequence[str], most: int) -> list[str]:
    """Short, distinct labels: an axis would merge equal ones.

    Examples
    --------
    >>> one, other = distinct_labels(["a road in a field", "a road in one field"], 11)
    >>> one == other, one == other.strip("\N{ZERO WIDTH SPACE}")
    (False, True)
    """
    labels: dict[str, None] = {}
    for name in names:
        label = shorten_middle(name, most)
        # Names that are cut to the same text differ by spaces that are not seen.
        while label in labels:
            label += "\N{ZERO WIDTH SPACE}"
        labels[label] = None

    return list(labels)


def clique_labels(cliques: Iterable[Sequence[str]]) -> list[str]:
    """A label for each clique; its concepts share the room.

    Examples
    --------
    >>> clique_labels([("cow", "field")])
    ['cow + field']
    """
    texts = []
    for members in cliques:
        # They share 36 characters, less two for a plus sign; fewer than six of a name say nothing.
        most = max(6, 36 // len(members) - 2)
        texts.append(" + ".join(shorten_middle(name, most) for name in members))

    # Sixteen names of six characters, with their plus signs, are not cut again.
    return distinct_labels(texts, 144)


def escape(name: str) -> str:
    r"""Escape a name for Markdown.

    Examples
    --------
    >>> print(escape("*a* <b> :red[c] $x$"))
    \*a\* \<b\> \:red\[c\] \$x\$
    """
    return name.translate(_ESCAPES)


def bold(name: str, most: int = 60) -> str:
    r"""Shorten and escape a name, in bold Markdown.

    Examples
    --------
    >>> print(bold("cow "), bold("*"), bold(" "))
    **cow** **\*** **\(no name\)**
    """
    # Markdown reads no stars beside a space, which a cut may leave at the end.
    text = shorten(name.strip() or "(no name)", most)
    return f"**{escape(text.strip())}**"


def unless_empty(form: str, value: object) -> str:
    """A phrase with a number or text in its braces; nothing for 0, None or an empty text.

    Examples
    --------
    >>> unless_empty("; {:,} more", 1200), unless_empty(" by {}", "")
    ('; 1,200 more', '')
    """
    return form.format(value) if value else ""


def minus_signs(text: str) -> str:
    """A text whose negative numbers have a minus sign in place of a hyphen.

    Examples
    --------
    >>> minus_signs("+2.30 [-0.43, 5.04] of B-52")
    '+2.30 [−0.43, 5.04] of B-52'
    """
    return _HYPHEN.sub("\N{MINUS SIGN}", text)
