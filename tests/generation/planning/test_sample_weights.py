"""The weights against their definition."""

from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from cobalance.generation.planning.resampling import balancing_weights

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
