"""Captions as people write them, edited from man to woman and from woman to man.

The corpus was written before the rules of the editor. A row is a kind, the group that the caption
names (- for none, both, or somebody who cannot be edited), the caption, and its right edits (- for
none). A line break is written as \\n.
"""

from pathlib import Path

import pytest

from cobalance.ingest.captions.caption_editor import CaptionEditor
from cobalance.ingest.captions.text_changes import DOUBTS, MANY_GROUPS, NO_GROUP, REASONS
from cobalance.ingest.concepts.word_lists import load_group_words

OTHER = {"man": "woman", "woman": "man"}
LINES = (Path(__file__).parents[2] / "data" / "caption_edits.tsv").read_text("utf-8").splitlines()
CORPUS = [tuple(part.replace("\\n", "\n") for part in line.split("\t")[1:]) for line in LINES[1:]]
LISTS = {name: load_group_words(name) for name in ("coco-gb", "gensynth", "pinpoint")}
EDITOR = CaptionEditor(LISTS["gensynth"])


@pytest.mark.parametrize("words", LISTS.values(), ids=LISTS)
def test_captions_are_edited_rightly_or_rightly_left_out(words):
    editor = CaptionEditor(words, "swap")
    outcomes = []
    for named, caption, *right in CORPUS:
        for target in [OTHER[named]] if named in OTHER else OTHER:
            found = editor.edit_caption(caption, target)
            assert (found.text is None) == (found.reason in REASONS)
            is_as_it_was = found.text in (None, caption)  # the group that an animal's "her" is of
            outcomes.append(("-" if is_as_it_was else found.text, right))
    assert len(CORPUS) >= 300
    assert sum(text in right for text, right in outcomes) >= 0.98 * len(outcomes)
    decidable = [text for text, right in outcomes if "-" not in right]
    assert decidable.count("-") <= 0.02 * len(decidable)
    assert all(text in {"-", *right} for text, right in outcomes)


def test_every_edit_is_restored_in_the_other_direction():
    for named, caption, right, *_ in CORPUS:
        edited = EDITOR.edit(caption, OTHER[named]) if named in OTHER else None
        if edited == right:
            assert EDITOR.edit(right, named) == caption


@pytest.mark.parametrize(
    ("caption", "group", "edited"),
    [
        ("The gentlemen's hats", "woman", "The ladies' hats"),
        ("The ladies’ hats", "man", "The gentlemen’s hats"),
        ("THE LADIES' HATS", "man", "THE GENTLEMEN'S HATS"),
        ("A blanket keeps her warm.", "man", "A blanket keeps him warm."),
        ("A woman in her warm coat", "man", "A man in his warm coat"),
        ("Fans watch her ride a wave", "man", "Fans watch him ride a wave"),
        ("A friend visits her every Sunday", "man", "A friend visits him every Sunday"),
        ("A friend joined her last night", "man", "A friend joined him last night"),
        ("A policeman on his horse", "woman", "A policewoman on her horse"),
        ("A woman in a cowboy hat", "man", "A man in a cowboy hat"),
        ("A man in New York hails his taxi", "woman", "A woman in New York hails her taxi"),
        ("A woman rides her horse", "man", "A man rides his horse"),
        ("A dog on her lap", "man", "A dog on his lap"),
    ],
)
def test_captions_that_can_be_decided(caption, group, edited):
    assert EDITOR.edit(caption, group) == edited
    assert EDITOR.edit(edited, OTHER[group]) == caption


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("S/he holds a board", DOUBTS["unclear"]),
        ("A friend brings her coffee", DOUBTS["unclear"]),
        ("A lobsterman on a pier", DOUBTS["unclear"]),
        ("A policeman on her horse", MANY_GROUPS),
        ("Two policewomen and a man", MANY_GROUPS),
        ("Serena Williams swings her racket", DOUBTS["name"]),
        ("Lady Gaga on a stage", DOUBTS["name"]),
        ("A Queen Elizabeth lookalike", DOUBTS["name"]),
        ("A sign of the men’s room", DOUBTS["name"]),
        ("A cow licks her calf", DOUBTS["animal"]),
        ("A mother bear and her cubs", DOUBTS["animal"]),
        ("A man watches a dog chasing his tail", DOUBTS["animal"]),
        ("A snowman in a yard", NO_GROUP),
    ],
)
def test_captions_that_are_left_out_for_a_reason(caption, reason):
    found = [EDITOR.edit_caption(caption, group) for group in ("man", "woman")]
    assert reason in {one.reason for one in found}
    assert all(one.text in (None, caption) for one in found)


def test_what_is_not_edited_stays_where_captions_are_neutralised():
    assert (
        EDITOR.neutralise("A cow licks her calf near a man") == "A cow licks her calf near a person"
    )


def test_a_list_of_other_groups_has_none_of_the_phrases(tmp_path):
    path = tmp_path / "pets.toml"
    path.write_text('pairs = [{ cat = "cat", dog = "dog" }]', "utf-8")
    editor = CaptionEditor(load_group_words(str(path)))
    caption = "A cat and a lobsterman at the men's room on Mother's Day"
    assert editor.edit(caption, "dog") == caption.replace("cat", "dog")
