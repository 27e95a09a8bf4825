import csv
import io

import pandas as pd
import pytest
from hypothesis import example, given, strategies as st

from cobalance.base.errors import InputError
from cobalance.ingest.tables.sheets import guard_formulas, read_sheet
from tests.conftest import HOSTILE


@pytest.fixture(autouse=True)
def usual_longest_cell():
    """Python's own limit, which readers of large tables raise for the whole process."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


TEXTS = st.text("=+-@'\"\t,; \nab", min_size=1).filter(str.strip)


@given(st.lists(TEXTS, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
@example([*HOSTILE, "=1+1", "'=1+1", "''@x", "'quoted'", "-5", "+a"], "\r\n", True)
def test_texts_survive_and_none_is_a_formula(texts, end, marked):
    frame = pd.DataFrame({"name": texts, "n": range(len(texts))})
    written = guard_formulas(frame).to_csv(index=False, lineterminator=end)
    seen = [row[0] for row in list(csv.reader(io.StringIO(written, newline="")))[1:]]
    assert not [cell for cell in seen if cell[0] in "=+-@\t\r"]
    rows = read_sheet("\ufeff" * marked + written, "a.csv", ["name"])
    assert [row["name"] for _, row in rows] == texts
    assert [row["n"] for _, row in rows] == [f"{at}" for at in range(len(texts))]


def test_what_editors_leave_behind_does_not_matter():
    expected = [("line 2", {"a": "1", "b": ""}), ("line 4", {"a": "x\ny", "b": "2"})]
    for text in ('a, b \n1\n"x\ny",2,,\n', '\ufeffa,b\n1,,\n"x\ny",2\n,,\n\n'):
        assert read_sheet(text, "a.csv") == expected
    assert read_sheet("a,b\r1,2\r", "a.csv") == [("line 2", {"a": "1", "b": "2"})]
    assert read_sheet("", "a.csv") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "line 1: there is no column 'a'"),
     ("b;a\n1;2\n", "line 1: there is no column 'a'; there are 'b;a'"),
     ("a,b,a\n1,2,3\n", "line 1: the column 'a' is there twice"),
     ("a,b\n1,2\nx, y,2\n", "line 3: has 3 cells where the header has 2"),
     ("a\n" + "x" * 200_000, "line 2: is not CSV")],
    ids=["empty", "semicolons", "repeated", "long", "huge"],
)  # fmt: skip
def test_errors_name_the_line(text, message):
    with pytest.raises(InputError, match=f"a.csv, {message}"):
        read_sheet(text, "a.csv", ["a"])
