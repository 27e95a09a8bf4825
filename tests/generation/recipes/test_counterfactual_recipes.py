"""Recipes that edit images have the settings of their papers, and the words they need."""

from collections import Counter

import pytest

from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.recipes import RECIPES
from cobalance.generation.recipes.pinpoint import SKIN
from cobalance.ingest.concepts.word_lists import combine_words, phrases_of
from cobalance.vision.models.prompts import prompt_for

EDITING = [name for name in RECIPES if RECIPES[name].plan is not None]


def test_there_is_a_recipe_for_each_way_of_editing():
    assert set(EDITING) >= {"resampled", "resampled-control", "pinpoint", "gensynth", "genswap"}


@pytest.mark.parametrize("name", EDITING)
def test_settings_are_those_of_any_job_and_are_kept_with_it(name):
    settings = read_job_settings({"recipe": name})
    kept = settings.model_dump(mode="json", exclude_unset=True)
    assert read_job_settings(kept) == settings
    recipe = RECIPES[name]
    assert (recipe.result is None, recipe.people == "") == (False, False)
    assert recipe.choices
    assert all(said.endswith(".") for said in recipe.choices)
    assert (settings.consent, settings.alters_real_people) == ("", False)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("resampled", {7.5: 10, 9.5: 10, 15.0: 10}),
        ("gensynth", {9.5: 4, 15.0: 4}),
    ],
)
def test_candidates_share_the_guidance_scales(name, expected):
    settings = read_job_settings({"recipe": name})
    variants = settings.variants
    made = [variants[j % len(variants)] for j in range(settings.best_of)]
    assert Counter(one.guidance_scale for one in made) == expected
    assert set(Counter(one.prompt for one in made).values()) in ({30}, {2})


def test_gensynth_gives_eight_instructions_a_group():
    settings = read_job_settings({"recipe": "gensynth"})
    phrases = phrases_of(combine_words(RECIPES["gensynth"].plan.words), ["woman", "man"])
    said = {
        group: [
            prompt_for([], one.prompt, class_name=group, **phrases[group])
            for one in settings.variants[::2]
        ]
        for group in phrases
    }
    assert said["woman"] == [
        "Make this person more feminine",
        "Make this person look like a woman",
        "Turn this person into a woman",
        "Convert this into a woman",
    ]
    assert said["man"][0] == "Make this person more masculine"
    assert len(settings.variants) == settings.best_of == 8


def test_a_segmenters_other_options_are_kept_as_long_as_it_is_the_recipes():
    own = {"recipe": "pinpoint", "parts_options": {"model": "/models/own"}}
    assert read_job_settings(own).parts_options == {"model": "/models/own", "labels": list(SKIN)}
    assert read_job_settings(own | {"parts": "clipseg"}).parts_options == {"model": "/models/own"}
    every = {"recipe": "pinpoint", "parts_options": {"labels": ["Hair"]}}
    assert read_job_settings(every).parts_options == {"labels": ["Hair"]}


def test_any_option_overrides_a_recipes():
    settings = read_job_settings(
        {"recipe": "resampled", "best_of": 4, "masks": {"object": ["dog", "cat"]}, "variants": []}
    )
    assert (settings.best_of, settings.variants) == (4, ())
    assert settings.masks.object == ("dog", "cat")
    assert settings.masks.second_above_px == 55_000
