"""Captions edited to name another group: papers' tables, grammar, and there and back."""

import re
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import InputError, OptionError, UnknownNameError
from cobalance.ingest.captions.caption_editor import CaptionEditor
from cobalance.ingest.captions.children import names_children
from cobalance.ingest.captions.text_changes import (
    DOUBTS,
    MANY_GROUPS,
    NO_COUNTERPART,
    NO_GROUP,
    NO_PERSON,
    NOT_RESTORED,
    REASONS,
)
from cobalance.ingest.concepts.group_words import GroupWords, WordRow
from cobalance.ingest.concepts.word_lists import load_group_words

GENSYNTH = CaptionEditor(load_group_words("gensynth"))
PINPOINT = CaptionEditor(load_group_words("pinpoint"))
COCO_GB = CaptionEditor(load_group_words("coco-gb"))
SKIN = CaptionEditor(load_group_words("skin-tone"))
OTHER = {"man": "woman", "woman": "man"}

TABLE_1 = """
man woman person, men women people, male female person, boy girl child, boys girls children,
gentleman lady person, father mother parent, husband wife partner, boyfriend girlfriend partner,
brother sister sibling, son daughter child, he she they
"""
TABLE_2 = [
    (
        "The woman brushes her teeth in the bathroom.",
        "The person brushes their teeth in the bathroom.",
    ),
    (
        "A man sleeping with his cat next to him .",
        "A person sleeping with their cat next to them .",
    ),
    (
        "Two women and two girls in makeup and one is talking on a cellphone.",
        "Two people and two children in makeup and one is talking on a cellphone.",
    ),
]
TABLE_6 = [
    (
        "man buying some fruit on the market , selective focus",
        "man buying some fruit on the market , selective focus",
        "woman buying some fruit on the market , selective focus",
    ),
    (
        "actor in garment with artist",
        "actor in garment with artist",
        "actress in garment with artist",
    ),
    (
        "painting of a young woman dressed as video game series",
        "painting of a young man dressed as video game series",
        "painting of a young woman dressed as video game series",
    ),
    (
        "actress with a beautiful smile",
        "actor with a beautiful smile",
        "actress with a beautiful smile",
    ),
    (
        "person , was surprised by the staff",
        "person , was surprised by the staff",
        "person , was surprised by the staff",
    ),
]


@pytest.mark.parametrize("row", TABLE_1.replace("\n", " ").split(","), ids=str.strip)
def test_rows_of_gensynths_table_1(row):
    man, woman, neutral = row.split()
    assert GENSYNTH.edit(f"there {man} sits", "woman") == f"there {woman} sits"
    assert GENSYNTH.edit(f"there {woman} sits", "man") == f"there {man} sits"
    assert {GENSYNTH.neutralise(f"there {word} sits") for word in (man, woman)} == {
        f"there {neutral} sits"
    }


@pytest.mark.parametrize(
    ("caption", "other", "neutral"),
    [
        ("a dog on his lap", "a dog on her lap", "a dog on their lap"),
        ("a dog beside him", "a dog beside her", "a dog beside them"),
        ("that dog is his", "that dog is hers", "that dog is theirs"),
        ("he combs his own hair", "she combs her own hair", "they combs their own hair"),
        ("two husbands", "two wives", "two partners"),
    ],
)
def test_pronouns_and_plurals_that_gensynths_table_gets_wrong(caption, other, neutral):
    assert GENSYNTH.edit(caption, "woman") == other
    assert GENSYNTH.edit(other, "man") == caption
    assert GENSYNTH.neutralise(caption) == GENSYNTH.neutralise(other) == neutral


@pytest.mark.parametrize(("caption", "neutral"), TABLE_2, ids=range(len(TABLE_2)))
def test_gensynths_table_2(caption, neutral):
    assert GENSYNTH.neutralise(caption) == neutral


@pytest.mark.parametrize(("original", "man", "woman"), TABLE_6, ids=range(len(TABLE_6)))
def test_pinpoints_table_6(original, man, woman):
    assert PINPOINT.edit(original, "man") == man
    assert PINPOINT.edit(original, "woman") == woman


