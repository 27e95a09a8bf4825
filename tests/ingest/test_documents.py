"""JSON and TOML that cannot be decoded, wherever they come from."""

import pytest

from cobalance.base.documents import decode_json, decode_toml, decode_yaml
from cobalance.base.errors import InputError
from cobalance.ingest.concepts.renaming import read_concept_table
from cobalance.ingest.concepts.word_lists import load_word_list
from cobalance.ingest.problems import Problems
from cobalance.vision.images.masks import SegmentationError, parse_segmentation

DEEP = "[" * 5_000 + "]" * 5_000
DIGITS = "9" * 5_000

CASES = [
    (decode_json, DEEP),
    (decode_json, f'{{"a": {DIGITS}}}'),
    (decode_json, b'"\xe9"'),
    (decode_json, "{"),
    (decode_toml, f"a = {DEEP}"),
    (decode_toml, f"a = {DIGITS}"),
    (decode_toml, "a = 1979-99-99"),
    (decode_toml, "a = "),
]


@pytest.mark.parametrize(
    ("decode", "text"), CASES, ids=[f"{decode.__name__} {text[:20]!r}" for decode, text in CASES]
)
def test_everything_that_cannot_be_decoded_is_a_value_error(decode, text):
    with pytest.raises(ValueError, match=r"\w"):
        decode(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\nb: *a",
        "a: &a {k: v}\nb: {<<: *a}",
        f"a: &a {'x' * 1000}\nb: *a",
        "a: " + "x" * 600_000,
    ],
    ids=["a list", "a merge", "a long text", "a long document"],
)
def test_yaml_that_would_unfold_is_refused(text):
    with pytest.raises(ValueError, match=r"has an alias|has more than"):
        decode_yaml(text)


def test_an_alias_of_a_short_text_is_read():
    assert decode_yaml("train: &t images\nval: *t") == {"train": "images", "val": "images"}


@pytest.mark.parametrize("content", [f'{{"a": {DEEP}}}', f'{{"a": {DIGITS}}}', f"a = {DEEP}"])
def test_a_concept_table_that_cannot_be_decoded(content, write):
    path = write(content)
    with pytest.raises(
        InputError, match=r"nested too deep|not a table|no columns concept|not a JSON object"
    ):
        read_concept_table(path, Problems(str(path)))


@pytest.mark.parametrize("value", [DEEP, DIGITS])
def test_a_word_list_that_cannot_be_decoded(value, write):
    with pytest.raises(InputError, match="is not valid TOML"):
        load_word_list(str(write(f"[classes]\nman = {value}\n", "words.toml")))


def test_an_outline_that_cannot_be_decoded():
    with pytest.raises(SegmentationError, match="nested too deep"):
        parse_segmentation('{"size": [2, 2], "counts": "4", "more": ' + DEEP + "}")
