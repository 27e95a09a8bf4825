"""Names as Markdown, whatever characters they contain."""

from app.views.widgets.theme import shorten

_SPECIAL = frozenset("\\`*_{}[]()<>#+-.!|~$:&^=\"'@/")


def escape(name: str) -> str:
    r"""Make a name safe to stand in Markdown, whatever characters it has.

    Examples
    --------
    >>> print(escape("*a* <b> :red[c] $x$"))
    \*a\* \<b\> \:red\[c\] \$x\$
    """
    return "".join(f"\\{c}" if c in _SPECIAL else " " if c in "\r\n\t" else c for c in name)


def bold(name: str, most: int = 60) -> str:
    r"""Make a name bold in Markdown, shortened, whatever characters it has.

    Examples
    --------
    >>> print(bold("cow "), bold("*"), bold(" "))
    **cow** **\*** **\(no name\)**
    """
    return f"**{escape(shorten(name.strip() or '(no name)', most).strip())}**"
