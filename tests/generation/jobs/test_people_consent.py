"""Painting people needs consent; painting anything else does not."""

import pytest

from cobalance.base.errors import OptionError
from cobalance.generation.jobs.people_consent import check_consent, may_be_people
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.recipes import RECIPES

ALTERING = [name for name in RECIPES if RECIPES[name].people == "alters"]
PAINTING = [name for name in RECIPES if RECIPES[name].people]


def test_recipes_that_paint_people_check_that_images_are_safe():
    assert "resampled" in PAINTING
    for name in PAINTING:
        assert "safety" in RECIPES[name].filters


@pytest.mark.parametrize("name", PAINTING)
@pytest.mark.parametrize("basis", ["", "  \n"])
def test_people_are_not_painted_without_a_basis(name, basis):
    settings = read_job_settings({"recipe": name, "consent": basis, "alters_real_people": True})
    with pytest.raises(
        OptionError, match=r"paints people \('person'\). Say on what basis .*consent"
    ):
        check_consent(settings, ["woman", "man"])


@pytest.mark.parametrize("name", PAINTING)
def test_what_stays_of_real_people_is_to_be_confirmed(name):
    asked = {"recipe": name, "consent": "All shown have agreed."}
    if name in ALTERING:
        with pytest.raises(OptionError, match=r"part of a real person .*alters_real_people=True"):
            check_consent(read_job_settings(asked), ["woman", "man"])
    check_consent(read_job_settings(asked | {"alters_real_people": True}), ["woman", "man"])


@pytest.mark.parametrize("name", PAINTING)
@pytest.mark.parametrize(
    ("objects", "groups", "is_asked"),
    [
        (["dog", "cat"], ["dog", "cat"], False),
        (["teddy bear"], ["woman", "man"], False),
        (["dog", "Person"], ["dog", "cat"], True),
        (["*"], ["dog", "cat"], True),
        (["police_woman"], ["a"], True),
        (["face"], ["a"], True),
        ([], ["dog", "cat"], False),
        ([], ["dog", "darker-skinned"], True),
        ([], ["elderly woman"], True),
    ],
)
def test_masks_and_classes_say_whether_the_object_is_a_person(name, objects, groups, is_asked):
    settings = read_job_settings({"recipe": name, "masks": {"object": objects}})
    if is_asked:
        with pytest.raises(OptionError, match="consent"):
            check_consent(settings, groups)
    else:
        check_consent(settings, groups)


def test_any_recipe_that_paints_over_people_is_asked_for_consent():
    own = {"recipe": "inpaint", "making": {"paint": "object"}}
    with pytest.raises(OptionError, match=r"recipe inpaint paints people .'woman'."):
        check_consent(read_job_settings(own), ["woman"])
    check_consent(read_job_settings(own), ["bird"])
    check_consent(read_job_settings({"recipe": "inpaint"}), ["woman"])


@pytest.mark.parametrize("name", ["snowman", "hot dog", "teddy bear", "handbag", "young dog", ""])
def test_names_of_other_things(name):
    assert not may_be_people([name])


@pytest.mark.parametrize(
    ("settings", "is_altering"),
    [
        ({"recipe": "instruct"}, True),
        ({"recipe": "instruct", "making": {"crop": True}}, True),
        ({"recipe": "resampled", "backend": "patch", "variants": []}, True),
        ({"recipe": "resampled", "parts": "clipseg"}, True),
        ({"recipe": "resampled", "backend": "brushnet"}, False),
    ],
)
def test_what_a_job_overrides_counts_as_what_recipes_say(settings, is_altering):
    asked = read_job_settings(settings)
    with pytest.raises(OptionError, match="on what basis"):
        check_consent(asked, ["woman"], is_edit=True)
    agreed = read_job_settings(settings | {"consent": "All shown have agreed."})
    if is_altering:
        with pytest.raises(OptionError, match="alters_real_people"):
            check_consent(agreed, ["woman"], is_edit=True)
    else:
        check_consent(agreed, ["woman"], is_edit=True)
    check_consent(read_job_settings({"recipe": "instruct"}), ["woman"])
    check_consent(read_job_settings({"recipe": "instruct"}), ["dog"], is_edit=True)