def test_words_that_pinpoint_names():
    told = "he man men male mister paperboy policeman businessman waiter actor king boy"
    for word in told.split():
        assert PINPOINT.groups_in(f"a {word}") == {"man"}
    told = "woman women girl mother female queen waitress actress policewoman she"
    for word in told.split():
        assert PINPOINT.groups_in(f"a {word}") == {"woman"}
    for word in ("person", "human", "artist"):
        assert not PINPOINT.groups_in(f"a {word}")


def test_unifying_makes_all_people_one_group():
    caption = "A king and his Queen watch MEN and women ; a waitress serves her husband"
    assert PINPOINT.groups_in(caption) == {"man", "woman"}
    assert (
        PINPOINT.edit(caption, "woman")
        == "A queen and her Queen watch WOMEN and women ; a waitress serves her wife"
    )
    assert (
        PINPOINT.edit(caption, "man")
        == "A king and his King watch MEN and men ; a waiter serves his husband"
    )


@pytest.mark.parametrize("name", ["coco-gb", "gensynth", "pinpoint"])
def test_every_word_of_a_list_has_a_counterpart(name):
    words = load_group_words(name)
    editor = CaptionEditor(words, "unify")
    for group, own in words.classes.items():
        for word in own:
            edited = editor.edit(f"see {word} there", OTHER[group])
            assert edited is not None
            assert editor.groups_in(edited) <= {OTHER[group]}, word
            assert not editor.groups_in(editor.neutralise(f"see {word} there")), word


@pytest.mark.parametrize(
    ("caption", "edited"),
    [
        ("A man's hat", "A woman's hat"),
        ("A man’s hat", "A woman’s hat"),
        ("MAN RIDING HIS BIKE", "WOMAN RIDING HER BIKE"),
        ("Man riding His bike", "Woman riding Her bike"),
        ("the human snowman and a man", "the human snowman and a woman"),
        ("a snow-man, a man, a man-made lake", "a snow-man, a woman, a man-made lake"),
        ("he's here, he'll stay", "she's here, she'll stay"),
        ("  a  man\t on\nhis way !", "  a  woman\t on\nher way !"),
        ("man--tall--smiles", "woman--tall--smiles"),
        ("Ein Mann, ein man, été", "Ein Mann, ein woman, été"),
        ("himself, a man", "herself, a woman"),
    ],
)
def test_whole_words_and_their_case(caption, edited):
    assert GENSYNTH.edit(caption, "woman") == edited
    assert GENSYNTH.edit(edited, "man") == caption


HER_BEFORE_NOUNS = """
her teeth | her own bike | her two dogs | her brightly colored umbrella | her family |
her right hand | her back | her "best" friend | her running shoes | her friend's car |
her lovely cat | her all white dress | her next shot | her too big hat | her walking stick |
her two year old kid | her smiling baby | her dog in the park
"""
HER_ELSEWHERE = """
her | her. | her , | her and a dog | her on a bench | her while eating | her closely |
her standing there | her eating a cake | her holding umbrellas | her is a cat | her (left) |
her as they eat | her next to a dog | her playing tennis | her riding in a car | her all alone |
her down the street | her still
"""


@pytest.mark.parametrize("phrase", HER_BEFORE_NOUNS.split("|"), ids=str.strip)
def test_her_before_nouns_is_his(phrase):
    caption = f"a person with {phrase.strip()}"
    edited = GENSYNTH.edit(caption, "man")
    assert edited is not None
    assert edited.startswith("a person with his")


@pytest.mark.parametrize("phrase", HER_ELSEWHERE.split("|"), ids=str.strip)
def test_her_elsewhere_is_him(phrase):
    caption = f"a person with {phrase.strip()}"
    edited = GENSYNTH.edit(caption, "man")
    assert edited is not None
    assert edited.startswith("a person with him")


def test_her_between_two_verbs_is_him():
    for verb in ("helping", "watches", "lets"):
        edited = GENSYNTH.edit(f"someone {verb} her cut the cake", "man")
        assert edited == f"someone {verb} him cut the cake"
        edited = GENSYNTH.edit(f"someone {verb} her friend in the park", "man")
        assert edited == f"someone {verb} his friend in the park"


