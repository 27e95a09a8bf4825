"""The weights kernel by hand and against its definition, and what the exporter refuses."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.export import ExportOptions, export
from generation.planning.sample_weights import balancing_weights
from graph.errors import OptionError, UnknownNameError

IMAGES = st.lists(st.tuples(st.sampled_from("gh"), st.sampled_from("abc")), max_size=30)


@given(IMAGES)
def test_weights_are_as_defined(images):
    groups, classes = [group for group, _ in images], [name for _, name in images]
    found = balancing_weights(groups, classes)
    cells, whole = Counter(images), Counter(groups)
    kinds = Counter(group for group, _ in cells)
    expected = [whole[g] / (kinds[g] * cells[g, c]) for g, c in images]
    assert np.allclose(found["weight"], expected)
    assert found["group_images"].tolist() == [whole[group] for group in groups]
    assert found["class_images"].tolist() == [cells[image] for image in images]
    assert found["group_classes"].tolist() == [kinds[group] for group in groups]


@given(IMAGES, st.randoms())
def test_order_changes_nothing(images, random):
    shuffled = random.sample(images, len(images))
    first, second = (
        sorted(zip(order, balancing_weights(*zip(*order, strict=True))["weight"], strict=True))
        for order in (images or [("g", "a")], shuffled or [("g", "a")])
    )
    assert first == second


def test_weights_need_real_images(sample, tmp_path):
    with pytest.raises(OptionError, match="Weights are of real images"):
        export(sample.alone(), "weights", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_unknown_group_concept_is_refused(sample, tmp_path):
    options = ExportOptions(format_options={"group_concepts": ("woods",)})
    with pytest.raises(UnknownNameError, match="unknown concept 'woods'"):
        export(sample.dataset, "weights", tmp_path / "out", options)


@pytest.mark.parametrize(("splits", "expected"), [("given", 7), ("none", 10), ("some", 5)])
def test_the_snippet_of_the_card_gives_the_training_images(
    sample, tmp_path, monkeypatch, splits, expected
):
    real = sample.dataset.real
    if splits == "none":
        real = real.assign(split=None)
    elif splits == "some":  # then an image without one is in no split, as in other formats
        real = real.assign(split=["train", None] * 5)
    export(replace(sample.dataset, real=real), "weights", tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text()
    (snippet,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    monkeypatch.chdir(tmp_path / "out")
    found = {}
    exec(snippet, found)
    assert len(found["table"]) == found["sampler"].num_samples == expected
    assert len(list(found["sampler"])) == expected
