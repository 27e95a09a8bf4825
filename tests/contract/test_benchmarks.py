"""`python -m benchmarks` and its table of figures; nothing is measured here."""

import ast
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import __main__ as program, figures
from benchmarks.figures import Figure, read_figures, report, show_figures
from tests.contract.syntax import ROOT

LIBRARIES = {"figures", "generate", "hub_folders"}
"""Modules of benchmarks/ that measure nothing themselves."""


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    path = tmp_path / "data" / "figures.jsonl"
    monkeypatch.setattr(figures, "FILE", path)
    return path


def cells(table):
    """The cells of a table's rows, by figure."""
    lines = [line for line in table.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    return {row[0]: row[1:] for row in rows}


def run_main(monkeypatch, *names):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *names])
    return program.main()


def test_help_names_every_benchmark_and_runs_none():
    before = {path: path.stat().st_mtime_ns for path in (ROOT / "benchmarks").rglob("*.jsonl")}

    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert "== python" not in done.stdout
    assert before == {p: p.stat().st_mtime_ns for p in (ROOT / "benchmarks").rglob("*.jsonl")}
    listed = {
        line.removeprefix("  *").split()[0]: line
        for line in done.stdout.partition("benchmarks (*")[2].splitlines()[1:]
        if line.startswith("  ")
    }
    modules = {path.stem: path for path in (ROOT / "benchmarks").glob("*.py")}
    assert listed.keys() == modules.keys() - LIBRARIES - {"__init__", "__main__"}
    for name, line in listed.items():
        docstring = ast.get_docstring(ast.parse(modules[name].read_text(encoding="utf-8")))
        assert docstring is not None
        assert line.endswith(docstring.splitlines()[0])


def test_usual_commands_are_of_benchmarks_that_there_are():
    assert {command.split()[0] for command in program.COMMANDS} <= program.find_benchmarks().keys()


def test_a_name_stands_for_its_usual_commands():
    assert program.chosen_commands(["planning", "sums"]) == ["planning", "planning --pace", "sums"]
    assert program.chosen_commands([]) == [*program.COMMANDS]


def test_an_unknown_name_is_an_error_before_anything_runs(monkeypatch, capsys):
    monkeypatch.setattr(program, "run", pytest.fail)
    with pytest.raises(SystemExit) as stopped:
        run_main(monkeypatch, "console", "consoles")
    assert stopped.value.code == 2
    assert "there is no benchmark consoles" in capsys.readouterr().err


def test_a_benchmark_ends_well_or_not_by_its_exit_code():
    assert program.run("figures")
    assert not program.run("console --no-such-option")


def test_a_failure_costs_no_figure_of_the_others(monkeypatch, capsys):
    def run(command):
        report(f"{command}: seconds", 2, "s")
        return command != "mining"

    monkeypatch.setattr(program, "run", run)

    assert run_main(monkeypatch, "mining", "console") == 1
    printed = capsys.readouterr()
    assert cells(printed.out).keys() == {"mining: seconds", "console: seconds"}
    assert "failed: mining" in printed.err
    assert "console" not in printed.err
    assert run_main(monkeypatch, "console") == 0


def test_a_report_appends_one_line_and_prints_nothing(file, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["/somewhere/benchmarks/console.py", "--reads", "9"])
    report("a read", 1.25, "ms", at_most=2)
    report("a ratio", 3)

    assert capsys.readouterr() == ("", "")
    first, second = read_figures()
    assert len(file.read_bytes().splitlines()) == 2
    assert (first.name, first.value, first.unit, first.at_most) == ("a read", 1.25, "ms", 2)
    assert first.command == second.command == "python -m benchmarks.console --reads 9"
    assert first.load >= 0
    assert first.date <= second.date


def test_the_table_has_the_newest_figures_beside_the_last():
    older, last, again, newest = np.random.default_rng(0).uniform(10, 90, 4).round(2)
    began = "2026-12-01T10:00:00.000000+00:00"
    before, after = began.replace("10:", "09:"), began.replace("10:", "11:")
    made = [
        Figure("read", older, "s", 100, None, "", load=0.5, date=before),
        Figure("read", last, "s", 100, None, "", load=1.5, date=before),
        Figure("gone", 7, "s", None, None, "", load=1.5, date=before),
        Figure("read", again, "s", 100, None, "", load=2.5, date=began),
        Figure("read", newest, "s", 100, None, "", load=3.5, date=after),
        Figure("new", 1234.5, "MB", None, 1000, "", load=3.5, date=after),
    ]

    assert cells(show_figures(made, began)) == {
        "read": [f"{newest:.2f} s", "at most 100 s", "yes", f"{last:.2f} s", "3.5"],
        "new": ["1,234 MB", "at least 1,000 MB", "yes", "", "3.5"],
    }


@pytest.mark.parametrize(
    ("aim", "value", "met"),
    [
        ({"at_most": 3}, 3.0, "yes"),
        ({"at_most": 3}, 3.01, "NO"),
        ({"at_least": 2}, 2.0, "yes"),
        ({"at_least": 2}, 1.99, "NO"),
        ({}, 5.0, ""),
    ],
)
def test_aims_that_are_met_and_missed_are_told_apart(aim, value, met):
    report("ratio", value, **aim)
    (figure,) = read_figures()
    assert cells(show_figures([figure], figure.date))["ratio"][2] == met
