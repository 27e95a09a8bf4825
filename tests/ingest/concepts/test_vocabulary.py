"""Finding concepts in captions: by hand, and against a slow twin."""

import re

import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import InputError, OptionError, UnknownNameError
from cobalance.ingest.concepts.noun_plurals import plural_forms
from cobalance.ingest.concepts.vocabulary import Vocabulary, load_vocabulary
from cobalance.ingest.concepts.word_lists import load_word_list
from cobalance.ingest.options import ReadOptions
from cobalance.ingest.problems import Problems


def found(vocabulary, caption):
    return [vocabulary.names[number] for number in vocabulary.find(caption)]


def vocabulary_of(*concepts, mode="words"):
    return Vocabulary({concept: [concept] for concept in concepts}, mode)


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("A palm tree.", ["palm tree"]),
        ("Trees, and a palm-tree!", ["tree", "palm tree"]),
        ("palm trees\nby the palm_tree", ["palm tree", "palm tree"]),
        ("treetop, subtree", []),
        ("A palm, tree of life", ["tree"]),
        ("PALM TREE", ["palm tree"]),
        ("the tree's leaves", ["tree"]),
        ("tree2 and 2tree", []),
        ("", []),
        ("palm  tree", ["palm tree"]),
        ("a palm palm tree tree", ["palm tree", "tree"]),
    ],
)
def test_word_boundaries_plurals_and_longest_match(caption, expected):
    assert found(vocabulary_of("tree", "palm tree"), caption) == expected


def test_substring_mode_is_plain_containment_once_a_caption():
    vocabulary = vocabulary_of("man", "woman", "palm tree", "tree", mode="substring")
    assert found(vocabulary, "A WOMAN under palm trees, trees") == [
        "man",
        "palm tree",
        "tree",
        "woman",
    ]


def test_accents_and_case_beyond_ascii():
    vocabulary = vocabulary_of("caf\u00e9", "stra\u00dfe")
    assert found(vocabulary, "CAFE\u0301 in der STRASSE") == ["caf\u00e9", "stra\u00dfe"]


def test_a_listed_phrase_beats_a_generated_plural():
    vocabulary = Vocabulary({"person": ["person"], "crowd": ["people"]})
    assert found(vocabulary, "people and a person and persons") == ["crowd", "person", "person"]


def test_find_all_gives_rows_in_order():
    rows, concept = vocabulary_of("cat", "dog").find_all(
        ["dogs, a cat", None, "", "cat"], Problems("x")
    )
    assert rows.tolist() == [0, 0, 3]
    assert [concept.names[code] for code in concept.codes] == ["dog", "cat", "cat"]


WORDS = st.sampled_from(
    ["palm", "tree", "trees", "oak", "a", "b", "boxes", "box", "leaf", "leaves"]
)
PHRASES = st.lists(WORDS, min_size=1, max_size=3).map(" ".join)
SEPARATORS = st.sampled_from([" ", "  ", "-", "_", ", ", ". ", "x", "'", "\n", "2"])


@given(
    st.sets(PHRASES, min_size=1, max_size=8),
    st.lists(st.tuples(WORDS, SEPARATORS), max_size=12).map(
        lambda parts: "".join(word + separator for word, separator in parts)
    ),
)
def test_words_equal_a_naive_twin(concepts, caption):
    """The twin tries every phrase with a regular expression at every position, longest first."""
    forms = dict(zip(concepts, concepts, strict=True))
    for concept in sorted(concepts):
        *start, last = concept.split()
        for plural in plural_forms(last):
            forms.setdefault(" ".join([*start, plural]), concept)
    longest_first = sorted(forms, key=lambda form: -len(form.split()))
    expected, at = [], 0
    while at < len(caption):
        for form in longest_first:
            pattern = r"(?<![^\W_])" + r"[\s_-]+".join(form.split()) + r"(?![^\W_])"
            match = re.compile(pattern).match(caption, at)
            if match:
                expected.append(forms[form])
                at = match.end()
                break
        else:
            at += 1
    assert found(vocabulary_of(*concepts), caption) == expected