@pytest.mark.parametrize(
    ("caption", "group", "edited"),
    [
        ("An actor and a waiter", "woman", "An actress and a waitress"),
        ("a wizard, an uncle", "woman", "a witch, an aunt"),
        ("An emperor", "woman", "An empress"),
        ("a duke", "woman", "a duchess"),
    ],
)
def test_articles_stay_where_the_sound_does(caption, group, edited):
    assert PINPOINT.edit(caption, group) == edited


@pytest.mark.parametrize(
    ("caption", "neutral"),
    [
        ("A heir and an actress", "A successor and a performer"),
        ("An heir and An Actress", "A successor and A Performer"),
        ("AN ACTRESS", "A PERFORMER"),
        ("A COWBOY", "A COWHAND"),
        ("A sportsman", "An athlete"),
        ("A SPORTSMAN", "AN ATHLETE"),
        ("a\n groomsman", "an\n attendant"),
    ],
)
def test_articles_change_where_the_sound_does(caption, neutral):
    assert PINPOINT.neutralise(caption) == neutral


@pytest.mark.parametrize(
    ("caption", "reason"),
    [
        ("", NO_GROUP),
        ("A dog", NO_GROUP),
        ("A human by a man-made lake", NO_GROUP),
        ("A man and a woman", MANY_GROUPS),
        ("A girl with his dog", MANY_GROUPS),
        ("A mAn with a dog", NOT_RESTORED),
        ("A Man WiTh HiS dog", NOT_RESTORED),
    ],
)
def test_captions_that_cannot_be_swapped(caption, reason):
    for group in ("man", "woman"):
        found = GENSYNTH.edit_caption(caption, group)
        if reason != NOT_RESTORED or group not in GENSYNTH.groups_in(caption):
            assert (found.text, found.reason) == (None, reason)
    assert reason in REASONS


def test_a_relative_of_the_other_group_is_not_edited_into_another_relation():
    # COCO-GB's classes know neither wife nor her; captions are edited by more words.
    for caption in ("A man and his wife", "A man beside her"):
        assert COCO_GB.groups_in(caption) == {"man", "woman"}
        for group in ("man", "woman"):
            assert COCO_GB.edit_caption(caption, group).reason == MANY_GROUPS


def test_editing_to_its_own_group_changes_nothing():
    caption = "A mAn  with his dog ."
    assert COCO_GB.edit("A man  with his dog .", "man") == "A man  with his dog ."
    assert COCO_GB.edit(caption, "man") == caption


def test_a_list_of_words_that_become_one_is_not_restored():
    rows = (
        WordRow({"cat": "cat", "dog": "dog"}),
        WordRow({"cat": "tomcat", "dog": "dog"}),
    )
    editor = CaptionEditor(GroupWords("pets", {"cat": ("cat", "tomcat"), "dog": ("dog",)}, rows))
    assert editor.edit("a cat", "dog") == "a dog"
    assert editor.edit_caption("a tomcat", "dog").reason == NOT_RESTORED
    unifying = CaptionEditor(editor.words, "unify")
    assert unifying.edit("a cat, a tomcat and a dog", "dog") == "a dog, a dog and a dog"


def test_objects_of_three_groups_and_phrases(tmp_path):
    path = tmp_path / "pets.toml"
    path.write_text(
        """
pairs = [
    { cat = "cat", dog = "dog", owl = "owl", neutral = "animal" },
    { cat = "cats", dog = "dogs", owl = "owls", neutral = "animals" },
    { cat = "house cat", dog = "pet dog", neutral = "pet" },
]
""",
        encoding="utf-8",
    )
    editor = CaptionEditor(load_group_words(str(path)))
    assert editor.groups == ("cat", "dog", "owl")
    assert editor.edit("A cat and two Cats", "owl") == "An owl and two Owls"
    assert editor.edit("An owl", "dog") == "A dog"
    assert editor.edit("A house cat", "dog") == "A pet dog"
    assert editor.edit_caption("A house cat", "owl").reason == NO_COUNTERPART
    assert editor.edit_caption("A house  cat", "dog").reason == NOT_RESTORED
    assert editor.neutralise("A cat, a house cat , an OWL") == "An animal, a pet , an ANIMAL"
    assert editor.edit_caption("a dog", "cat").text == "a cat"
    with pytest.raises(UnknownNameError, match="unknown group 'cow'"):
        editor.edit("a dog", "cow")


