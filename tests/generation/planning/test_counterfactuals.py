"""Plans of counterfactuals: equal counts in all groups, order, and what cannot be asked for."""

from collections import Counter
from itertools import chain, combinations

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.base.records import Edit
from cobalance.generation.planning.counterfactuals import (
    CounterfactualOptions,
    check_groups,
    plan_counterfactuals,
)

GROUPS = ("woman", "man", "darker-skinned woman", 'o\'hare "x" {class}')


def frame(rows):
    return pd.DataFrame(rows, columns=["id", "class_name", "concepts"])


@st.composite
def graphs(draw):
    groups = draw(st.lists(st.sampled_from(GROUPS), min_size=2, max_size=4, unique=True))
    ids = draw(st.lists(st.text(min_size=1, max_size=4), unique=True, max_size=12))
    concepts = st.lists(st.sampled_from("abcde"), unique=True).map(tuple)
    return groups, frame([(one, draw(st.sampled_from(groups)), draw(concepts)) for one in ids])


def counts(pairs):
    """Images of each class that show each set of concepts, by counting every subset."""
    found = {}
    for class_name, concepts in pairs:
        names = sorted(concepts)
        subsets = chain.from_iterable(combinations(names, k) for k in range(len(names) + 1))
        for clique in subsets:
            found.setdefault(clique, Counter())[class_name] += 1
    return found


@given(graphs())
def test_every_clique_has_equal_counts_in_all_groups(graph):
    groups, images = graph
    real = list(zip(images["class_name"], images["concepts"], strict=True))
    for made, beside in (("all", []), ("others", real)):
        queries = plan_counterfactuals(images, groups, made)
        shown = counts([*beside, *((one.class_name, one.concepts) for one in queries)])
        for of_clique in shown.values():
            assert {of_clique[group] for group in groups} == {max(of_clique.values())}
        assert len(queries) + len(beside) == len(images) * len(groups)
        assert {(one.edit.source_image, one.class_name) for one in queries} >= {
            (one, group)
            for one, own in zip(images["id"], images["class_name"], strict=True)
            for group in groups
            if made == "all" or group != own
        }
        assert all(one.n == 1 for one in queries)


@given(graphs(), st.randoms())
def test_the_order_is_that_of_ids_and_groups_not_of_rows(graph, random):
    groups, images = graph
    queries = plan_counterfactuals(images, groups)
    asked = [(one.edit.source_image, one.class_name) for one in queries]
    assert asked == [(one, group) for one in sorted(images["id"]) for group in groups]
    rows = list(range(len(images)))
    random.shuffle(rows)
    assert plan_counterfactuals(images.iloc[rows], groups) == queries


def test_each_group_has_its_own_captions():
    images = frame([("2", "man", ("tie", "dog")), ("1", "tree", [])]).assign(
        caption=[{"woman": "a woman", "man": "a man"}, {"woman": "she", "man": "he"}],
        captions=[{"woman": ["a woman", "x"], "man": ["a man", "x"]}, {}],
    )
    queries = plan_counterfactuals(images, ["man", "woman"])
    assert [(one.class_name, one.concepts, one.edit) for one in queries] == [
        ("man", (), Edit("1", "he")),
        ("woman", (), Edit("1", "she")),
        ("man", ("dog", "tie"), Edit("2", "a man", ("a man", "x"))),
        ("woman", ("dog", "tie"), Edit("2", "a woman", ("a woman", "x"))),
    ]


def test_a_control_set_shows_each_image_as_it_is():
    images = frame([("2", "man", ("tie",)), ("1", "dog", ())]).assign(
        caption="a man in a tie", captions=[("a man in a tie", "he"), ()]
    )
    queries = plan_counterfactuals(images, (), "own")
    assert [(one.class_name, one.edit) for one in queries] == [
        ("dog", Edit("1", "a man in a tie", own_group="dog")),
        ("man", Edit("2", "a man in a tie", ("a man in a tie", "he"), "man")),
    ]


def test_a_plan_of_the_other_groups_says_which_one_an_image_shows_itself():
    queries = plan_counterfactuals(frame([("1", "man", ())]), ["man", "woman", "dog"], "others")
    assert [(one.class_name, one.edit.own_group) for one in queries] == [
        ("woman", "man"),
        ("dog", "man"),
    ]


@pytest.mark.parametrize(
    ("groups", "made", "message"),
    [
        (["woman"], "all", "there is only 'woman'. Name two or more"),
        ([], "others", "there is none. Name two or more"),
        (["woman", "man", "woman"], "all", "named twice: woman, man, woman"),
        (["woman", ""], "all", "The group '' is empty"),
        (["woman", "m\x00n"], "all", "holds the control character"),
    ],
)
def test_what_cannot_be_asked_for(groups, made, message):
    with pytest.raises(OptionError, match=message):
        check_groups(groups, made)


@pytest.mark.parametrize(
    ("given_options", "error", "message"),
    [
        ({"made": "some"}, UnknownNameError, "unknown choice of what is made 'some'. Known: all"),
        ({"captions": "two"}, UnknownNameError, "way with captions 'two'"),
        ({}, OptionError, "names no list of words"),
        ({"captions": "none", "limit": 0}, OptionError, "limit is 0"),
        ({"captions": "none", "groups": ("a",)}, OptionError, "only 'a'"),
        ({"captions": "none", "cliques": ((),)}, OptionError, "clique without concepts"),
    ],
)
def test_options_that_cannot_be_used(given_options, error, message):
    with pytest.raises(error, match=message):
        CounterfactualOptions(**given_options)
