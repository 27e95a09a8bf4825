"""Pages whose Python blocks run one after another, as a reader would run them."""

import ast
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd

CELL = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def check_page(page: Path, capsys: Any) -> None:
    """Run each cell of a page, and compare what it prints with what the page says."""
    text = page.read_text(encoding="utf-8")
    cells = CELL.findall(text)
    assert len(cells) == text.count("```python")
    namespace: dict[str, object] = {}
    wide = ("display.width", 200, "display.max_columns", 20)
    with pd.option_context(*wide):
        for cell, expected in cells:
            run(cell, namespace, page.name)
            printed = capsys.readouterr().out
            if expected:
                assert lines(printed) == lines(expected), cell


def run(cell: str, namespace: dict[str, object], name: str) -> None:
    """Run a cell, and print its last expression as a notebook does."""
    *first, last = ast.parse(cell).body
    if not isinstance(last, ast.Expr):
        first.append(last)
    exec(compile(ast.Module(first, []), name, "exec"), namespace)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        if value is not None:
            sys.stdout.write(f"{value!r}\n")


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
