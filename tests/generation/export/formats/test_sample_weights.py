"""Exports of sample weights: what is in them, and what they refuse."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.generation.export import ExportOptions, export


def test_weights_balance_classes_within_groups(sample, tmp_path):
    report = export(sample.dataset, "weights", tmp_path / "out")
    assert sample.stores.reads == 0
    assert not (tmp_path / "out" / "manifest.parquet").exists()
    table = pd.read_parquet(tmp_path / "out" / "weights.parquet")
    real = sample.dataset.real.set_index("id")
    assert set(table["image_id"]) == set(real.index)
    for row in table.itertuples():
        alike = real["concepts"].map(list(row.group).__eq__)
        same = real[alike & (real["split"] == row.split)]
        n_class = int((same["class"] == row.label).sum())
        assert list(row.group) == real["concepts"][row.image_id]
        assert (row.group_images, row.class_images) == (len(same), n_class)
        assert row.weight == pytest.approx(len(same) / (same["class"].nunique() * n_class))
    assert report.counts["images in groups of one class"] == int(
        (table["group_classes"] == 1).sum()
    )


def test_weights_of_chosen_concepts(sample, tmp_path):
    options = ExportOptions(format_options={"group_concepts": ("wood",)})
    export(sample.dataset, "weights", tmp_path / "out", options)
    table = pd.read_parquet(tmp_path / "out" / "weights.parquet")
    assert {tuple(group) for group in table["group"]} == {(), ("wood",)}
    for _, group in table.groupby([table["split"], table["group"].map(tuple)]):
        weights = group.groupby("label")["weight"].sum()
        assert np.allclose(weights, weights.iloc[0])
        assert group["weight"].sum() == pytest.approx(len(group))


def test_weights_need_real_images(sample, tmp_path):
    with pytest.raises(OptionError, match="Sample weights need real images"):
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
