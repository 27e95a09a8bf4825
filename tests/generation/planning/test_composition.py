"""Composition of counterfactual datasets: complete groups, and which real images stay."""

from collections import Counter
from itertools import combinations

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import CobalanceError, DataError
from cobalance.base.records import Counterfactual
from cobalance.generation.planning.composition import ResultOptions, compose_dataset

GROUPS = ("man", "woman", "neither", "both")


def frame(classes):
    return pd.DataFrame({"id": [f"i{at}" for at in range(len(classes))], "class": classes})


def made_for(classes, groups, lost=(), made="all"):
    return [
        Counterfactual(
            f"i{at}", group, () if (at, group) in lost else (f"c{at}-{group}",), own_group=own
        )
        for at, own in enumerate(classes)
        for group in groups
        if made == "all" or group != own
    ]


def counts(composed, classes, concepts):
    """Images of each class that show each set of concepts, by enumeration."""
    found = Counter()
    shown = [(classes[int(i[1:])], concepts[int(i[1:])]) for i in composed.real]
    for candidate in composed.generated:
        at, group = candidate[1:].split("-")
        shown.append((group, concepts[int(at)]))
    for class_name, of_image in shown:
        for size in range(len(of_image) + 1):
            for clique in combinations(sorted(of_image), size):
                found[clique, class_name] += 1
    return found


@given(st.data(), st.sampled_from(["all", "none"]), st.sampled_from(["all", "others"]))
def test_every_clique_has_equal_counts_in_all_groups(data, real, made):
    groups = GROUPS[: data.draw(st.integers(2, 4))]
    classes = data.draw(st.lists(st.sampled_from(groups), min_size=1, max_size=8))
    concepts = [data.draw(st.sets(st.sampled_from("abcd"))) for _ in classes]
    every = [(at, group) for at in range(len(classes)) for group in groups]
    lost = data.draw(st.sets(st.sampled_from(every), max_size=4))
    if real == "none":
        made = "all"
    composed = compose_dataset(
        frame(classes), made_for(classes, groups, lost, made), ResultOptions(real)
    )
    found = counts(composed, classes, concepts)
    for clique in {clique for clique, _ in found}:
        assert len({found[clique, group] for group in groups}) == 1
    needed = [
        {g for at_, g in lost if at_ == at and not (real == "all" and g == own)}
        for at, own in enumerate(classes)
    ]
    n = sum(not one for one in needed)
    assert len(composed.real) + len(composed.generated) == n * len(groups)
    incomplete = composed.left_out.get("edited images without a counterfactual of each group", 0)
    assert incomplete == len(classes) - n


def test_images_that_were_not_edited_stay_unless_they_are_of_a_group():
    images = pd.DataFrame({"id": ["i0", "i1", "sofa"], "class": ["man", "woman", "furniture"]})
    asked = [Counterfactual("i0", g, (f"c-{g}",)) for g in ("man", "woman")]
    everything = compose_dataset(images, asked, ResultOptions("all"))
    assert (everything.real, everything.generated) == (("i0", "sofa"), ("c-woman",))
    assert everything.left_out == {"real images of the groups that were not edited": 1}
    pairs = compose_dataset(images, asked, ResultOptions("unedited"))
    assert (pairs.real, pairs.generated) == (("i1", "sofa"), ("c-man", "c-woman"))
    alone = compose_dataset(images, asked, ResultOptions("none"))
    assert (alone.real, alone.generated) == ((), ("c-man", "c-woman"))
    kept = compose_dataset(images, asked, ResultOptions("all", incomplete="keep"))
    assert kept.real == ("i0", "i1", "sofa")


def test_incomplete_groups_are_dropped_with_their_real_image_unless_they_are_kept():
    asked = made_for(["man", "man"], ("man", "woman"), lost={(0, "woman")})
    images = frame(["man", "man"])
    for real, stays, made in (
        ("all", ("i1",), ("c1-woman",)),
        ("unedited", (), ("c1-man", "c1-woman")),
        ("none", (), ("c1-man", "c1-woman")),
    ):
        composed = compose_dataset(images, asked, ResultOptions(real))
        assert (composed.real, composed.generated) == (stays, made)
        assert composed.sources == 1
    kept = compose_dataset(images, asked, ResultOptions("unedited", incomplete="keep"))
    assert (kept.real, kept.generated) == (("i0",), ("c0-man", "c1-man", "c1-woman"))
    assert (kept.left_out, kept.stay) == ({}, {"sets of images that lack a group": 1})


def test_images_without_a_mask_are_unedited():
    asked = [Counterfactual("i0", g, (), tried=False) for g in ("man", "woman")]
    images = frame(["man"])
    said = {"images that nothing was made of": 1}
    for options, stays in (
        (ResultOptions("unedited"), True),
        (ResultOptions("unedited", incomplete="keep"), True),
        (ResultOptions("all", incomplete="keep"), True),
        (ResultOptions("all"), False),
        (ResultOptions("none"), False),
        (ResultOptions("none", incomplete="keep"), False),
    ):
        composed = compose_dataset(images, asked, options)
        assert composed.real == (("i0",) if stays else ())
        assert composed.stay == (said if stays else {})
        assert composed.left_out == ({} if stays else said)


