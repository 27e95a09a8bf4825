"""docs/python.md, cell by cell in one namespace, as a reader would run it."""

import ast
import re
import sys
from pathlib import Path

import pandas as pd
import pytest

import cobalance as cb
from graph.dataset.drop_rename import drop_dataset
from graph.dataset.state import find_dataset

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
CELL = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
DATASETS = ("tour", "tour-rebalanced")


@pytest.fixture
def connect(settings, store, monkeypatch, tmp_path):
    """Have the page connect to the tests' server, and clean up behind it."""
    own = settings.model_copy(update={"cobalance_output": str(tmp_path / "generated")})
    monkeypatch.setattr(cb, "connect", lambda: cb.Store(store, own))
    monkeypatch.chdir(tmp_path)
    yield
    for name in DATASETS:
        if find_dataset(store, name) is not None:
            drop_dataset(store, name)


def run(cell: str, namespace: dict[str, object]) -> None:
    """Run a cell, and print its last expression as a notebook does."""
    *first, last = ast.parse(cell).body
    if not isinstance(last, ast.Expr):
        first.append(last)
    exec(compile(ast.Module(first, []), PAGE.name, "exec"), namespace)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), PAGE.name, "eval"), namespace)
        if value is not None:
            sys.stdout.write(f"{value!r}\n")


@pytest.mark.usefixtures("connect")
def test_every_cell_runs_and_prints_what_the_page_says(capsys):
    cells = CELL.findall(PAGE.read_text(encoding="utf-8"))
    assert len(cells) == PAGE.read_text(encoding="utf-8").count("```python")
    namespace: dict[str, object] = {}
    wide = ("display.width", 200, "display.max_columns", 20)
    with pd.option_context(*wide):
        for cell, expected in cells:
            run(cell, namespace)
            printed = capsys.readouterr().out
            if expected:
                assert lines(printed) == lines(expected), cell


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
