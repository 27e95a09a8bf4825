"""Words for a job's filters: what they say of a candidate, and what none of them looks for."""

from typing import Any

import pytest

from cobalance.generation.jobs.filter_words import FilterWords

NAN = float("nan")


def words(filters: dict[str, Any], *, edits: bool = False) -> FilterWords:
    return FilterWords({"filters": filters}, edits=edits)


def test_a_filter_that_was_left_out_says_its_number_and_details_say_nothing_alone() -> None:
    found = words({"clip": {"text": "concepts"}})
    scores = {"clip": 0.5, "clip cosine": 0.2, "blank": 0.25, "blank luminance": 0.5}
    expected = ["CLIP finds no cow: 0.5, needs 0.6", "blank 0.25"]
    assert found.say(scores, ["cow"], "urban") == expected


@pytest.mark.parametrize("score", [NAN, float("inf"), -float("inf")])
def test_what_is_no_number_is_no_score(score: float) -> None:
    found = words({"clip": {}, "blank": {}})
    scores = {"clip": score, "blank": 0.3, "blank luminance": NAN, "other": score}
    assert found.say(scores, ["cow"], "urban") == [
        "clip: no score",
        "Not one colour: 0.3, needs 0.02",
        "other: no score",
    ]


@pytest.mark.parametrize(
    ("filters", "edits", "looks", "concepts", "missing"),
    [
        ({"blank": {}}, False, False, ["cow", "field"], "cow and field"),
        ({"blank": {}}, False, False, [], "urban"),
        ({"blank": {}}, True, False, ["cow"], "urban"),
        ({"clip": {}}, False, True, ["cow"], ""),
        ({"clip": {}}, True, True, ["cow"], ""),
        ({"clip": {"threshold": None}}, False, False, ["cow"], "cow"),
        ({"objects": {"check_class": False}}, False, True, ["cow"], ""),
        ({"objects": {"check_class": False}}, False, True, [], "urban"),
        ({"objects": {"check_class": False}}, True, False, ["cow"], "urban"),
        ({"objects": {}, "blank": {}}, True, True, ["cow"], ""),
        ({}, False, False, ["cow"], "cow"),
    ],
)
def test_what_no_filter_looks_for(
    filters: dict[str, Any], edits: bool, looks: bool, concepts: list[str], missing: str
) -> None:
    found = words(filters, edits=edits)
    assert found.looks is looks
    assert found.not_looked_for(concepts, "urban") == missing


@pytest.mark.parametrize(
    "settings", [{"colour": "red"}, {"filters": {"gone": {}}}, {"filters": {"blank": {"x": 1}}}]
)
def test_of_settings_that_cannot_be_read_nothing_is_known(settings: dict[str, Any]) -> None:
    found = FilterWords(settings)
    assert found.looks is None
    assert found.not_looked_for(["cow"], "urban") == ""
    assert found.say({"blank": 0.30004}, ["cow"], "urban") == ["blank 0.3"]


def test_the_reason_is_said_where_no_score_says_it() -> None:
    found = words({"clip": {}, "sanity": {}})
    low = {"clip": 0.5, "sanity": 1.0}
    high = {"clip": 0.7, "sanity": 0.0}
    said = ["CLIP does not find what its prompt says: 0.5, needs 0.6", "Keeps what had to stay"]
    assert found.say(low, ["cow"], "urban", "No cow.") == said
    assert found.say(high, ["cow"], "urban", "It is 3 x 3 px.")[0] == "It is 3 x 3 px"
    assert len(found.say(high, ["cow"], "urban")) == 2


def test_the_recipe_s_own_filters_count() -> None:
    assert FilterWords({"recipe": "inpaint"}).looks
    assert FilterWords({"recipe": "procedural"}).looks is False
