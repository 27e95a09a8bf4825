"""Published files of ConBias: what they hold, and every way in which they do not."""

import contextlib
import csv
import json
import pickle

import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import InputError
from cobalance.ingest.published import read_published


@pytest.fixture(autouse=True)
def usual_longest_cell():
    """Python's own limit, which readers of large tables raise for the whole process."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


MATRIX = ",b,a,cow,road\nb,0,0,2,1\na,0,0,3,0\ncow,2,3,0,1.0\nroad,1,0,1,0\n"
CLIQUES = {"1": [[["cow"], {"a": 3, "b": 2}]], "2": [[["road", "cow"], {"a": 0, "b": 1}]]}
COMMON = [["cow"], ["road", "cow"]]
QUERIES = [["b", ["road", "cow"], 4]]


@pytest.fixture
def read(tmp_path):
    def of(content):
        file = tmp_path / "file"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_published(file, ["a", "b"], ["cow", "road"])

    return of


def test_each_kind(read):
    found = read("\ufeff" + MATRIX.replace("\n", "\r\n"))
    assert (found.kind, found.names.keys()) == ("co-occurrence", {"a", "b", "cow", "road"})
    assert found.rows == {
        ("b", ("cow",)): 2,
        ("b", ("road",)): 1,
        ("a", ("cow",)): 3,
        ("a", ("road",)): 0,
        ("", ("cow", "road")): 1,
    }
    found = read(json.dumps(CLIQUES, indent=1))
    assert (found.kind, found.sizes) == ("cliques", {1, 2})
    assert found.rows == {
        ("a", ("cow",)): 3,
        ("b", ("cow",)): 2,
        ("a", ("cow", "road")): 0,
        ("b", ("cow", "road")): 1,
    }
    assert read(json.dumps(COMMON)).rows == {("", ("cow",)): None, ("", ("cow", "road")): None}
    assert read(json.dumps(QUERIES)).rows == {("b", ("cow", "road")): 4}
    assert read(json.dumps([["a", "b", "c"]])).kind == "common cliques"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no header"),
        (b"[]", "nothing to compare"),
        (b"{}", "nothing to compare"),
        (pickle.dumps(COMMON), "UTF-8"),
        (b"[" * 100_000, "nested too deep"),
        (b"[1", "is not JSON"),
        (b"[1]", "Expected `array`, got `int`"),
        (b'{"2": 1}', "Expected `array`, got `int`"),
        (b'{"1": [[["cow", "road"], {"a": 1}]]}', r'"1"\[0\]: has 2 concepts, not 1'),
        (b'[["a", ["cow"], -1]]', r"\[0\]: -1 is no count"),
        (b'[["a", ["cow"], true]]', "Expected `int`, got `bool`"),
        (b'[["a", ["cow"], 1.5]]', "Expected `int`, got `float`"),
        (b'[["a", ["cow"], NaN]]', "Expected `int`"),
        (b'[["a", ["cow"], 1' + b"0" * 400 + b"]]", "no count of images"),
        (b'[["a", ["cow"], 1' + b"0" * 9_000 + b"]]", "is not JSON"),
        (b'[["a", ["cow"], 1], ["a", ["cow"], 1]]', "cow of a is there twice"),
        (b'[["a", ["cow", "cow"], 1]]', "a concept is there twice"),
        (b'[["a", [], 1]]', "there is no concept"),
        (b'[["a", ["c\\u0000w"], 1]]', "control character"),
        (b'[["a", ["\\ud800"], 1]]', "surrogate"),
        (b'[[""]]', "a name is empty"),
        (b"x,a,cow\n", "no header of different names"),
        (b",a,a\n", "no header of different names"),
        (b",a,cow\na,0,1\n", "no line for 'cow'"),
        (b",a,cow\na,0\n", "too few or many cells"),
        (b",a,cow\nowl,0,1\n", "'owl' is no name of the header"),
        (b",a,cow\na,0,1\ncow,2,0\n", "line 3: a and cow share 1 images in one line, 2"),
        (b",a,cow\na,0,x\n", "line 2: 'x' is no count"),
        (b",a,cow\na,0,nan\n", "'nan' is no count"),
        (b",a,cow\na,0,inf\n", "'inf' is no count"),
        (b",a,cow\na,0,1e300\ncow,1e300,0\n", "no count of images"),
        (b',a,cow\na,0,"1\n', "line 2: is not CSV"),
        (b",a,cow\n" + b"a" * 200_000 + b",0,1\n", "is not CSV"),
    ],
    ids=range(33),
)
def test_a_file_that_cannot_be_used(read, content, message):
    with pytest.raises(InputError, match=message):
        read(content)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_published(tmp_path / "none.json", [], [])
    with pytest.raises(InputError, match="is a folder"):
        read_published(tmp_path, [], [])


@given(
    st.sampled_from([MATRIX, *map(json.dumps, (CLIQUES, COMMON, QUERIES))]),
    st.integers(0, 120),
    st.integers(0, 6),
    st.binary(max_size=4) | st.sampled_from([b'"', b"[", b"]", b",", b"\n", b"-", b"null"]),
)
@settings(max_examples=300, deadline=None)
def test_a_mutated_file_is_an_error_or_a_result(tmp_path_factory, text, at, cut, new):
    file = tmp_path_factory.getbasetemp() / "mutated"
    content = text.encode()
    file.write_bytes(content[:at] + new + content[at + cut :])
    with contextlib.suppress(InputError):
        assert read_published(file, ["a", "b"], ["cow"]).rows
