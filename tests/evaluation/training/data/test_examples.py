"""Codes of classes, groups and domains, and pixels."""

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import DataError, OptionError
from cobalance.evaluation.shortcuts import STATES
from cobalance.evaluation.training.data.examples import code_examples
from tests.evaluation.training.images import labelled

TRAINING = labelled([("a", "three", None), ("bb", "eight", None), ("ccc", "three", "a")])
TEST = labelled([("tttt", "three", None), ("u", "three", None)], "held")
GROUPS = pd.DataFrame(
    {
        "image": ["a", "bb", "ccc", "tttt"],
        "background": pd.Categorical(["common", "uncommon", "uncommon", "none"], STATES),
    }
)


def test_codes_are_common_to_all_parts():
    coded = code_examples({"training": TRAINING, "test": TEST}, GROUPS)
    training, test = coded["training"], coded["test"]
    assert training.classes == test.classes == ("eight", "three")
    assert training.labels.tolist() == [1, 0, 1]
    assert test.labels.tolist() == [1, 1]
    named = [training.group_names[code] for code in training.groups]
    assert named == [
        "three, background common",
        "eight, background uncommon",
        "three, background uncommon",
    ]
    assert [training.domain_names[code] for code in training.domains] == [
        "background of three",
        "background of three",
        "background of eight",
    ]
    assert [test.group_names[code] if code >= 0 else None for code in test.groups] == [
        "three, background none",
        None,
    ]
    with pytest.raises(DataError, match="DomInd needs the domain of each image, and that of 1 of"):
        test.require_domains("DomInd")


def test_without_shortcuts_all_groups_are_unknown():
    coded = code_examples({"training": TRAINING})
    assert coded["training"].groups.tolist() == [-1] * 3


def test_pixels_are_those_of_the_rows():
    taken = code_examples({"training": TRAINING})["training"].take(np.array([2, 0, 2]))
    again = taken.take(np.array([1, 0]))
    assert [image[0, 0, 0] for image in again.read(np.array([1, 0]))] == [
        len("ccc.png"),
        len("a.png"),
    ]
    assert again.ids == ["a", "ccc"]
    assert again.whole is taken.whole
    assert again.rows is not None
    assert again.rows.tolist() == [0, 2]


def test_concepts_as_labels():
    shown = [["tie", "cup"], [], ["cup"]]
    images = labelled(
        [("a", "man", None), ("b", "woman", None), ("c", "man", None)], concepts=shown
    )
    test = labelled([("t", "woman", None)], concepts=[["cup", "never seen"]])
    coded = code_examples({"training": images, "test": test}, labels="concepts")
    assert coded["training"].classes == ("cup", "tie")
    assert coded["training"].labels.tolist() == [[1, 1], [0, 0], [1, 0]]
    assert coded["test"].labels.tolist() == [[1, 0]]
    assert coded["training"].groups.tolist() == [0, 1, 0]
    assert coded["test"].groups.tolist() == [1]
    fewer = code_examples({"training": images}, labels="concepts", classes=["tie"])
    assert fewer["training"].labels.tolist() == [[1], [0], [0]]


def test_a_class_that_is_not_trained_on_is_refused_and_one_absent_in_test_is_not():
    test = labelled([("t", "nine", None)], "held")
    with pytest.raises(DataError, match=r"'held' has 1 images of the class 'nine', .*eight, three"):
        code_examples({"training": TRAINING, "test": test})
    assert code_examples({"training": TRAINING, "test": TEST})["test"].labels.tolist() == [1, 1]


def test_bad_tables_are_refused():
    with pytest.raises(DataError, match="have the id 'a'"):
        labelled([("a", "x", None), ("a", "x", None)])
    with pytest.raises(OptionError, match=r"no images of the split 'val'. Its splits: train"):
        labelled([("a", "x", None)], split=["train"]).of_split("val")
