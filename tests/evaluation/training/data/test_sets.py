"""Training sets, held-out images, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import DataError, OptionError, UnknownNameError
from cobalance.evaluation import SETS
from cobalance.evaluation.training.data.partitions import PARTITIONS
from cobalance.evaluation.training.data.sets import (
    LeakError,
    check_apart,
    check_held_out,
    hold_out,
    thin_synthetic,
    training_set,
)
from tests.evaluation.training.images import labelled

REBALANCED = (
    ("a", "man", None),
    ("b", "woman", None),
    ("c", "man", None),
    ("a as man", "man", "a"),
    ("a as woman", "woman", "a"),
    ("made anew", "woman", "unknown elsewhere"),
)


def ids(images):
    return images.frame["image"].tolist()


def rng():
    return np.random.default_rng(0)


def test_training_sets_of_a_rebalanced_dataset():
    images = labelled(REBALANCED)
    others = [name for name in SETS if name not in PARTITIONS]
    assert {name: ids(training_set(images, name)) for name in others} == {
        "real": ["a", "b", "c"],
        "augmented": ids(images),
        "synthetic": ["a as man", "a as woman", "made anew"],
        "s_synthetic": ["a as man", "a as woman", "made anew"],
        "s_augment": ["a", "a as woman", "made anew"],
    }
    with pytest.raises(DataError, match="'zoo' has 1 images, and none for the training set 'syn"):
        training_set(labelled([("a", "cat", None)]), "synthetic")
    with pytest.raises(UnknownNameError, match="c9, real, s_augment"):
        training_set(images, "S_augment")


def test_synthetic_images_are_thinned_at_random():
    many = labelled([("r", "x", None), *((f"m{n}", "x", "r") for n in range(9))])
    some = thin_synthetic(many, 4, rng())
    assert len(some) == 5
    assert "r" in ids(some)
    assert set(ids(some)) <= set(ids(many))
    assert ids(some) != ids(thin_synthetic(many, 4, np.random.default_rng(1)))
    assert ids(thin_synthetic(many, None, rng())) == ids(many)


def test_synthetic_test_images_are_refused_with_their_ids():
    test = labelled([("t", "x", None), *((f"s{n}", "x", "t") for n in range(7))])
    with pytest.raises(
        LeakError, match=r"7 of the test .* s0, s1, s2, s3, s4 and 2 more\. Test on"
    ):
        check_apart(labelled([("a", "x", None)]), test)


def test_training_images_that_derive_from_test_images_are_refused():
    training = labelled([("a", "x", None), ("s", "x", "a"), ("of t", "x", "t"), ("2", "x", "of t")])
    check_apart(training, labelled([("u", "x", None)]))
    with pytest.raises(
        LeakError, match=r"2 of .* made from test images: of t from t, 2 from of t\."
    ):
        check_apart(training, labelled([("t", "x", None)]))
    with pytest.raises(LeakError, match="1 of the training images are test images, too: a"):
        check_apart(training, labelled([("a", "x", None)]))
    # Another dataset's image of the same number is another image, if it is elsewhere.
    check_apart(training, labelled([("a", "x", None)], uri=["elsewhere.png"]))
    with pytest.raises(LeakError, match="too: a"):
        check_apart(training, labelled([("a", "x", None)], uri=[None]))


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.booleans()), min_size=4, max_size=40),
    st.floats(0.05, 0.95),
    st.integers(0, 9),
)
def test_nothing_held_out_is_trained_on(kinds, share, seed):
    rows = [(f"r{at}", name, None) for at, (name, _) in enumerate(kinds)]
    rows += [(f"s{at}", name, f"r{at}") for at, (name, made) in enumerate(kinds) if made]
    rows += [("s of s0", "x", "s0")]
    images = labelled(rows)
    try:
        training, validation, left_out = hold_out(images, share, np.random.default_rng(seed))
    except OptionError:
        assert all(sum(name == one for one, _ in kinds) * share <= 1 for name in "xyz")
        return
    held = set(ids(validation))
    assert held
    assert not validation.frame["synthetic"].any()
    assert not held & set(training.roots())
    assert len(training) + len(validation) + left_out == len(images)
    for name in {name for name, _ in kinds}:
        left = (training.frame["class_name"] == name) & ~training.frame["synthetic"]
        assert left.any()
    check_held_out(training, validation)


def test_each_group_gives_its_share_and_a_group_of_one_stays():
    rows = [(str(at), "x" if at < 50 else "y", None) for at in range(100)]
    images = labelled(rows)
    background = ["common"] * 49 + ["uncommon"] + ["common"] * 40 + ["uncommon"] * 10
    groups = pd.DataFrame({"image": ids(images), "background": background})
    _, validation, _ = hold_out(images, 0.2, rng(), groups)
    held = groups.set_index("image").loc[ids(validation), "background"]
    by_group = pd.crosstab(validation.frame["class_name"].to_numpy(), held.to_numpy())
    assert by_group.to_dict() == {"common": {"x": 10, "y": 8}, "uncommon": {"x": 0, "y": 2}}


def test_of_counterfactuals_alone_whole_sources_are_held_out():
    images = labelled([(f"{n} as {g}", g, f"{n}") for n in range(20) for g in ("man", "woman")])
    training, validation, left_out = hold_out(images, 0.25, rng())
    assert not {*validation.roots()} & {*training.roots()}
    assert (len(validation), left_out) == (10, 0)


def test_shares_that_hold_out_nothing():
    images = labelled([("a", "x", None), ("b", "y", None)])
    with pytest.raises(OptionError, match=r"A validation share of 0\.2 of 2 images holds out none"):
        hold_out(images, 0.2, rng())
    with pytest.raises(LeakError, match="such as 'a'"):
        check_held_out(images, labelled([("a", "x", None)]))


def test_an_image_without_an_address_is_no_other():
    rows = [("a", "x", None), ("b", "y", None)]
    training = labelled(rows, uri=["1", None])
    check_held_out(training, labelled(rows, uri=["3", "2"]))
    check_held_out(training, labelled(rows, uri=[None, None]))
    with pytest.raises(LeakError, match="1 of the validation images are training images"):
        check_held_out(training, labelled(rows, uri=["1", "2"]))
