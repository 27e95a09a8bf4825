"""Partitions c1 to c10 against sets built image by image."""

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from cobalance.base.errors import DataError, UnknownNameError
from cobalance.evaluation.training.data.partitions import PARTITIONS, in_partition
from cobalance.evaluation.training.data.sets import training_set
from tests.evaluation.training.images import labelled, table

W, M = "woman", "man"
TABLE_2 = {  # (real or the group of the source, group shown)
    "c1": {("real", W)},
    "c2": {("real", M)},
    "c3": {("real", W), ("real", M)},
    "c4": {("real", W), (W, M)},
    "c5": {("real", M), (M, W)},
    "c6": {("real", W), (M, M)},
    "c7": {("real", M), (W, W)},
    "c8": {("real", W), ("real", M), (W, M), (M, W), (M, M), (W, W)},
    "c9": {(W, M), (M, W)},
    "c10": {(M, M), (W, W)},
}

REAL = st.lists(st.sampled_from([W, M, "dog"]), min_size=1, max_size=8)
MADE = st.lists(st.tuples(st.integers(0, 7), st.sampled_from([W, M])), max_size=12)


def rows_of(real, made):
    rows = [(f"r{at}", group, None) for at, group in enumerate(real)]
    kinds = {f"r{at}": ("real", group) for at, group in enumerate(real)}
    people = [at for at, group in enumerate(real) if group in (W, M)]
    for at, (number, shown) in enumerate(made):
        source = people[number % len(people)]
        rows.append((f"m{at}", shown, f"r{source}"))
        kinds[f"m{at}"] = (real[source], shown)
    return rows, kinds


@given(REAL, MADE, st.randoms())
def test_every_partition(real, made, random):
    rows, kinds = rows_of([*real, W, M], [*made, (len(real), W)])
    random.shuffle(rows)
    images = table(rows)
    for name, kept in TABLE_2.items():
        wanted = [image for image, *_ in rows if kinds[image] in kept]
        assert images[in_partition(images, name)]["image"].tolist() == wanted
    assert PARTITIONS.keys() == TABLE_2.keys()


@given(REAL, MADE)
def test_exports_tell_without_sources(real, made):
    """As an export's table has it, also where the edited images gave way."""
    rows, kinds = rows_of([*real, W, M], [*made, (len(real), W), (len(real), M)])
    images = table(rows)
    images["changed"] = [
        None if kinds[one][0] == "real" else kinds[one][0] != kinds[one][1]
        for one in images["image"]
    ]
    alone = images[images["synthetic"]]
    for name in ("c8", "c9", "c10"):
        wanted = [one for one in alone["image"] if kinds[one] in TABLE_2[name]]
        assert alone[in_partition(alone, name)]["image"].tolist() == wanted


def test_other_synthetic_images_and_names():
    images = table([("a", "Male", None), ("b", "female", None), ("c", "female", "a")])
    anew = table([("t", "female", None)], synthetic=True)
    both = pd.concat([images, anew], ignore_index=True)
    assert both[in_partition(both, "c8")]["image"].tolist() == ["a", "b", "c"]
    assert both[in_partition(both, "c5")]["image"].tolist() == ["a", "c"]
    pair = labelled([("a", W, None), ("b", M, "a"), ("c", M, None)])
    assert training_set(pair, "c4").frame["image"].tolist() == ["a", "b"]


def test_refusals():
    images = table([("a", W, None), ("b", M, "gone")])
    with pytest.raises(DataError, match="1 counterfactuals were made from, such as 'b'"):
        in_partition(images, "c4")
    assert images[in_partition(images, "c1")]["image"].tolist() == ["a"]
    with pytest.raises(UnknownNameError, match="c11"):
        in_partition(images, "c11")
    with pytest.raises(DataError, match="not clear which of cat, dog"):
        in_partition(table([("a", "cat", None), ("b", "dog", None)]), "c1")
