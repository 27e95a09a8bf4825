"""Labels, names in Markdown and number formats of all pages."""

from collections.abc import Iterable, Sequence

_SPECIAL = frozenset("\\`*_{}[]()<>#+-.!|~$:&^=\"'@/")


def shorten(text: str, most: int = 40) -> str:
    """Cut a long name for a heading.

    Examples
    --------
    >>> shorten("a" * 50, 10)
    'aaaaaaaaa…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def shorten_middle(text: str, most: int) -> str:
    """Cut a long name in its middle, since long names often differ only at their ends.

    Examples
    --------
    >>> shorten_middle("a road in a field", 11)
    'a road …eld'
    """
    tail = (most - 1) // 3
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"


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
    texts = (
        " + ".join(shorten_middle(name, max(6, 36 // len(members) - 2)) for name in members)
        for members in cliques
    )
    return distinct_labels([*texts], 144)


def escape(name: str) -> str:
    r"""Escape a name for Markdown.

    Examples
    --------
    >>> print(escape("*a* <b> :red[c] $x$"))
    \*a\* \<b\> \:red\[c\] \$x\$
    """
    return "".join(f"\\{c}" if c in _SPECIAL else " " if c in "\r\n\t" else c for c in name)


def bold(name: str, most: int = 60) -> str:
    r"""Shorten and escape a name, in bold Markdown.

    Examples
    --------
    >>> print(bold("cow "), bold("*"), bold(" "))
    **cow** **\*** **\(no name\)**
    """
    return f"**{escape(shorten(name.strip() or '(no name)', most).strip())}**"


def duration_text(seconds: float) -> str:
    """A length of time, to two figures or so.

    Examples
    --------
    >>> [duration_text(s) for s in (4.2, 70, 5400, 200_000, 2_000_000)]
    ['4 s', '70 s', '90 min', '56 h', '23 days']
    """
    for unit, length_s, most in (("s", 1, 100), ("min", 60, 100), ("h", 3600, 72)):
        if seconds < most * length_s:
            return f"{seconds / length_s:,.0f} {unit}"
    return f"{seconds / 86400:,.0f} days"
