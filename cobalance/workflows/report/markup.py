"""HTML of a report: escaped texts, tables, figures, and the page around them."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cobalance.workflows.cells import cell_text
from cobalance.workflows.concept_graph.colors import CLASS_COLORS
from cobalance.workflows.concept_graph.svg import text

MAX_ROWS = 60
"""Rows of tables that are as long as the dataset has classes, splits or labelled concepts."""
_LONGEST = 60  # characters of a name in a cell; all of it is its tooltip

PALETTES = {
    "light": {"text": "#1f2328", "muted": "#57606a", "page": "#ffffff", "line": "#d0d7de"},
    "dark": {"text": "#e6edf3", "muted": "#9da7b3", "page": "#0d1117", "line": "#30363d"},
}
"""Colours of texts, of what they stand on and of lines, by the reader's colour scheme."""

_RULES = """
*{box-sizing:border-box}
body{margin:0 auto;max-width:64rem;padding:1.5rem 1rem 4rem;background:var(--page);
color:var(--text);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem}
h2{font-size:1.25rem;margin:2.5rem 0 .5rem;padding-top:.6rem;border-top:1px solid var(--line)}
p{margin:.5rem 0;max-width:46rem}
.muted,caption,figcaption{color:var(--muted)}
.lead{font-size:1.15rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:.8rem 0;font-size:.9rem;min-width:min(26rem,100%)}
table{overflow-wrap:break-word}
caption,figcaption{text-align:left;font-size:.9rem;padding-bottom:.3rem}
th,td{padding:.3rem .7rem .3rem 0;text-align:left;vertical-align:top;
border-bottom:1px solid var(--line)}
th[scope=col]{white-space:nowrap;vertical-align:bottom}
th[scope=row]{font-weight:400}
th[scope=row],td:not(.n){min-width:7rem}
th.n,td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
figure{margin:1rem 0}
svg{display:block;width:100%;min-width:36rem;max-width:56rem;height:auto;
font:13px system-ui,sans-serif}
.label{fill:var(--text);stroke:var(--page);stroke-width:3px;paint-order:stroke}
.box{fill:var(--page)}
.axis{stroke:var(--muted)}
.hair{stroke:var(--line)}
.ring{fill:var(--page);stroke-width:3px}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;margin:.5rem 0;list-style:none}
svg.key{display:inline;width:.75rem;min-width:0}
details{margin:.4rem 0}
summary{cursor:pointer}
pre{white-space:pre-wrap;font-size:.8rem;padding:.6rem;border:1px solid var(--line)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.8rem 0}
dt{color:var(--muted)}
dd{margin:0}
@media (max-width:32rem){dl{display:block}dd{margin-bottom:.4rem}}
"""
_PRINT = """
body{max-width:none;padding:0;font-size:11px}
h2,caption,figcaption{break-after:avoid}
tr,figure{break-inside:avoid}
.wide{overflow:visible}
th[scope=row]{overflow-wrap:anywhere}
th.n,td.n,th[scope=col]{white-space:normal}
svg{min-width:0}
"""


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, its cells, and whether they are numbers."""

    name: str
    cells: Sequence[Any]
    is_number: bool = False


class Name(str):
    """A name in a sentence: what direction it is written in does not change that of the rest."""

    __slots__ = ()


def paragraph(words: str | Sequence[str], kind: str = "") -> str:
    """A paragraph of one or more texts; none without words.

    Examples
    --------
    >>> print(paragraph(["Most show ", Name("cow & calf"), "."]))
    <p>Most show <bdi>cow &amp; calf</bdi>.</p>
    """
    parts = [words] if isinstance(words, str) else words
    inside = "".join(_cell(part) if isinstance(part, Name) else text(part) for part in parts)
    return f"<p{f' class={kind}' if kind else ''}>{inside}</p>" if inside else ""


def section(heading: str, *parts: str) -> str:
    """A part of the page under a heading."""
    body = "\n".join(part for part in parts if part)
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
    head = "".join(
        f'<th scope="col"{_kind(column)}>{text(cell_text(column.name, _LONGEST))}</th>'
        for column in columns
    )
    rows = []
    for cells in zip(*(column.cells for column in columns), strict=True):
        first, *rest = (_cell(cell) for cell in cells)
        others = zip(columns[1:], rest, strict=True)
        line = "".join(f"<td{_kind(column)}>{cell}</td>" for column, cell in others)
        rows.append(f'<tr><th scope="row"{_kind(columns[0])}>{first}</th>{line}</tr>')
    label = text(cell_text(caption, _LONGEST))
    return "\n".join(
        [
            f'<div class="wide" role="region" aria-label="{label}" tabindex="0"><table>',
            f"<caption>{text(caption)}</caption>",
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *rows,
            "</tbody></table></div>",
        ]
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


def folded(summary: str, *parts: str) -> str:
    """What is seen once it is opened."""
    return f"<details><summary>{text(summary)}</summary>\n{''.join(parts)}\n</details>"


def code(words: str) -> str:
    """A text as it is typed."""
    return f"<pre><code>{text(words)}</code></pre>"


def document(title: str, body: Sequence[str]) -> str:
    """The whole page; its policy allows its own style sheet, and nothing else."""
    style = _style()
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{text(cell_text(title, _LONGEST))}</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            "<main>",
            *(part for part in body if part),
            "</main>",
            "</body>",
            "</html>\n",
        ]
    )


def _style() -> str:
    schemes = {
        name: ";".join(f"--{key}:{color}" for key, color in palette.items())
        for name, palette in PALETTES.items()
    }
    classes = "\n".join(
        f".f{at}{{fill:{color}}}.s{at}{{stroke:{color}}}" for at, color in enumerate(CLASS_COLORS)
    )
    return (
        f":root{{color-scheme:light dark;{schemes['light']}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{schemes['dark']}}}}}"
        f"{_RULES}{classes}\n@media print{{{_PRINT}}}"
    )


def _kind(column: Column) -> str:
    return ' class="n"' if column.is_number else ""


def _cell(value: Any) -> str:
    """A cell's text; names keep their direction to themselves."""
    if isinstance(value, tuple):
        return " + ".join(map(_cell, value))
    if not isinstance(value, str):
        return text(cell_text(value))
    short = cell_text(value, _LONGEST)
    whole = f' title="{text(value)}"' if len(short) < len(value) else ""
    return f"<bdi{whole}>{text(short)}</bdi>"


def rest(total: int, what: str) -> str:
    """How many rows a table leaves out; nothing where it has them all."""
    more = total - MAX_ROWS
    return paragraph(f"{more:,} more {what} are not listed.", "muted") if more > 0 else ""
