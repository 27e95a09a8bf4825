"""Concepts as classes, each against the images without it: counts and statistics by brute force."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from cobalance.base.errors import UnknownNameError
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.counting.one_against_rest import mine_one_against_rest
from cobalance.statistics.imbalance import imbalance_table

NAMES = tuple(f"thing {number:02}" for number in range(11))
COMPARED = NAMES[7::-1]  # eight, in an order of their own


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(5)
    rates = rng.uniform(0.05, 0.5, len(NAMES))
    shown = rng.random((230, len(NAMES))) < rates
    shown[:, 1] |= shown[:, 0] & (rng.random(230) < 0.7)
    shown[:9] = False
    return [frozenset(np.array(NAMES)[row].tolist()) for row in shown]


def incidence_of(images):
    entries = [(at, NAMES.index(name)) for at, row in enumerate(images) for name in row]
    image, concept = zip(*entries, strict=True)
    return build_incidence(image, concept, [at % 2 for at in range(len(images))], NAMES, ("a", "b"))


def count(images, with_, without=None):
    return sum(set(with_) <= row and without not in row for row in images)


@pytest.mark.parametrize("min_support", [1, 12])
def test_counts_of_eight_concepts_that_overlap(images, min_support):
    """By one engine: that all count alike is a test of cliques."""
    options = {"max_size": 3, "min_support": min_support, "engine": "numpy"}
    found = mine_one_against_rest(incidence_of(images), COMPARED, **options)
    every = {
        names: count(images, names)
        for size in (1, 2, 3)
        for names in combinations(NAMES, size)
        if count(images, names) >= min_support
    }
    assert dict(zip(found.cliques.names(), found.images.tolist(), strict=True)) == every
    for name in COMPARED:
        of = found.of(name)
        shown = count(images, [name])
        assert of.class_images() == {f"no {name}": len(images) - shown, name: shown}
        assert dict(zip(of.names(), of.counts.tolist(), strict=True)) == {
            names: [count(images, names, name), count(images, [*names, name])]
            for names in every
            if name not in names
        }


def test_statistics_are_those_of_two_classes(images):
    found = mine_one_against_rest(incidence_of(images), COMPARED, max_size=2)
    for name in COMPARED:
        table = imbalance_table(found.of(name)).set_index("concepts")
        p_values = []
        for names, row in table.iterrows():
            shown, rest = count(images, [name]), len(images) - count(images, [name])
            a, b = count(images, [*names, name]), count(images, names, name)
            assert row["effect"] == pytest.approx(abs(a / shown - b / rest))
            expected = stats.contingency.expected_freq([[a, b], [shown - a, rest - b]])
            if (expected < 5).any():
                p_value = stats.fisher_exact([[a, b], [shown - a, rest - b]]).pvalue
            else:
                p_value = stats.chi2_contingency(
                    [[a, b], [shown - a, rest - b]], correction=False
                ).pvalue
            p_values.append(p_value)
            half = 0.0 if a and b and shown - a and rest - b else 0.5
            sides = [(a + half, shown - a + half), (b + half, rest - b + half)]
            high, low = sides if row["highest_rate"] == name else sides[::-1]
            odds = np.log(high[0] / high[1] * low[1] / low[0])
            spread = 1.959964 * np.sqrt(sum(1 / n for side in sides for n in side))
            if row["effect"]:
                assert row["log_odds_ratio"] == pytest.approx(odds)
                assert row["log_odds_ratio_low"] == pytest.approx(odds - spread, rel=1e-5)
        assert table["p_value"].to_numpy() == pytest.approx(p_values)
        assert table["q_value"].to_numpy() == pytest.approx(stats.false_discovery_control(p_values))


def test_one_concept_is_compared_as_a_class_of_its_own(images):
    incidence = incidence_of(images)
    name = NAMES[2]
    labels = [int(name in row) for row in images]
    kept = [(at, NAMES.index(one)) for at, row in enumerate(images) for one in row if one != name]
    image, concept = zip(*kept, strict=True)
    classes = (f"no {name}", name)
    two = mine_cliques(build_incidence(image, concept, labels, NAMES, classes), common=())
    of = mine_one_against_rest(incidence, (name,)).of(name)
    assert of.names() == two.names()
    assert of.counts.tolist() == two.counts.tolist()


def test_a_concept_that_no_image_shows_is_named(images):
    with pytest.raises(UnknownNameError, match="unknown concept 'thing 99'"):
        mine_one_against_rest(incidence_of(images), ("thing 99",))