def test_a_share_gives_way_and_a_larger_one_has_the_smaller_one():
    classes = ["man", "woman"] * 200
    asked, images = made_for(classes, ("man", "woman")), frame(classes)
    gone = []
    for share in (0.0, 0.25, 0.5, 1.0):
        composed = compose_dataset(images, asked, ResultOptions("unedited", share))
        gone.append(set(images["id"]) - set(composed.real))
        assert len(composed.generated) == 2 * len(gone[-1])
        assert not composed.left_out
        n_stay = composed.stay.get("edited images beyond the share that gives way", 0)
        assert n_stay == len(composed.real)
    assert gone[0] == set()
    assert gone[0] <= gone[1] <= gone[2] <= gone[3] == set(images["id"])
    assert 160 < len(gone[2]) < 240


def test_edited_images_that_have_left_the_dataset_are_left_out():
    asked = made_for(["man", "woman"], ("man", "woman"))
    for real in ("all", "none", "unedited"):
        composed = compose_dataset(frame(["man"]), asked, ResultOptions(real))
        assert {one[:2] for one in composed.generated} == {"c0"}
        assert composed.left_out["edited images that the dataset no longer has"] == 1


def test_images_that_have_changed_their_class_are_left_out_where_their_group_was_not_made():
    asked = made_for(["man", "man", "woman"], ("man", "woman"), made="others")
    composed = compose_dataset(frame(["woman", "man", "woman"]), asked, ResultOptions("all"))
    assert composed.real == ("i1", "i2")
    assert composed.generated == ("c1-woman", "c2-man")
    composed = compose_dataset(frame(["dog", "man", "woman"]), asked, ResultOptions("all"))
    assert composed.real == ("i1", "i2")
    assert composed.generated == ("c1-woman", "c2-man")


@pytest.mark.parametrize("now", [["man", "dog", "dog"], ["woman", "man", "dog"]])
def test_groups_are_those_that_were_asked_for_whatever_classes_images_have_now(now):
    asked = made_for(["man", "man", "man"], ("man", "woman"), made="others")
    images = pd.concat([frame(now), pd.DataFrame({"id": ["other"], "class": ["dog"]})])
    composed = compose_dataset(images, asked, ResultOptions("all"))
    stays = f"i{now.index('man')}"
    assert composed.real == (stays, "other")
    assert composed.generated == (f"c{stays[1:]}-woman",)
    with pytest.raises(DataError, match="no image of the group 'man'"):
        compose_dataset(images, asked, ResultOptions("none"))
    every = compose_dataset(images, made_for(["man"] * 3, ("man", "woman")), ResultOptions("none"))
    assert len(every.generated) == 6
    own = [Counterfactual(f"i{at}", "man", (f"c{at}",), own_group="man") for at in range(3)]
    assert len(compose_dataset(images, own, ResultOptions("none")).generated) == 3


def test_the_group_of_all_edited_images_is_one_of_the_groups():
    asked = [Counterfactual("i0", "woman", ("c",), own_group="man")]
    images = frame(["man", "man", "woman", "dog"])
    composed = compose_dataset(images, asked, ResultOptions("all"))
    assert (composed.real, composed.generated) == (("i0", "i3"), ("c",))
    with pytest.raises(DataError, match="no image of the group 'man'"):
        compose_dataset(images, asked, ResultOptions("none"))


def test_a_group_with_more_accepted_images_than_another_has_no_more_of_them():
    asked = [Counterfactual("i0", "man", ("a", "b")), Counterfactual("i0", "woman", ("c",))]
    composed = compose_dataset(frame(["man"]), asked, ResultOptions("none"))
    assert composed.generated == ("a", "c")
    asked = [Counterfactual("i0", "woman", ("a", "b"), own_group="man")]
    images = frame(["man", "woman"])
    assert compose_dataset(images, asked, ResultOptions("all")).generated == ("a",)


def test_groups_that_are_no_classes_leave_the_real_images_as_they_are():
    asked = [Counterfactual("i0", g, (f"c-{g}",)) for g in ("dark skin", "light skin")]
    composed = compose_dataset(frame(["person"]), asked, ResultOptions("all"))
    assert (composed.real, composed.generated) == (("i0",), ("c-dark skin", "c-light skin"))


def test_without_the_real_images_every_group_must_have_been_made():
    asked = made_for(["man", "woman"], ("man", "woman"), made="others")
    with pytest.raises(DataError, match="no image of the group 'man' from images of that group"):
        compose_dataset(frame(["man", "woman"]), asked, ResultOptions("none"))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"real": "some"}, "unknown choice of real images 'some'"),
        ({"incomplete": "mend"}, "unknown choice for incomplete groups 'mend'"),
        ({"share": 1.5}, "share is 1.5"),
        ({"share": 0.5}, "with 'unedited' alone"),
    ],
)
def test_options_are_checked(values, said):
    with pytest.raises(CobalanceError, match=said):
        ResultOptions(**values)