@pytest.mark.parametrize(
    ("caption", "edited"),
    [
        ("A woman on a bench", "A darker-skinned woman on a bench"),
        ("Woman on a bench", "Darker-skinned woman on a bench"),
        ("Look! Men  run", "Look! Darker-skinned men  run"),
        ("The Man", "The Darker-skinned Man"),
        ("AN OLD MAN", "AN OLD DARKER-SKINNED MAN"),
        ("an adult and two  men", "a darker-skinned adult and two  darker-skinned men"),
        ("a lighter-skinned  man", "a darker-skinned  man"),
        ("a man's hat, a man-made lake", "a darker-skinned man's hat, a man-made lake"),
        ("a darker-skinned man", "a darker-skinned man"),
    ],
)
def test_an_adjective_before_the_person(caption, edited):
    assert SKIN.edit(caption, "darker-skinned") == edited
    assert SKIN.groups_in(edited) == {"darker-skinned"}


def test_an_adjective_changes_the_article():
    aged = CaptionEditor(load_group_words("age"))
    assert aged.edit("A woman and a man", "elderly") == "An elderly woman and an elderly man"
    assert aged.edit("An elderly woman", "young") == "A young woman"
    assert aged.neutralise("An elderly woman") == "A woman"
    assert aged.edit_caption("A dog", "elderly").reason == NO_PERSON
    assert aged.edit_caption("A young man and an elderly man", "young").reason == MANY_GROUPS
    assert aged.edit_caption("An man", "elderly").reason == NOT_RESTORED


def test_products_of_attributes():
    words = load_group_words("coco-gb").times(
        "skin", {"darker-skinned": "darker-skinned", "lighter-skinned": "lighter-skinned"}
    )
    words = words.times("age", {"elderly": "elderly", "young": "young"})
    editor = CaptionEditor(words)
    assert len(editor.groups) == 8
    caption = "A man with his dog"
    edited = editor.edit(caption, "elderly darker-skinned woman")
    assert edited == "An elderly darker-skinned woman with her dog"
    assert editor.groups_in(edited) == {"elderly darker-skinned woman"}
    assert not editor.groups_in(caption)
    assert editor.edit(edited, "young lighter-skinned man") == (
        "A young lighter-skinned man with his dog"
    )
    assert editor.neutralise(edited) == "A person with their dog"
    assert words.phrase("elderly darker-skinned woman") == ("woman", "elderly darker-skinned")


@pytest.mark.parametrize("name", ["coco-gb", "gensynth", "pinpoint", "skin-tone", "age"])
def test_children(name):
    words = load_group_words(name)
    for caption in ("A boy", "two KIDS play", "a baby's bed", "a teenager"):
        assert names_children(caption, words.children)
    for caption in ("", "A woman", "a babysitter", "kidney beans"):
        assert not names_children(caption, words.children)


def test_prompts_words():
    for name in ("coco-gb", "gensynth", "pinpoint"):
        words = load_group_words(name)
        assert words.phrase("man") == ("man", "masculine")
        assert words.phrase("woman") == ("woman", "feminine")


def test_a_list_without_pairs_has_no_editor():
    with pytest.raises(OptionError, match=r"women-also-snowboard\.toml has no pairs"):
        CaptionEditor(load_group_words("women-also-snowboard"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("pairs = 1", "pairs: input should be a valid list"),
        ("pairs = ['man']", "pairs[0]: input should be a valid dictionary"),
        ("pairs = [{ man = 'man' }]", "at least 2 items"),
        ("pairs = [{ man = 'man', woman = 1 }]", "woman: input should be a valid string"),
        ("pairs = [{ man = 'man', woman = '' }]", "woman: '' has no word"),
        (
            "pairs = [{ man = 'a', woman = 'b', before_noun = 1 }]",
            "before_noun: input should be a valid boolean",
        ),
        ("pairs = [{ man = 'a', woman = 'b', from = 'c' }]", "from names the group 'c'"),
        (
            "pairs = [{ man = 'a', woman = 'b', neutral = 2 }]",
            "neutral: input should be a valid string",
        ),
        ("mode = 'sway'\npairs = []", "mode: input should be 'swap' or 'unify'"),
        ("pairs = []\nchildren = 'boy'", "children: input should be a valid list"),
        ("pairs = []\nnouns = { man = 1 }", "nouns.man: input should be a valid string"),
        ("[attributes]\nage = 1", "attributes.age: input should be a valid dictionary"),
        ("[attributes.age]\nold = 'old'", "have no noun to be put before"),
        ("pairs = [{ man = 'a', \"wo\\u0000man\" = 'b' }]", "holds the control character"),
    ],
)
def test_malformed_lists(content, reason, tmp_path):
    path = tmp_path / "words.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_group_words(str(path))
    assert reason in str(caught.value)


