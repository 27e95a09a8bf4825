"""Tables of means over seeds, and formats of reports."""

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from cobalance.base import Declaration, Registry, pandas as pd

RUN = ("train", "training_set", "test", "method", "settings")
"""Columns that tell runs apart, but for their seeds."""
SCORE = ("metric", "group")


def arrange(summary: "pd.DataFrame", metrics: Sequence[str]) -> "pd.DataFrame":
    """One row for each run, with a column of text in percent for each metric.

    Parameters
    ----------
    summary : pandas.DataFrame
        Means by `RUN` and `SCORE`, from `cobalance.evaluation.differences.mean_and_sd`.
    metrics : sequence of str
        Which; a metric of groups has a column for each.

    Examples
    --------
    >>> summary = pd.DataFrame({"train": "D", "training_set": "real", "test": "T", "method": "erm",
    ...     "settings": "linear", "metric": "worst_group", "group": "", "mean": [.405], "sd": [.02],
    ...     "seeds": 3, "outdated": False})
    >>> arrange(summary, ["worst_group"]).iloc[0].to_dict()["worst_group"]
    '40.5 ± 2.0'
    """
    rows: dict[tuple[object, ...], dict[str, object]] = {}
    columns = dict.fromkeys([*RUN, "seeds"])
    for score in summary[summary["metric"].isin(list(metrics))].to_dict("records"):
        # NaN is unequal to itself, and would begin a row for each score.
        run = tuple("" if pd.isna(score[name]) else score[name] for name in RUN)
        row = rows.setdefault(run, {**dict(zip(RUN, run, strict=True)), "seeds": score["seeds"]})
        name = f"{score['metric']}, {score['group']}" if score["group"] else str(score["metric"])
        columns[name] = None
        row[name] = mean_text(score["mean"], score["sd"])
        if score["outdated"]:
            row["outdated"] = "yes"

    if any("outdated" in row for row in rows.values()):
        columns["outdated"] = None
    return pd.DataFrame(list(rows.values()), columns=list(columns)).fillna("")


def mean_text(mean: float, sd: float, *, percent: bool = True) -> str:
    """A mean with its standard deviation as text; nothing for NaN.

    Examples
    --------
    >>> mean_text(.7345, .012), mean_text(.5, float("nan")), mean_text(1.25, .5, percent=False)
    ('73.5 ± 1.2', '50.0', '1.250 ± 0.500')
    """
    if math.isnan(mean):
        return ""
    factor, digits = (100, 1) if percent else (1, 3)
    text = f"{mean * factor:.{digits}f}"
    return text if math.isnan(sd) else f"{text} ± {sd * factor:.{digits}f}"


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
    write: "Callable[[pd.DataFrame, str], bytes]"
    is_for_people: bool = False


def _csv(frame: "pd.DataFrame", _: str) -> bytes:
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _parquet(frame: "pd.DataFrame", _: str) -> bytes:
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
    r"""Escape text for LaTeX.

    Examples
    --------
    >>> print(latex_text("50% of a_b ± 1 \\input{x}"))
    50\% of a\_b $\pm$ 1 \textbackslash{}input\{x\}
    """
    return str(text).translate(_LATEX)


def _latex(frame: "pd.DataFrame", title: str) -> bytes:
    aligned = "".join("r" if _is_number(frame[name]) else "l" for name in frame)
    header = " & ".join(latex_text(str(name).replace("_", " ")) for name in frame)
    cells = frame.astype(object).map(latex_text, na_action="ignore").fillna("")
    rows = [rf"    {' & '.join(row)} \\" for row in cells.itertuples(index=False)]

    lines = [
        r"% Needs \usepackage{booktabs}.",
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{latex_text(title)}}}",
        rf"  \begin{{tabular}}{{{aligned}}}",
        r"    \toprule",
        rf"    {header} \\",
        r"    \midrule",
        *rows,
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


def _html(frame: "pd.DataFrame", title: str) -> bytes:
    header = "".join(f"<th>{escape(str(name).replace('_', ' '))}</th>" for name in frame)
    starts = ["<td class=number>" if _is_number(frame[name]) else "<td>" for name in frame]
    texts = frame.astype(object).map(str, na_action="ignore").fillna("").map(escape)
    # How a cell begins depends on its column alone.
    cells = starts + texts + "</td>"
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in cells.itertuples(index=False))
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
