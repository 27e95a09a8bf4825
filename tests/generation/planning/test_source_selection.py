"""Which images are edited, and why others are not."""

import random
from dataclasses import replace

import pandas as pd
import pytest

from cobalance.base.errors import DataError, OptionError, UnknownNameError
from cobalance.generation.planning.counterfactuals import (
    CounterfactualOptions,
    plan_counterfactuals,
)
from cobalance.generation.planning.source_selection import select_sources
from cobalance.ingest.captions.text_changes import MANY_GROUPS
from cobalance.ingest.concepts.word_lists import load_group_words

WORDS = load_group_words("coco-gb")
SEXES = ("woman", "man")
AGED = WORDS.times("age", {"old": "elderly", "young": "young"}, people=("man", "woman"))


def image(name, class_name="man", split="train", concepts=("tie",), *, synthetic=False):
    return name, class_name, split, synthetic, concepts


def images_of(*rows):
    return pd.DataFrame(rows, columns=["id", "class_name", "split", "synthetic", "concepts"])


def texts_of(captions, licence=None):
    rows = [(one, said, licence, None) for one, said in captions.items()]
    return pd.DataFrame(rows, columns=["id", "captions", "license", "license_url"])


def options(**given):
    return CounterfactualOptions(**{"words": ("coco-gb",), **given})


def select(images, said, groups=SEXES, words=WORDS, **given):
    return select_sources(images, texts_of(said), groups, options(**given), words)


def test_the_first_caption_that_names_one_group_is_the_prompts():
    images = images_of(image("1"), image("2", "woman"))
    captions = {
        "1": ["Snow on a hill.", "The man brushes his teeth", "A man"],
        "2": ["A woman and her dog", "Grass"],
    }
    found = select(images, captions)
    assert found.left_out == {}
    queries = plan_counterfactuals(found.sources, SEXES)
    asked = {(one.edit.source_image, one.class_name): one.edit for one in queries}
    assert asked["1", "woman"].caption == "The woman brushes her teeth"
    assert asked["1", "woman"].captions == (
        "Snow on a hill.",
        "The woman brushes her teeth",
        "A woman",
    )
    assert asked["1", "man"].captions == tuple(captions["1"])
    assert asked["2", "man"].caption == "A man and his dog"
    told = {"1": ["A man", "Two policewomen", "Snow"], "2": ["A woman"]}
    assert select(images, told).left_out == {f"images with {MANY_GROUPS}": 1}
    told["1"] = ["A man", "A man beside Lady Gaga", "Snow"]
    assert select(images, told).sources["captions"][0]["man"] == ("A man", "Snow")
    dropped = select(images, captions, unnamed="drop").sources["captions"][0]
    assert dropped["woman"] == ("The woman brushes her teeth", "A woman")


def test_each_image_that_is_left_out_is_counted_by_its_first_reason():
    images = images_of(
        image("made", synthetic=True),
        image("test", split="test"),
        image("no split", split=None),
        image("no tie", concepts=()),
        image("dog", "dog"),
        image("no derivs"),
        image("silent"),
        image("unknown"),
        image("boy"),
        image("both"),
        image("pair"),
        image("neither"),
        image("she"),
        image("used"),
    )
    captions = {
        "silent": [],
        "boy": ["A man", "a boy and a kite"],
        "both": ["A man and a woman"],
        "pair": ["A man", "A woman"],
        "neither": ["A bench", "Snow"],
        "she": ["A woman on a bench"],
        "used": ["A man on a bench"],
    } | {key: ["A man"] for key in ("made", "test", "no split", "no tie", "dog")}
    texts = pd.concat([texts_of(captions), texts_of({"no derivs": ["A man"]}, "NoDerivs License")])
    # The dataset has both classes; each group is one.
    images = pd.concat([images, images_of(image("w", "woman"))])
    texts = pd.concat([texts, texts_of({"w": ["A woman"]})])
    found = select_sources(images, texts, SEXES, options(concepts=("tie",)), WORDS)
    assert found.sources["id"].tolist() == ["used", "w"]
    assert dict(found.left_out) == {
        "images that were generated": 1,
        "images of other splits": 2,
        "images without the concepts asked for": 1,
        "images of classes that are no group": 1,
        "images whose licence allows no derivatives": 1,
        "images without captions": 2,
        "images whose captions name children": 1,
        "images with captions that name more than one group": 2,
        "images with captions that name no group": 1,
        "images whose captions name another group than their class": 1,
    }
    assert sum(found.left_out.values()) + len(found.sources) == len(images)
    kept = select_sources(
        images, texts, SEXES, options(children="keep", no_derivatives="keep"), WORDS
    )
    assert {"boy", "no derivs", "no tie"} < set(kept.sources["id"])


