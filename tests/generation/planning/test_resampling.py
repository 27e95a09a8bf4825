"""Baselines without generation, against recounts of the images that they leave."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.generation.planning.resampling import (
    BASELINES,
    group_images,
    image_list,
    image_multiples,
    resample_counts,
    simulate_baseline,
)

IMAGES = st.lists(
    st.tuples(st.sampled_from("xyz"), st.frozensets(st.sampled_from("abcd"), max_size=3)),
    min_size=1,
    max_size=25,
)


def incidence_of(images):
    entries = [(at, "abcd".index(name)) for at, (_, held) in enumerate(images) for name in held]
    rows, codes = zip(*entries, strict=True) if entries else ((), ())
    labels = ["xyz".index(name) for name, _ in images]
    return build_incidence(rows, codes, labels, tuple("abcd"), tuple("xyz"))


@pytest.mark.parametrize("baseline", list(BASELINES))
@given(images=IMAGES, span=st.integers(1, 3), seed=st.integers(0, 3))
def test_the_simulation_is_a_recount_of_the_resampled_images(baseline, images, span, seed):
    incidence = incidence_of(images)
    cliques = mine_cliques(incidence, max_size=span, common=())
    groups = group_images(cliques, incidence)
    after = simulate_baseline(cliques, groups, baseline)
    order = np.arange(len(images))
    counts = resample_counts(groups, baseline)
    times = image_multiples(groups, counts, np.random.default_rng(seed), order, baseline)
    expected = Counter()
    for (name, held), often in zip(images, times.tolist(), strict=True):
        for clique in cliques.names():
            expected[clique, name] += often if held.issuperset(clique) else 0
    found = [[expected[clique, name] for name in "xyz"] for clique in cliques.names()]
    assert np.allclose(after.counts, np.array(found).reshape(after.counts.shape))
    sizes = [sum(times[at] for at, (label, _) in enumerate(images) if label == c) for c in "xyz"]
    assert np.allclose(after.class_sizes, sizes)
    if baseline == "over-sampling":
        assert times.min() >= 1
    if baseline in ("sub-sampling", "pruning"):
        assert set(times.tolist()) <= {0.0, 1.0}
    if baseline == "pruning":
        assert len(images) - times.sum() <= 0.1 * len(images) + 0.5
        return
    groups_of = Counter((held, name) for name, held in images)
    for (held, name), n in groups_of.items():
        there = [at for at, image in enumerate(images) if image == (name, held)]
        others = [m for (h, _), m in groups_of.items() if h == held]
        level = {
            "over-sampling": max(others),
            "sub-sampling": min(others),
            "weights": sum(others) / len(others),
        }[baseline]
        assert times[there].sum() == pytest.approx(level), n


def test_groups_are_of_the_concepts_of_the_cliques():
    incidence = incidence_of(
        [("x", frozenset("ab")), ("y", frozenset("ac")), ("y", frozenset("a"))]
    )
    cliques = mine_cliques(incidence, max_size=1, common=())
    groups = group_images(cliques.take(np.array([0])), incidence)
    assert groups.members.tolist() == [[0]]
    assert groups.images.tolist() == [[1, 2, 0]]


@pytest.mark.parametrize("baseline", list(BASELINES))
@given(images=IMAGES, seed=st.integers(0, 3), data=st.data())
def test_a_seed_gives_the_same_list_in_any_order_of_the_images(baseline, images, seed, data):
    ids = [f"{at}.jpg" for at in range(len(images))]
    order = data.draw(st.permutations(range(len(images))))
    lists = []
    for places in (range(len(images)), order):
        incidence = incidence_of([images[at] for at in places])
        cliques = mine_cliques(incidence, max_size=2, common=())
        of_places = [ids[at] for at in places]
        lists.append(image_list(cliques, incidence, of_places, baseline, seed).sort_index())
        assert lists[-1]["class"].to_dict() == {ids[at]: images[at][0] for at in places}
    assert lists[0].equals(lists[1])
    assert lists[0].columns[-1] == ("weight" if baseline == "weights" else "times")


def test_pruning_drops_what_leans_and_never_more_than_half_of_a_class():
    """Cows are in 80 of 100 images of x and in 20 of y: dropping 40 cows of x makes it 40 of 60."""
    shown = [("x", "a")] * 80 + [("x", "b")] * 20 + [("y", "a")] * 20 + [("y", "b")] * 80
    incidence = incidence_of([(name, frozenset(held)) for name, held in shown])
    cliques = mine_cliques(incidence, max_size=1, common=())
    groups = group_images(cliques, incidence)
    ten = simulate_baseline(cliques, groups, "pruning", 10)
    assert ten.class_sizes.sum() == 190
    rates = ten.counts[:, :2] / ten.class_sizes[:2]
    assert np.ptp(rates, axis=1).max() < 0.6
    most = simulate_baseline(cliques, groups, "pruning", 200)
    assert most.class_sizes[:2].min() >= 50
    assert np.ptp(most.counts[:, :2] / most.class_sizes[:2], axis=1).max() < 0.3
