"""What each filter says of its scores, and what it looks for, beside what it accepts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from cobalance.generation.filters import FILTERS
from cobalance.generation.filters.filter import Scored, describe_score, number_text
from cobalance.generation.image_request import GeneratedImage
from tests.generation.filters.making import request

SCORES = st.floats(0, 2.5)

CASES: dict[str, list[tuple[dict[str, Any], Scored | dict[str, Any], str]]] = {
    "sanity": [
        ({}, {"score": 1.0}, "Keeps what had to stay"),
        ({}, {"score": 0.99996}, "Keeps too little of what had to stay: 0.99996, needs 1"),
        (
            {"min_unchanged": 0.9},
            {"score": 0.95},
            "Keeps enough of what had to stay: 0.95, needs 0.9",
        ),
        ({}, {"score": 0.0}, "Unusable, or nothing that had to stay is as it was"),
    ],
    "blank": [
        ({}, {"score": 0.3}, "Not one colour: 0.3, needs 0.02"),
        (
            {},
            {"score": 0.3, "luminance": 0.0099},
            "Not one colour: 0.3, needs 0.02; nearly black: 0.0099, needs 0.01",
        ),
        (
            {},
            {"score": 0.01999, "luminance": 0.5},
            "Nearly one colour: 0.01999, needs 0.02; not black: 0.5, needs 0.01",
        ),
    ],
    "duplicates": [
        ({}, {"score": 64.0}, "Nothing before it that it could repeat"),
        ({}, {"score": 3.0}, "Unlike others: 3 bits of its hash differ, more than 2 are needed"),
        (
            {},
            {"score": 2.0},
            "Much like another: 2 bits of its hash differ, more than 2 are needed",
        ),
    ],
    "clip": [
        ({"text": "concepts"}, {"score": 0.19}, "CLIP finds no cow: 0.19, needs 0.6"),
        ({"text": "concepts"}, {"score": 0.5999}, "CLIP finds no cow: 0.5999, needs 0.6"),
        ({"text": "a {names}"}, {"score": 0.6}, "CLIP finds cow: 0.6, needs 0.6"),
        (
            {"text": "concepts"},
            {"score": 0.5, "concepts": ("cow", "field")},
            "CLIP does not find all of cow and field: 0.5, needs 0.6",
        ),
        (
            {"text": "concepts"},
            {"score": 0.5, "concepts": ()},
            "CLIP does not find what its prompt says: 0.5, needs 0.6",
        ),
        ({}, {"score": 0.7}, "CLIP finds what its prompt says: 0.7, needs 0.6"),
        ({}, {"score": 0.5}, "CLIP does not find what its prompt says: 0.5, needs 0.6"),
        (
            {"text": "{caption}"},
            {"score": 0.5},
            "CLIP does not find what its caption or prompt says: 0.5, needs 0.6",
        ),
        ({"threshold": None}, {"score": 0.01}, "CLIPScore of what its prompt says: 0.01"),
    ],
    "objects": [
        (
            {},
            {"score": 0.4, "class": 0.05},
            "A detector finds cow: 0.4, needs 0.1; a detector does not find urban: 0.05, needs 0.1",
        ),
        ({"check_class": False}, {"score": 0.05}, "A detector does not find cow: 0.05, needs 0.1"),
        (
            {"check_class": False},
            {"score": 0.05, "concepts": ("cow", "field")},
            "A detector does not find all of cow and field: 0.05, needs 0.1",
        ),
        (
            {"class_text": {"urban": "city"}},
            {"score": 1.0, "class": 0.2, "concepts": ()},
            "A detector finds city: 0.2, needs 0.1",
        ),
        (
            {"check_class": False},
            {"score": 1.0, "concepts": ()},
            "The detector was asked for nothing",
        ),
    ],
    "same_objects": [
        ({}, {"score": 0.1}, "Likeness to its source's objects (F1): 0.1"),
        ({"min_f1": 0.5}, {"score": 0.499}, "Objects unlike its source's: 0.499, needs 0.5"),
        ({"min_f1": 0.5}, {"score": 0.8}, "Objects like its source's: 0.8, needs 0.5"),
    ],
    "same_colours": [
        ({}, {"score": 0.002345}, "Likeness to its source's colours: 0.00234"),
        ({"threshold": 0.01}, {"score": 0.002}, "Colours unlike its source's: 0.002, needs 0.01"),
        ({"threshold": 0.01}, {"score": 0.02}, "Colours like its source's: 0.02, needs 0.01"),
        ({}, {"score": 1e18}, "Exactly its source's colours"),
    ],
    "embedding": [
        ({}, {"score": 0.87}, "As close to its source as 0.87 (cosine)"),
        (
            {},
            {"score": 0.87, "p_real": 0.1, "p_group": 0.49999},
            "As close to its source as 0.87 (cosine); enough of its neighbours are real: 0.1, "
            "needs 0.08; too few are of its group: 0.49999, needs 0.5",
        ),
    ],
    "confidence": [
        (
            {"model": "m"},
            {"score": 0.9999, "confidence": 0.9999, "threshold": 0.91},
            "A classifier gives its class a probability of 0.9999; it is sure: its highest one is "
            "0.9999, and it is sure above 0.91",
        ),
        (
            {"model": "m"},
            {"score": 0.2, "confidence": 0.9099, "threshold": 0.91},
            "A classifier gives its class a probability of 0.2; it is not sure: its highest one is "
            "0.9099, and it is sure above 0.91",
        ),
        ({"model": "m"}, {"score": 0.5}, "A classifier gives its class a probability of 0.5"),
    ],
    "safety": [
        ({}, {"score": 1.0}, "Not flagged by the safety checker"),
        ({}, {"score": 0.0}, "Flagged by the safety checker"),
    ],
}

LOOKS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("clip", {}, {"concepts", "class"}),
    ("clip", {"threshold": None}, set()),
    ("clip", {"threshold": 0.0}, set()),
    ("objects", {}, {"concepts", "class"}),
    ("objects", {"check_class": False}, {"concepts"}),
    ("objects", {"threshold": 0.0}, set()),
    ("embedding", {}, {"class"}),
    ("embedding", {"min_group": 0.0}, set()),
    *((name, {}, set()) for name in ("sanity", "blank", "duplicates", "safety")),
    *((name, {}, set()) for name in ("same_objects", "same_colours")),
    ("confidence", {"model": "m"}, set()),
]


def scored(score: float, **given: Any) -> Scored:
    concepts = given.pop("concepts", ("cow",))
    return Scored(score, given, concepts, "urban")


def test_every_filter_is_here() -> None:
    assert set(CASES) == set(FILTERS) == {name for name, _, _ in LOOKS}


@pytest.mark.parametrize(
    ("name", "options", "found", "expected"),
    [(name, *case) for name, cases in CASES.items() for case in cases],
)
def test_what_a_filter_says(
    name: str, options: dict[str, Any], found: dict[str, Any], expected: str
) -> None:
    says = FILTERS[name].says
    assert says is not None
    assert says(scored(**found), FILTERS.check(name, options)).text == expected


@pytest.mark.parametrize(("name", "options", "expected"), LOOKS)
def test_what_a_filter_looks_for(name: str, options: dict[str, Any], expected: set[str]) -> None:
    assert FILTERS[name].looks(FILTERS.check(name, options)) == expected


@given(SCORES, SCORES)
@example(0.2399999999, 0.24)
@example(0.1 + 0.2, 0.3)
@example(0.24, 0.24)
def test_what_is_shown_is_on_the_side_of_what_is_needed_that_the_score_is_on(
    score: float, least: float
) -> None:
    said = describe_score(score, least, enough="enough", too_little="too little")
    verdict, _, numbers = said.text.partition(": ")
    assert said.enough == (score >= least)
    shown, needed = map(float, numbers.split(", needs "))
    assert needed == least
    assert np.sign(shown - needed) == np.sign(score - least)
    assert verdict == ("too little" if shown < needed else "enough")


def test_no_more_digits_than_are_needed() -> None:
    assert number_text(0.23456, 0.5) == "0.23"
    assert number_text(0.23956, 0.24) == "0.2396"
    assert number_text(0.23956) == "0.24"


@pytest.mark.parametrize("level", [0, 3, 128, 255])
def test_words_of_a_blank_image_agree_with_its_verdict(level: int) -> None:
    opened = FILTERS.open("blank", {"threshold": 0.0})
    image = np.full((8, 8, 3), level, np.uint8)
    (judged,) = opened.judge([request()], [GeneratedImage(image)])
    says = FILTERS["blank"].says
    assert says is not None
    said = says(
        Scored(judged.score, judged.details, (), "urban"), FILTERS.check("blank", {"threshold": 0})
    )
    assert ("nearly black" in said.text) == (not judged.accepted) == (not said.enough)