def test_a_limit_takes_the_same_images_in_whatever_order_they_come():
    names = [f"{i:03}" for i in range(60)]
    captions = {key: ["A man"] for key in names}
    rows = [image(name) for name in names]
    seven = select(images_of(*rows, image("w", "woman", split="x")), captions, limit=7)
    assert len(seven.sources) == 7
    assert seven.left_out == {"images beyond the limit": 53, "images of other splits": 1}
    assert seven.sources["id"].tolist() != names[:7]
    random.Random(3).shuffle(rows)
    eight = select(images_of(*rows, image("w", "woman", split="x")), captions, limit=8)
    assert set(seven.sources["id"]) < set(eight.sources["id"])
    assert eight.sources["id"].is_monotonic_increasing


def test_cliques_choose_images_with_all_concepts_of_one_of_them():
    images = images_of(
        image("1", concepts=("a", "b", "c")),
        image("2", concepts=("a", "c")),
        image("3", concepts=("b",)),
        image("4", concepts=("a", "d")),
        image("w", "woman", concepts=()),
    )
    captions = {key: ["A man"] for key in "1234w"}
    chosen = select(images, captions, cliques=(("a", "b"), ("d",)))
    assert chosen.sources["id"].tolist() == ["1", "4"]
    assert select(images, captions, concepts=("a", "c")).sources["id"].tolist() == ["1", "2"]
    with pytest.raises(UnknownNameError, match="unknown concept 'z'"):
        select(images, captions, cliques=(("a", "z"),))


def test_groups_that_are_no_classes_take_images_of_any_class():
    groups = ("young woman", "old woman", "old man")
    images = images_of(image("1", "surf"), image("2", "ski"), image("3", "ski"))
    captions = {"1": ["A man surfs"], "2": ["Snow", "A woman"], "3": ["A man", "A woman"]}
    found = select(images, captions, groups, AGED)
    assert found.sources["id"].tolist() == ["1", "2"]
    assert found.left_out == {"images with captions that name more than one group": 1}
    texts = found.sources["caption"][0]
    assert texts == {
        "young woman": "A young woman surfs",
        "old woman": "An elderly woman surfs",
        "old man": "An elderly man surfs",
    }
    with pytest.raises(OptionError, match=r"'young woman' is no class .*plan\.made='a"):
        select(images, captions, groups, AGED, made="others")
    with pytest.raises(UnknownNameError, match="unknown group 'old dog'"):
        select(images, captions, ("old dog", "old man"), AGED)


def test_unified_captions_name_one_group_and_none_is_needed():
    words = load_group_words("pinpoint")
    images = images_of(image("1"), image("2", "woman"))
    captions = {"1": ["A man and a woman", "Snow"]}
    found = select(images, captions, words=words, captions="unify")
    assert found.left_out == {}
    queries = plan_counterfactuals(found.sources, SEXES)
    assert [one.edit.captions for one in queries] == [
        ("A woman and a woman", "Snow"),
        ("A man and a man", "Snow"),
        (),
        (),
    ]


def test_without_captions_only_classes_and_licences_count():
    images = images_of(image("1", "cat"), image("2", "dog"), image("3", "cow"))
    given = options(captions="none", words=())
    found = select_sources(images, texts_of({"1": [], "2": []}), ("dog", "cat"), given)
    assert found.sources["id"].tolist() == ["1", "2"]
    assert list(found.sources) == ["id", "class_name", "concepts"]
    assert found.left_out == {"images of classes that are no group": 1}


def test_a_control_set_keeps_captions_and_takes_test_images():
    images = images_of(image("1", split="train"), image("2", "dog", split="test"))
    captions = {"1": ["A man"], "2": ["Snow", "A man and his dog"]}
    found = select(images, captions, (), made="own", split="test")
    (query,) = plan_counterfactuals(found.sources, (), "own")
    assert (query.class_name, query.edit.caption) == ("dog", "A man and his dog")
    assert query.edit.captions == tuple(captions["2"])


