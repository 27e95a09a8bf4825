import json

import pytest
from hypothesis import given, strategies as st

from cobalance.annotation.language.replies import UnreadableReplyError, read_list, read_yes_no

WORDS = st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5)


@given(WORDS)
def test_lists_of_any_strings_survive_json_and_python(names):
    assert read_list(json.dumps(names)) == names
    assert read_list(f"```json\n{json.dumps({'items': names})}\n```") == names
    assert read_list(repr(names)) == names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["framed art, prints", "bmw 3 series", "levi\'s logo"]',
         ["framed art, prints", "bmw 3 series", "levi's logo"]),
        ("Here:\n```python\ncategories = ['a [b]', 'c']\n```\nDone.", ["a [b]", "c"]),
        ("Numbers [1, 2] are none; ['x'] is.", ["x"]),
        ('{"thoughts": "hm", "items": ["a"]}', ["a"]),
        ('[["a", "b"]]', ["a", "b"]),
        ('["1. Color", "2. bmw 3 series"]', ["Color", "bmw 3 series"]),
        ('["1. FC Union", "3 doors"]', ["1. FC Union", "3 doors"]),
        ("Here:\n1. Color\n 2. **bmw 3 series**\n\n3) framed art, prints\n4. levi's 501",
         ["Color", "bmw 3 series", "framed art, prints", "levi's 501"]),
        ("**1.** Color\n**2.** 4. wheel", ["Color", "4. wheel"]),
    ],
)  # fmt: skip
def test_lists_amid_other_text(text, expected):
    assert read_list(text) == expected


def test_a_list_may_be_empty_where_that_is_an_answer():
    for text in ("[]", '{"items": []}', "None: `[]`.", "['', ' ']"):
        assert read_list(text, may_be_empty=True) == []
    for text in ("", "none", "[1, 2]", '{"items": {}}', "nothing"):
        with pytest.raises(UnreadableReplyError):
            read_list(text, may_be_empty=True)


@pytest.mark.parametrize(
    "text",
    ["", "no list", "[]", "[1, 2]", "[" * 1_000, "['a', __import__('os').getcwd()]", "{'a",
     '[["a"], ["b"]]', '[{"name": "color", "examples": ["red", "blue"]}]',
     "2. Size\n3. Pose", "1. Size\n1. Pose", "1. It depends.",
     "1. **Color**: red, blue\n2. **Size**: big"],
)  # fmt: skip
def test_what_is_no_list_is_an_error_and_nothing_is_run(text):
    with pytest.raises(UnreadableReplyError, match="no list of names"):
        read_list(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Yes, they are.", True), ("NO - explanation: yes and no", False), ('{"answer": true}', True),
     ('{"answer": "no", "explanation": "yes"}', False), ("Nothing here is known... yes", True)],
)  # fmt: skip
def test_yes_and_no(text, expected):
    assert read_yes_no(text) is expected


def test_a_set_of_lists_is_passed_over():
    assert read_list('{["color", "size"]}') == ["color", "size"]


def test_neither_is_an_error():
    with pytest.raises(UnreadableReplyError, match="neither yes nor no"):
        read_yes_no("Perhaps; nobody knows.")
