"""Whatever a console prints, its texts send no control characters and no passwords."""

import io
import sys

import pandas as pd
import pytest
from rich.progress import Progress, TextColumn

from cobalance.app.cli.shared.tables import Format, TableOutput
from cobalance.app.cli.shared.terminal import Terminal
from tests.app.cli.calling import call, spawn

HOSTILE = "\x1b]0;owned\x07\x1b[2J"


@pytest.fixture
def screen():
    """A watched terminal without colours: every escape in its output came from a text."""
    return Terminal(file=io.StringIO(), width=200, force_terminal=True, color_system=None)


def test_messages_cells_and_headers(screen):
    screen.print(f"[bold]{HOSTILE}[/] of s3://KEY:SECRET@bucket")
    screen.print(HOSTILE, markup=False)
    frame = pd.DataFrame({f"a{HOSTILE}": [HOSTILE, "b"], "other": [(HOSTILE, "c"), ("d",)]})
    TableOutput().write(frame, screen)
    text = screen.file.getvalue()
    assert text.count(r"\x1b]0;owned\x07\x1b[2J") == 5
    assert not {"\x1b", "\x07"} & set(text)
    assert "SECRET" not in text
    first, second = text.splitlines()[-2:]
    assert second.index("d") == first.rindex(r"\x1b]0;")  # columns stay aligned


def test_progress(screen):
    with Progress(TextColumn("{task.description}", markup=False), console=screen) as bars:
        bars.add_task(f"read {HOSTILE}")
    assert r"read \x1b]0;" in screen.file.getvalue()
    assert "\x1b]" not in screen.file.getvalue()
    assert "\x07" not in screen.file.getvalue()


def test_csv_is_exact_in_a_file_and_shown_in_a_terminal(tmp_path, monkeypatch, screen):
    frame = pd.DataFrame({"a": [HOSTILE]})
    TableOutput(Format.CSV, tmp_path / "a.csv").write(frame, screen)
    assert HOSTILE in (tmp_path / "a.csv").read_text()
    for is_terminal in (True, False):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda is_terminal=is_terminal: is_terminal)
        monkeypatch.setattr(sys, "stdout", stream)
        TableOutput(Format.CSV).write(frame, screen)
        assert ("\x1b" in stream.getvalue()) is not is_terminal


@pytest.mark.parametrize(
    "arguments",
    [
        (HOSTILE,),
        ("imbalances", "a", "--format", HOSTILE),
        ("mine", "a", f"--{HOSTILE}"),
        ("ingest", f"{HOSTILE}.csv"),
        ("--debug", "ingest", f"{HOSTILE}.csv"),
    ],
)
def test_errors_of_usage_and_of_files(arguments):
    done = call({"NO_COLOR": "1"}, *arguments)
    assert done.returncode in (1, 2)
    assert "\x1b]" not in done.stderr
    assert "\x1b[2J" not in done.stderr
    assert r"\x1b" in done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "arguments"),
    [
        ("NEO4J_URI", "bolt://u:SECRET@127.0.0.1:9", ["store", "status"]),
        ("NEO4J_URI", "ftp://u:SECRET@127.0.0.1:9", ["store", "status"]),
        ("NEO4J_URI", "u:SECRET@127.0.0.1:9", ["--debug", "store", "status"]),
        ("NEO4J_URI", "bolt://u:SECRET@127.0.0.1:9", ["--debug", "store", "status"]),
        ("COBALANCE_OUTPUT", "nosuch://KEY:SECRET@bucket", ["work", "--until-idle"]),
        ("COBALANCE_QUEUE", "mysql://me:SECRET@host/jobs", ["work", "--until-idle"]),
        ("COBALANCE_REPOSITORY", "ftp://me:SECRET@host", ["datasets", "list"]),
    ],
)
def test_no_setting_tells_its_password(tmp_path, environment, variable, value, arguments):
    own = {"PATH": "/usr/bin:/bin", "COBALANCE_HOME": str(tmp_path), "NEO4J_PASSWORD": "p"}
    base = environment if arguments[0] == "work" else own  # which opens the database first
    done = spawn({**base, variable: value}, *arguments)
    assert done.returncode in (1, 2)
    assert "SECRET" not in done.stdout + done.stderr
    assert "127.0.0.1" in done.stderr or "***" in done.stderr