@given(st.sets(PHRASES, min_size=1, max_size=8), st.text("palmtreoxs -", max_size=40))
def test_substring_equals_a_naive_twin(concepts, caption):
    vocabulary = vocabulary_of(*concepts, mode="substring")
    assert set(found(vocabulary, caption)) == {c for c in concepts if c in caption}


def test_file_with_variants_comments_and_blank_lines(write):
    path = write("\ufeff# objects\n\ncouch: sofa, settee\npalm tree\n")
    vocabulary = load_vocabulary(ReadOptions(vocabulary=path))
    assert vocabulary.names == ("couch", "palm tree")
    assert found(vocabulary, "two sofas, a settee") == ["couch", "couch"]


@pytest.mark.parametrize(
    ("content", "record", "reason"),
    [
        ("tree\ncar\ntree\n", "line 3", "stands for 'tree' on line 1 already"),
        ("couch: sofa\nsofa\n", "line 2", "'sofa' stands for 'couch' on line 1 already"),
        ("Palm Tree\npalm-tree\n", "line 2", "stands for 'Palm Tree' on line 1 already"),
        ("tree\n: sofa\n", "line 2", "the phrase '' is empty"),
        ("tree\ncouch: sofa,,\n", "line 2", "the phrase '' is empty"),
        ("tree\nca\0r\n", "line 2", "control character"),
        ("tree\n---\n", "line 2", "no word to look for"),
        ("# nothing\n\n", None, "names no concept"),
        (b"tree\ncaf\xe9\n", "line 2", "0xe9 is not UTF-8"),
        (f"tree\n{'x' * 1001}\n", "line 2", "longer than 1,000 characters"),
    ],
)
def test_malformed_vocabulary(content, record, reason, write):
    path = write(content)
    with pytest.raises(InputError) as caught:
        load_vocabulary(ReadOptions(vocabulary=path))
    assert caught.value.file == str(path)
    assert caught.value.record == record
    assert reason in caught.value.reason


def test_options_list_names_the_entry():
    with pytest.raises(InputError, match="the vocabulary, entry 2: 'sofa' stands for 'couch'"):
        load_vocabulary(ReadOptions(vocabulary=("couch: sofa", "sofa")))


def test_word_lists_match_whole_listed_words_only():
    words = load_word_list("coco-gb")
    assert found(words, "Women and a boy; a human, a snowman") == ["woman", "man"]
    longer = load_word_list("women-also-snowboard")
    assert found(longer, "A policeman and his mom") == ["man", "man", "woman"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("man = [", "is not valid TOML"),
        ("[words]\nman = ['man']", "has no [classes] of two or more"),
        ("[classes]\nman = ['man']", "has no [classes] of two or more"),
        ("[classes]\nman = ['man']\nwoman = []", "at least 1 item"),
        ("[classes]\nman = ['man']\nwoman = 'woman'", "input should be a valid list"),
        ("[classes]\nman = ['man']\nwoman = ['--']", "'--' has no word"),
        ("[classes]\nman = ['man']\nwoman = ['man']", "stands for both 'man' and 'woman'"),
    ],
)
def test_malformed_word_list(content, reason, write):
    path = write(content)
    with pytest.raises(InputError) as caught:
        load_word_list(str(path))
    assert reason in caught.value.reason


def test_unknown_word_list():
    with pytest.raises(UnknownNameError, match="Known: coco-gb, gensynth, pinpoint, women-also"):
        load_word_list("coco")


def test_ambiguous_phrase():
    with pytest.raises(OptionError, match="stands for both 'a' and 'b'"):
        Vocabulary({"a": ["x y"], "b": ["x-y"]})


@pytest.mark.parametrize(
    ("word", "plurals"),
    [
        ("woman", ("women",)),
        ("human", ("humans",)),
        ("box", ("boxes",)),
        ("bush", ("bushes",)),
        ("bench", ("benches",)),
        ("city", ("cities",)),
        ("boy", ("boys",)),
        ("knife", ("knives", "knifes")),
        ("bookshelf", ("bookshelves", "bookshelfs")),
        ("roof", ("roofs",)),
        ("potato", ("potatoes", "potatos")),
        ("photo", ("photos",)),
        ("grandchild", ("grandchildren",)),
        ("aircraft", ()),
        ("7", ()),
        ("", ()),
    ],
)
def test_plurals(word, plurals):
    assert plural_forms(word) == plurals
