from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from cobalance.annotation.auditing.sample import assign_people, draw_labels
from cobalance.base.errors import OptionError


@settings(max_examples=40)
@given(st.integers(0, 40), st.integers(0, 3), st.integers(0, 4), st.integers(0, 9))
def test_each_stratum_gives_n_images_or_all_and_never_one_twice(images, concepts, n, seed):
    rng = np.random.default_rng(seed)
    classes, labelled = rng.integers(0, 3, images), rng.random((images, concepts)) < 0.4
    drawn = draw_labels(classes, labelled, n, np.random.default_rng(seed))
    rows = list(zip(drawn["image"], drawn["concept"], drawn["labelled"], strict=True))
    assert len(set(rows)) == len(rows)
    found = Counter((classes[image], concept, said) for image, concept, said in rows)
    there = Counter((classes[i], k, labelled[i, k]) for i in range(images) for k in range(concepts))
    assert found == Counter({key: min(n, total) for key, total in there.items() if n})
    assert all(labelled[image, concept] == said for image, concept, said in rows)
    again = draw_labels(classes, labelled, n, np.random.default_rng(seed))
    assert again.equals(drawn)


def test_labels_are_shared_out_by_concept_in_random_order():
    concepts = np.repeat([0, 1], 20)
    drawn = assign_people(concepts, people=3, overlap=2, rng=np.random.default_rng(0))
    assert Counter(drawn["label"]) == Counter(dict.fromkeys(range(40), 2))
    assert not drawn.duplicated().any()
    for _, own in drawn.groupby("person"):
        labels = own["label"].to_numpy()
        assert (np.diff(concepts[labels]) >= 0).all()
        assert 26 <= len(labels) <= 27
        assert (np.diff(labels[concepts[labels] == 0]) < 0).any()
    with pytest.raises(OptionError, match="4 of 3 people"):
        assign_people(concepts, people=3, overlap=4, rng=np.random.default_rng(0))