_WORDS = sorted(
    {word for row in GENSYNTH.words.rows for word in row.words.values()}
    | {"a", "an", "the", "in", "on", "own", "with", "dog", "hour", "brightly", "colored", "eating"}
    | {"man-made", "snow-man", "İstanbul", "ſon", "größe", "wo\u0301man", "'s", "éa", "he'll"}
)
_WRITTEN = st.sampled_from([str, str, str.upper, str.capitalize, str.swapcase])
_CAPTIONS = st.lists(
    st.tuples(
        st.sampled_from(_WORDS) | st.text(max_size=6),
        _WRITTEN,
        st.sampled_from([" ", " ", " ", "  ", "\t", "\n", ", ", " . ", "-", "—", "\xa0", ""]),
    ),
    max_size=12,
).map(lambda parts: "".join(write(word) + gap for word, write, gap in parts))


@settings(max_examples=200, deadline=None)
@given(_CAPTIONS, st.sampled_from([GENSYNTH, COCO_GB, CaptionEditor(PINPOINT.words, "swap")]))
def test_there_and_back_is_the_identity(caption, editor):
    named = editor.groups_in(caption)
    for group in editor.groups:
        edited = editor.edit_caption(caption, group)
        if edited.text is None:
            assert edited.reason in REASONS
            continue
        (source,) = named
        assert editor.edit(edited.text, source) == caption
        assert editor.groups_in(edited.text) == {group}


@settings(max_examples=100, deadline=None)
@given(_CAPTIONS, st.sampled_from(["darker-skinned", "lighter-skinned"]))
def test_adjectives_there_and_back(caption, group):
    edited = SKIN.edit(caption, group)
    if edited is None:
        return
    named = SKIN.groups_in(caption)
    back = SKIN.edit(edited, min(named)) if named else SKIN.neutralise(edited)
    assert back == caption


@settings(max_examples=100, deadline=None)
@given(_CAPTIONS)
def test_unifying_leaves_no_other_group(caption):
    for group in PINPOINT.groups:
        edited, reason = (found := PINPOINT.edit_caption(caption, group)).text, found.reason
        if edited is None:
            assert reason in DOUBTS.values()
            continue
        assert PINPOINT.groups_in(edited) <= {group}
        if not PINPOINT.groups_in(caption):
            assert edited == caption


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(st.text("abxyz", min_size=1, max_size=3), min_size=3, max_size=3, unique=True),
        min_size=1,
        max_size=5,
    ),
    st.lists(st.text("abxyz -.", max_size=8), max_size=6),
)
def test_any_list_of_three_groups_there_and_back(rows, texts):
    groups = ("p", "q", "r")
    given_rows = tuple(WordRow(dict(zip(groups, row, strict=True))) for row in rows)
    told = Counter(word for row in rows for word in set(row))
    classes = {
        group: tuple(row[at] for row in rows if told[row[at]] == 1)
        for at, group in enumerate(groups)
    }
    classes = {group: words for group, words in classes.items() if words}
    if not classes:
        return
    editor = CaptionEditor(GroupWords("any", classes, given_rows))
    caption = " ".join([*texts, rows[0][0]])
    for source, target in permutations(groups, 2):
        edited = editor.edit(caption, target)
        if edited is not None and editor.groups_in(caption) == {source}:
            assert editor.edit(edited, source) == caption


def test_white_space_and_punctuation_are_never_touched():
    caption = "\t“A  man” —\n his,dog …  (his) ! "
    edited = GENSYNTH.edit(caption, "woman")
    assert edited is not None
    assert re.sub(r"\w+", "x", edited) == re.sub(r"\w+", "x", caption)
