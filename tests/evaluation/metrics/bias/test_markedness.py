"""Self-similarity and person preference against sums over all pairs."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.base.errors import DataError, OptionError, UnknownNameError
from cobalance.evaluation.metrics.bias.markedness import (
    person_preference,
    prompt_similarities,
    self_similarity,
)
from tests.evaluation.metrics.bias.scored import value

SEEDS = st.integers(0, 2**32 - 1)


def test_two_of_three_are_alike() -> None:
    assert value(self_similarity([(1, 0), (0, 1), (1, 0)]), "self_similarity") == pytest.approx(
        1 / 3
    )


@settings(max_examples=40)
@given(SEEDS, st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=9))
def test_every_pair_of_different_images_counts_once(seed: int, groups: list[str | None]) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(groups), 3)) * 5
    units = [vector / math.dist(vector, (0, 0, 0)) for vector in vectors]
    plain, sampled = (self_similarity(vectors, groups, sampled=one) for one in (False, True))
    assert plain["group"].tolist() == sorted({name for name in groups if name})
    for name in plain["group"]:
        own = [unit for unit, group in zip(units, groups, strict=True) if group == name]
        pairs = [float(a @ b) for a, b in combinations(own, 2)]
        found = value(plain, "self_similarity", name)
        assert math.isnan(found) if not pairs else found == pytest.approx(np.mean(pairs), abs=1e-9)
        everything = np.mean([float(a @ b) for a in own for b in own])
        assert value(sampled, "self_similarity", name) == pytest.approx(everything, abs=1e-9)
        assert value(plain, "self_similarity", name, "n") == len(own)


def test_sampling_with_replacement_is_what_the_published_code_expects() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(5, 2))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    means = []
    for _ in range(4000):
        drawn = units[rng.integers(5, size=22)]
        means.append(((drawn @ drawn.T).sum() - 22) / (22 * 21))
    expected = value(self_similarity(vectors, sampled=True), "self_similarity")
    assert np.mean(means) == pytest.approx(expected, abs=5 * np.std(means) / 4000**0.5)


@settings(max_examples=40)
@given(SEEDS, st.lists(st.sampled_from(["man", "woman", None]), min_size=1, max_size=12))
def test_person_against_own_and_against_all(seed: int, groups: list[str | None]) -> None:
    names = ["man", "person", "woman"]
    cosines = np.random.default_rng(seed).integers(0, 4, size=(len(groups), 3)) / 4
    frame = pd.DataFrame(cosines, columns=names)
    own, against_all = (person_preference(frame, groups, against=one) for one in ("own", "all"))
    for group in ("man", "woman"):
        rows = [
            dict(zip(names, c, strict=True))
            for c, g in zip(cosines, groups, strict=True)
            if g == group
        ]
        for scores, won in (
            (own, [row["person"] > row[group] for row in rows]),
            (against_all, [row["person"] == max(row.values()) for row in rows]),
        ):
            found = value(scores, "person_preference", group)
            assert math.isnan(found) if not rows else found == pytest.approx(np.mean(won))
            assert value(scores, "person_preference", group, "n") == len(rows)


def test_the_interval_is_wilsons() -> None:
    frame = pd.DataFrame({"person": [1.0] * 40 + [0.0] * 60, "man": [0.5] * 100})
    scores = person_preference(frame, ["man"] * 100)
    assert round(value(scores, "person_preference", "man", "low"), 4) == 0.3094
    assert round(value(scores, "person_preference", "man", "high"), 4) == 0.4980


def test_similarities_come_from_embeddings() -> None:
    found = prompt_similarities([(3, 4)], {"person": (1, 0), "man": (0, 2)})
    assert found.to_numpy().tolist() == [pytest.approx([0.6, 0.8])]


def test_what_cannot_be_used_says_why() -> None:
    frame = pd.DataFrame({"person": [1.0], "man": [0.5]})
    with pytest.raises(DataError, match="no column for the group 'woman'"):
        person_preference(frame, ["woman"])
    with pytest.raises(OptionError, match="no column 'person'"):
        person_preference(frame[["man"]], ["man"])
    with pytest.raises(UnknownNameError, match="unknown against 'other'"):
        person_preference(frame, ["man"], against="other")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="row 1, column man is NaN"):
        person_preference(frame.assign(man=math.nan), ["man"])
    with pytest.raises(DataError, match=r"embeddings\[1\] is zero"):
        self_similarity([(1, 0), (0, 0)])
    with pytest.raises(DataError, match="1 groups are given for 2"):
        self_similarity([(1, 0), (0, 1)], ["a"])
    with pytest.raises(DataError, match="2 dimensions and prompts 1"):
        prompt_similarities([(1, 0)], {"person": (1,)})
