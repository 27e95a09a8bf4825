"""Prompts read like the paper's, whatever the concepts' names are."""

import pytest

from cobalance.base.errors import OptionError
from cobalance.base.readable_names import LONGEST, readable
from cobalance.vision.models.prompts import PHOTO, check_template, prompt_for


def test_an_edited_image_is_described_by_its_caption_or_its_groups_words():
    words = {"caption": "a {noun} rides", "noun": "woman", "adjective": "old"}
    assert prompt_for([], "{caption}", **words) == "a {noun} rides"
    instruction = prompt_for([], "Make this {noun} more {adjective}", **words)
    assert instruction == "Make this woman more old"
    with pytest.raises(OptionError, match="a place for the adjective, and"):
        prompt_for([], "{adjective}", class_name="woman", noun="woman")
    with pytest.raises(OptionError, match="without concepts"):
        prompt_for([], "{noun} with {concepts}", noun="woman")


HOSTILE = [
    'o\'hare "quoted" `ticked`',
    "{concepts}",
    "{0} {class} {{}} %s",
    "two\nlines\tand\x00more",
    "long " * 60,
    "x" * 300,
    "\u0634\u0627\u0631\u0639",
    "\\g<1> \\1",
    "___",
]


@pytest.mark.parametrize(
    ("concepts", "expected"),
    [
        (["cow"], "a photo of a cow"),
        (["cow", "alley"], "a photo of a cow and an alley"),
        (["cow", "alley", "hour"], "a photo of a cow, an alley, and an hour"),
        (["ant", "bee", "cow", "dog"], "a photo of an ant, a bee, a cow, and a dog"),
        (["field_road", "garage-outdoor"], "a photo of a field road and a garage outdoor"),
    ],
)
def test_the_prompt_of_the_paper(concepts, expected):
    assert prompt_for(concepts) == expected


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "template", [PHOTO, "add {concepts} to the background", "a {class} before {names}"]
)
def test_names_are_only_ever_names(name, template):
    prompt = prompt_for([name, "cow"], template, class_name=name)
    assert prompt.isprintable()
    assert readable(name) in prompt
    assert "cow" in prompt
    assert prompt.startswith(template.partition("{")[0])
    assert len(readable(name)) <= LONGEST


def test_a_name_is_no_placeholder():
    assert prompt_for(["{names}"], "{names} of {class}", class_name="{concepts}") == (
        "{names} of {concepts}"
    )


@pytest.mark.parametrize(
    "template", ["a photo", "{}", "{concept}", "{concepts} {colour}", "{class}", "{names}\n"]
)
def test_templates_that_cannot_be_used(template):
    with pytest.raises(OptionError, match="prompt"):
        check_template(template)
    with pytest.raises(OptionError, match="prompt"):
        prompt_for(["cow"], template)


def test_no_concepts_is_an_error():
    with pytest.raises(OptionError, match="without concepts"):
        prompt_for([])
