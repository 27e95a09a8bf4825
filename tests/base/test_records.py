"""Columns as plain values."""

from itertools import chain

import numpy as np
import pandas as pd

from cobalance.base.records import plain_values
from cobalance.graph.dataset.image_contents import ImageContents


def test_plain_values_of_every_kind_of_column():
    categories = pd.Series(pd.Categorical(["b", None, "a", "b"], categories=["c", "b", "a"]))
    assert plain_values(categories) == ["b", None, "a", "b"]
    assert plain_values(pd.Series(pd.array([1, None], dtype="Int64"))) == [1, None]
    assert plain_values(pd.Series([0.5, float("nan")])) == [0.5, None]
    assert plain_values(pd.Series(pd.array(["x", None], dtype="str"))) == ["x", None]


def test_names_are_one_object_for_all_their_mentions(random_annotations):
    """A string for each mention took a gigabyte for a million images."""
    annotations = random_annotations(200)
    columns = zip(*ImageContents.of(annotations).edges(np.arange(200)), strict=True)
    concepts, sources, _, _ = (list(chain.from_iterable(column)) for column in columns)
    for values in (concepts, sources):
        assert len(values) > 200
        assert len({id(value) for value in values}) == len(set(values))
