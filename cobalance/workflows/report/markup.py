"""HTML of a report: escaped texts, tables, figures, and the page around them."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Any

from cobalance.base import text_if
from cobalance.workflows.cells import cell_text
from cobalance.workflows.concept_graph import CLASS_COLORS, text

MAX_ROWS = 60
"""Rows of tables that are as long as the dataset has classes, splits or labelled concepts."""
# Characters of a name in a cell; the whole name is its tooltip.
_LONGEST = 60
_STYLE = Path(__file__).with_name("report.css").read_text(encoding="utf-8") + "".join(
    f".f{i}{{fill:{color}}}.s{i}{{stroke:{color}}}\n" for i, color in enumerate(CLASS_COLORS)
)
_PAGE = Template(Path(__file__).with_name("report.html").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, its cells, and whether they are numbers."""

    name: str
    cells: Sequence[Any]
    is_number: bool = False


class Name(str):
    """A name in a sentence, isolated from the text direction around it."""

    __slots__ = ()


def paragraph(words: str | Sequence[str], kind: str = "") -> str:
    """A paragraph of one or more texts; none without words.

    Examples
    --------
    >>> print(paragraph(["Most show ", Name("cow & calf"), "."]))
    <p>Most show <bdi>cow &amp; calf</bdi>.</p>
    """
    content = ""
    for part in [words] if isinstance(words, str) else words:
        content += _cell(part) if isinstance(part, Name) else text(part)
    attribute = text_if(kind, f" class={kind}")
    return text_if(content, f"<p{attribute}>{content}</p>")


def section(heading: str, *parts: str) -> str:
    """A part of the page under a heading."""
    body = "\n".join(filter(None, parts))
    return f"<section>\n<h2>{text(heading)}</h2>\n{body}\n</section>"


def table(caption: str, columns: Sequence[Column]) -> str:
    """A table whose first column names the rows.

    Examples
    --------
    >>> print(table("Images", [Column("class", ["<a>"]), Column("n", [1200], True)]))
    <div class="wide" role="region" aria-label="Images" tabindex="0"><table>
    <caption>Images</caption>
    <thead><tr><th scope="col">class</th><th scope="col" class="n">n</th></tr></thead>
    <tbody>
    <tr><th scope="row"><bdi>&lt;a&gt;</bdi></th><td class="n">1,200</td></tr>
    </tbody></table></div>
    """
    head = ""
    for column in columns:
        name = text(cell_text(column.name, _LONGEST))
        head += f'<th scope="col"{_kind(column)}>{name}</th>'

    rows = []
    for cells in zip(*(column.cells for column in columns), strict=True):
        row = f'<th scope="row"{_kind(columns[0])}>{_cell(cells[0])}</th>'
        for column, cell in zip(columns[1:], cells[1:], strict=True):
            row += f"<td{_kind(column)}>{_cell(cell)}</td>"
        rows.append(f"<tr>{row}</tr>")

    label = text(cell_text(caption, _LONGEST))
    lines = "\n".join(["<tbody>", *rows, "</tbody></table></div>"])
    return (
        f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table>\n'
        f"<caption>{text(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n{lines}"
    )


def figure(caption: str, svg: str) -> str:
    """A picture with its caption."""
    label = text(cell_text(caption, _LONGEST))
    wide = f'<div class="wide" role="region" aria-label="{label}" tabindex="0">'
    return f"<figure><figcaption>{text(caption)}</figcaption>\n{wide}{svg}</div></figure>"


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Names with their values."""
    lines = (f"<dt>{text(name)}</dt><dd><bdi>{text(value)}</bdi></dd>" for name, value in rows)
    return f"<dl>{''.join(lines)}</dl>"


def details(summary: str, *parts: str) -> str:
    """A collapsed block with a summary."""
    return f"<details><summary>{text(summary)}</summary>\n{''.join(parts)}\n</details>"


def code(words: str) -> str:
    """A block of code."""
    return f"<pre><code>{text(words)}</code></pre>"


def document(title: str, body: Sequence[str]) -> str:
    """The whole page; its policy allows its own style sheet, and nothing else."""
    return _PAGE.substitute(
        digest=b64encode(sha256(_STYLE.encode()).digest()).decode(),
        title=text(cell_text(title, _LONGEST)),
        style=_STYLE,
        body="\n".join(filter(None, body)),
    )


def _kind(column: Column) -> str:
    return text_if(column.is_number, ' class="n"')


def _cell(value: Any) -> str:
    """A cell's text; names keep their direction to themselves."""
    if isinstance(value, tuple):
        return " + ".join(map(_cell, value))
    if not isinstance(value, str):
        return text(cell_text(value))
    short = cell_text(value, _LONGEST)
    tooltip = text_if(len(short) < len(value), f' title="{text(value)}"')
    return f"<bdi{tooltip}>{text(short)}</bdi>"


def rest(total: int, what: str) -> str:
    """Note on the rows that a table leaves out; empty if none."""
    more = total - MAX_ROWS
    return text_if(more > 0, paragraph(f"{more:,} more {what} are not listed.", "muted"))