def test_captions_are_needed_where_they_are_edited():
    images = images_of(image("1"), image("2", "woman"))
    with pytest.raises(DataError, match=r"none of them has any. Run `ingest\(..., captions="):
        select(images, {"1": []})


@pytest.mark.parametrize("licence", ["CC BY-ND 4.0", "No Derivatives", "CC-BY-NC-ND-2.0"])
def test_licences_that_forbid_changed_images(licence):
    images = images_of(image("1"), image("2", "woman"))
    texts = texts_of({"1": ["A man"], "2": ["A woman"]}, licence)
    found = select_sources(images, texts, SEXES, options(), WORDS)
    assert found.sources.empty
    assert plan_counterfactuals(found.sources, SEXES) == ()
    assert found.left_out == {"images whose licence allows no derivatives": 2}


@pytest.mark.parametrize(
    ("splits", "given", "chosen"),
    [
        (("train", "test"), {}, "train"),
        (("train2017", "val2017", None), {}, "train2017"),
        ((None,), {}, None),
        (("fold 1", "test"), {"split": "fold 1"}, "fold 1"),
        (("train", "val2014"), {"made": "own", "split": "test"}, "val2014"),
        (("test", "val"), {"made": "own", "split": "test"}, "test"),
        ((None,), {"made": "own", "split": "test"}, None),
    ],
)
def test_the_split_that_is_edited(splits, given, chosen):
    rows = [image(str(at), split=split) for at, split in enumerate(splits)]
    captions = {str(at): ["A man"] for at in range(len(splits))}
    found = select(images_of(*rows), captions, SEXES, **given)
    assert [splits[int(name)] for name in found.sources["id"]] == [chosen]


@pytest.mark.parametrize(
    ("splits", "given", "message"),
    [
        (("train", "test"), {"split": "test"}, "'test' is for tests.*with plan.split='train' .the"),
        (("train", "val2017"), {"split": "val2017"}, "make a control set of test images, with"),
        (("test",), {}, "unknown split 'train'. Known: test."),
        (
            ("train 1", "train 2"),
            {},
            "unknown split 'train'.* Known: train 1, train 2.",
        ),
        (("train",), {"made": "own", "split": "train"}, "'train' is not one to test on"),
        (("train",), {"made": "own", "split": "test"}, "unknown split 'test'. Known: train."),
    ],
)
def test_splits_that_are_refused(splits, given, message):
    rows = [image(str(at), split=split) for at, split in enumerate(splits)]
    with pytest.raises(OptionError, match=message):
        select(images_of(*rows), {"0": ["A man"]}, SEXES, **given)


@pytest.mark.parametrize(
    "licence", ["CC_BY_NC_ND", "CC BY-ND2.0", "Attribution\u2011NoDerivs", "no_derivatives"]
)
def test_licences_without_derivatives_are_known_however_they_are_written(licence):
    images = images_of(image("1"), image("2"))
    found = select_sources(
        images,
        pd.concat([texts_of({"1": ["A man"]}, licence), texts_of({"2": ["A man"]}, "CC BY-SA")]),
        SEXES,
        options(),
        WORDS,
    )
    assert found.sources["id"].tolist() == ["2"]


@pytest.mark.parametrize("split", ["minival", "COCO_val2014", "testA", "public-test"])
def test_splits_for_tests_are_known_by_any_part_of_their_name(split):
    with pytest.raises(OptionError, match="is for tests"):
        select(images_of(image("1", split=split)), {"1": ["A man"]}, split=split)


def test_a_split_to_train_on_may_name_another_one():
    images = images_of(image("1", split="train-val"))
    assert select(images, {"1": ["A man"]}, split="train-val").sources["id"].tolist() == ["1"]


def test_children_are_looked_for_in_captions_that_nothing_else_is_done_with():
    images = images_of(*map(image, ("boy", "aged", "man", "silent")))
    texts = texts_of({"boy": ["a boy"], "aged": ["x", "a 9-year-old"], "man": ["a man"]})
    without = CounterfactualOptions(captions="none")
    found = select_sources(images, texts, ("x", "y"), without)
    assert found.sources["id"].tolist() == ["man", "silent"]
    assert found.left_out == {"images whose captions name children": 2}
    kept = select_sources(images, texts, ("x", "y"), replace(without, children="keep"))
    assert len(kept.sources) == 4
