"""Captions that name children: words of lists, ages in figures and in words."""

import pytest
from hypothesis import given, strategies as st

from cobalance.ingest.captions.children import names_children
from cobalance.ingest.concepts.group_words import GroupWords, WordRow

NUMBERS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty", "twenty-one", "twenty-two"),
)


@given(st.integers(0, 120), st.sampled_from("-\N{NON-BREAKING HYPHEN}\N{EN DASH} "), st.booleans())
def test_ages_up_to_17_are_of_children(age, dash, is_upper):
    for text in (
        f"A {age}{dash}year{dash}old on a bench.",
        f"Some {age}{dash}year{dash}olds",
        f"a {age} years old person,",
        f"someone aged {age}",
        f"a person at the age of {age}, with a dog",
        f"({age}yo)",
        f"{age} y/o with a kite",
    ):
        assert names_children(text.upper() if is_upper else text) == (age <= 17), text


@pytest.mark.parametrize(("age", "name"), list(enumerate(NUMBERS, start=1)))
def test_ages_in_words(age, name):
    for text in (f"A {name}-year-old rides.", f"{name} years old", f"Aged {name}."):
        assert names_children(text) == (age <= 17), text


@pytest.mark.parametrize(
    "text",
    [
        "an 18 month old in a chair",
        "a six-week-old",
        "a 3.5 year old",
        "16 to 18 year olds playing",
        "two people, ages 5 and 40",
        "A little boy.",
        "KIDS on a bus",
    ],
)
def test_other_captions_that_name_children(text):
    assert names_children(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A man in a 5 year plan meeting.",
        "A woman aged 21.",
        "A 117-year-old house of 1.017 year olds",
        "a one hundred and five year old woman",
        "pages 5 and 6 of a book",
        "damaged 12 cars",
        "a cowboy in a kidney-shaped pool",
        "3 women, 45 years old",
        "aged 1,200 years",
        "aged 1700 years",
    ],
)
def test_captions_of_nobody_young(text):
    assert not names_children(text)


def test_words_of_a_list_are_those_that_it_names():
    assert names_children("un ni\N{LATIN SMALL LETTER N WITH TILDE}o", ["ni\xf1o"])
    assert not names_children("a boy", ["ni\xf1o"])
    assert names_children("a 9-year-old", ["ni\xf1o"])
    rows = (WordRow({"man": "man", "woman": "woman"}),)
    words = GroupWords("a list without words for children", rows=rows)
    assert names_children("A toddler.", words.children)
