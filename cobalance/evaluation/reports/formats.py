"""Formats of reports."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import pandas as pd

from cobalance.graph.plugins import Declaration
from cobalance.graph.registry import Registry


@dataclass(frozen=True)
class Report(Declaration):
    """A format of reports.

    Parameters
    ----------
    suffix : str
        Of its files, with the dot.
    write : callable
        Takes a table and its title, returns the file's content.
    is_for_people : bool
        Whether it shows means as text, a column for each metric, rather than a row a score.
    """

    suffix: str
    write: Callable[[pd.DataFrame, str], bytes]
    is_for_people: bool = False


def _csv(frame: pd.DataFrame, _: str) -> bytes:
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _parquet(frame: pd.DataFrame, _: str) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "±": r"$\pm$",
        "\n": " ",
        "\r": " ",
    }
)


def latex_text(text: object) -> str:
    r"""Text as LaTeX shows it, whatever characters it has.

    Examples
    --------
    >>> print(latex_text("50% of a_b ± 1 \\input{x}"))
    50\% of a\_b $\pm$ 1 \textbackslash{}input\{x\}
    """
    return str(text).translate(_LATEX)


def _latex(frame: pd.DataFrame, title: str) -> bytes:
    aligned = "".join("r" if _is_number(frame[name]) else "l" for name in frame)
    header = " & ".join(latex_text(str(name).replace("_", " ")) for name in frame)
    rows = [
        " & ".join("" if pd.isna(value) else latex_text(value) for value in row) + r" \\"
        for row in frame.itertuples(index=False)
    ]
    lines = [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{latex_text(title)}}}",
        rf"  \begin{{tabular}}{{{aligned}}}",
        r"    \toprule",
        rf"    {header} \\",
        r"    \midrule",
        *(f"    {row}" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return ("\n".join(lines) + "\n").encode()


_STYLE = (
    "body{font:15px/1.4 system-ui,sans-serif;margin:2rem}table{border-collapse:collapse}"
    "th,td{padding:.3rem .8rem;text-align:left;border-bottom:1px solid #ccc}"
    "td.number{text-align:right;font-variant-numeric:tabular-nums}"
)


def _html(frame: pd.DataFrame, title: str) -> bytes:
    numbers = [_is_number(frame[name]) for name in frame]
    header = "".join(f"<th>{escape(str(name).replace('_', ' '))}</th>" for name in frame)
    rows = [
        "".join(
            f"<td{' class=number' if number else ''}>"
            f"{'' if pd.isna(value) else escape(str(value))}</td>"
            for value, number in zip(row, numbers, strict=True)
        )
        for row in frame.itertuples(index=False)
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{escape(title)}</h1>\n<table><thead><tr>{header}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody></table></body></html>\n"
    ).encode()


def _is_number(column: "pd.Series[Any]") -> bool:
    return bool(pd.api.types.is_numeric_dtype(column))


REPORTS: Registry[Report] = Registry("report format")
"""Formats of reports by name."""

for _report in (
    Report("csv", "A row for each score, as text.", ".csv", _csv),
    Report("parquet", "A row for each score, with types.", ".parquet", _parquet),
    Report("latex", "A table with booktabs, for a paper.", ".tex", _latex, is_for_people=True),
    Report("html", "A page with the table.", ".html", _html, is_for_people=True),
):
    REPORTS.register(_report.name, _report)
