import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.annotation.proposing.attribute_flags import (
    PERSONAL,
    flag_attributes,
    is_sensitive,
    names_class,
    names_sensitive_trait,
    near_synonyms,
    ngram_vectors,
)
from cobalance.graph.annotations.attributes import ProposedAttribute

NAMES = ["sofa", "couch", "sofas", "couch"]
VECTORS = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 0.4], [0.0, 1.0]])


def test_near_synonyms_have_a_cosine_above_the_limit():
    found = near_synonyms(NAMES, lambda names: VECTORS[: len(names)])
    assert {at: other for at, (other, _) in found.items()} == {2: 0, 3: 1}
    assert found[2][1] == pytest.approx(1 / np.sqrt(1.16))
    assert near_synonyms(["sofa"], ngram_vectors) == {}
    assert near_synonyms(["a", "b"], lambda _: np.zeros((2, 3))) == {}


def test_letters_tell_spellings_from_other_words():
    names = ["wall clock", "wall clocks", "green eyes", "brown hair"]
    assert {at: other for at, (other, _) in near_synonyms(names, ngram_vectors).items()} == {1: 0}


@settings(max_examples=25)
@given(st.text(), st.text())
def test_any_names_can_be_compared_with_any_class(attribute, class_name):
    assert names_class(attribute, class_name) in (True, False)
    assert is_sensitive(attribute) in (True, False)


@pytest.mark.parametrize(
    ("attribute", "class_name", "expected"),
    [("bald eagle", "Bald_Eagle", True), ("eagles", "bald eagle", True),
     ("landbird", "land", False), ("wing", "waxwing", False),
     ("a bird on a wire", "birds", True), ("", "bird", False)],
)  # fmt: skip
def test_attributes_that_name_a_class(attribute, class_name, expected):
    assert names_class(attribute, class_name) is expected


def test_flags_say_why_and_others_stay():
    attributes = [
        ProposedAttribute("type", name, "image", name, flags=("known",) if at == 0 else ())
        for at, name in enumerate(NAMES[:3])
    ]
    first, second, third = flag_attributes(
        attributes, ["Couches", "table"], lambda names: VECTORS[: len(names)], "a test"
    )
    assert first.flags == ("known",)
    assert second.flags == ("names the class 'Couches'",)
    assert third.flags == ("near synonym of 'sofa' (type): merge them? (cosine 0.93 by a test)",)


@pytest.mark.parametrize(
    ("category", "expected"),
    [("Skin-Tone", True), ("skin tones", True), ("Age-group", True), ("religions", True),
     ("images", False), ("stage", False), ("sextant type", False), ("skin", False)],
)  # fmt: skip
def test_sensitive_categories_in_any_spelling(category, expected):
    assert is_sensitive(category) is expected


def test_attributes_that_tell_what_people_are_in_any_category():
    told = ["elderly woman", "Perceived Age", "middle-aged", "dark-skinned", "Muslims", "men",
            "wheelchair disability", "black people", "Asian", "teenagers", "skin_tone"]  # fmt: skip
    others = ["stage", "image", "black", "manhole", "mental state", "package", "racetrack",
              "raceme", "boycott", "asian elephant", "man-made", "white", "childlike"]  # fmt: skip
    assert [name for name in told if not names_sensitive_trait(name)] == []
    assert [name for name in others if names_sensitive_trait(name)] == []


def test_sensitive_attributes_are_flagged_where_their_category_does_not_say_so():
    rows = [("subject", "elderly woman"), ("appearance", "perceived age"), ("subject", "stage"),
            ("perceived gender", "woman")]  # fmt: skip
    attributes = [ProposedAttribute(of, name, "image", name) for of, name in rows]
    found = flag_attributes(attributes, ["bird"], lambda names: np.eye(len(names)), "a test")
    assert [one.flags for one in found] == [(PERSONAL,), (PERSONAL,), (), ()]
