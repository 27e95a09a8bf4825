"""Tables for a person: readable however long the names are; files and pipes get all of them."""

import io
import json

import pandas as pd
import pytest
from rich.console import Console

from cobalance.app.cli.shared.tables import Format, TableOutput, as_text

LONG = "ü" * 300
NAMES = pd.DataFrame(
    {
        "concepts": [("cow", LONG), (LONG, "road")],
        f"country {LONG}": [1, 20_000],
        "gap": [3, 4],
        "too few": [LONG, "urban"],
        "q-value": ["<0.001", "0.100"],
    }
)


@pytest.fixture
def drawn():
    def draw(frame, width, *, watched=True, **options):
        screen = io.StringIO()
        console = Console(file=screen, width=width, force_terminal=watched, color_system=None)
        TableOutput().write(frame, console, **options)
        return screen.getvalue()

    return draw


@pytest.mark.parametrize("width", [80, 120])
def test_long_names_are_cut_on_a_narrow_screen(drawn, width):
    text = drawn(NAMES, width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < 16
    for kept in ("concepts", "cow", "road", "20,000", "gap", "urban", "q-value", "<0.001", "…"):
        assert kept in text


def test_nothing_is_cut_where_nobody_watches(drawn):
    assert drawn(NAMES, 80, watched=False).count("ü") > 3 * 300
    assert "…" not in as_text(NAMES, Format.TABLE)
    rows = json.loads(as_text(NAMES, Format.JSON))
    assert rows[0]["concepts"] == ["cow", LONG]
    assert as_text(NAMES, Format.CSV).count(LONG) == 4


def test_what_fits_and_what_is_prose_is_whole(drawn):
    address = "a/" * 35
    assert address in drawn(pd.DataFrame({"uri": [address]}), 80)
    prose = pd.DataFrame({"query": ["classes"], "answers": ["How many images " * 12]})
    assert "…" in drawn(prose, 80)
    assert "…" not in drawn(prose, 80, whole=True)
    assert drawn(prose, 80, whole=True).count("images") == 12


def test_a_table_without_rows_or_columns(drawn):
    assert "concept" in drawn(pd.DataFrame({"concept": [], "images": []}), 20)
    assert drawn(pd.DataFrame(), 10) == "\n"


def test_whole_counts_of_scores_have_no_decimals(drawn):
    counts = [12_345.0, 33.5, float("nan"), 99.999999999]  # the last is a sum of parts
    scores = pd.DataFrame({"value": [1.0, 0.5, 0.25, 0.0], "n": counts})
    cells = [line.split() for line in drawn(scores, 80).splitlines()[2:6]]
    assert [row[1] for row in cells] == ["12,345", "33.500", "-", "100"]
    assert [row[0] for row in cells] == ["1.000", "0.500", "0.250", "0.000"]
