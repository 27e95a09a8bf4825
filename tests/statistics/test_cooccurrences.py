"""Observed and expected images of combinations, against a brute force over the images."""

from itertools import chain, combinations

import numpy as np
import pytest
from scipy import stats

from cobalance.base.errors import OptionError
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.statistics.cooccurrences import cooccurrence_table, hypergeometric_test


def doubled_tail(both, one, other, total):
    distribution = stats.hypergeom(total, other, one)
    tail = distribution.cdf(both) if both * total < one * other else distribution.sf(both - 1)
    return min(1.0, 2 * tail)


def brute_force(images, names):
    """Images, expected images nearest to them, and p-value of each combination."""
    total, found = len(images), {}

    def shown(part):
        return sum(set(part) <= image for image in images)

    for one in chain.from_iterable(combinations(names, size) for size in (2, 3, 4)):
        observed = shown(one)
        parts = [part for size in range(1, len(one)) for part in combinations(one, size)]
        divisions = [(part, tuple(n for n in one if n not in part)) for part in parts]
        means = [shown(a) * shown(b) / total for a, b in divisions]
        if not observed and (len(one) > 2 or means[0] < 1):
            continue
        tests = [doubled_tail(observed, shown(a), shown(b), total) for a, b in divisions]
        mixed = min(means) < observed < max(means)
        p_value = 1.0 if mixed else max(tests)
        found[one] = observed, min(means, key=lambda mean: abs(mean - observed)), p_value
    return found


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(3)
    names = [f"thing {number}" for number in range(7)]
    rows = []
    for _ in range(160):
        row = {name for name in names[:5] if rng.random() < 0.35}
        row |= {"thing 1", "thing 2"} if "thing 0" in row and rng.random() < 0.6 else set()
        row.add(names[5] if rng.random() < 0.5 else names[6])  # these two exclude each other
        rows.append(row)
    return rows, names


def mined(images, names, classes=1, **options):
    entries = [(at, names.index(name)) for at, row in enumerate(images) for name in row]
    image, concept = zip(*entries, strict=True)
    labels = [at % classes for at in range(len(images))]
    class_names = [f"class {code}" for code in range(classes)]
    return mine_cliques(build_incidence(image, concept, labels, names, class_names), **options)


@pytest.mark.parametrize("classes", [1, 3])
def test_table_is_that_of_a_brute_force(images, classes):
    frame = cooccurrence_table(mined(*images, classes))
    expected = brute_force(*images)
    assert set(frame["concepts"]) == set(expected)
    for row in frame.itertuples():
        observed, mean, p_value = expected[row.concepts]
        assert row.images == observed
        assert row.expected == pytest.approx(mean)
        assert row.p_value == pytest.approx(p_value, rel=1e-9)
    assert frame["q_value"].to_numpy() == pytest.approx(
        stats.false_discovery_control(frame["p_value"])
    )


def test_rare_pairs_that_were_not_mined_are_not_taken_for_unseen(images):
    rows, names = images
    expected = brute_force(rows, names)
    some = cooccurrence_table(mined(rows, names, min_support=30), min_support=30)
    assert dict(zip(some["concepts"], some["images"], strict=True)) == {
        one: found[0] for one, found in expected.items() if found[0] >= 30
    }
    with pytest.raises(OptionError, match="max_size=2"):
        cooccurrence_table(mined(rows, names, max_size=1))


def test_what_excludes_each_other_comes_first_and_what_its_parts_explain_does_not(images):
    frame = cooccurrence_table(mined(*images)).set_index("concepts")
    never = frame.loc[[("thing 5", "thing 6")]].iloc[0]
    assert (never["images"], never["ratio"]) == (0, 0.0)
    assert never["expected"] > 30
    proven = frame["q_value"] <= 0.05
    assert frame.index[0] == ("thing 5", "thing 6")
    assert proven[("thing 0", "thing 1")]
    assert proven.is_monotonic_decreasing
    assert not proven[("thing 3", "thing 4")]


def test_values_of_one_column_do_not_exclude_each_other():
    """An image has one animal, so that none shows two; that none shows both things is a finding."""
    rng = np.random.default_rng(3)
    animals, things = rng.integers(0, 3, 300), rng.integers(0, 2, 300)
    names = ["animal: cat", "animal: dog", "animal: hen", "desk", "lawn"]
    pairs = zip(animals.tolist(), things.tolist(), strict=True)
    rows = [{names[animal], names[3 + thing]} for animal, thing in pairs]
    found = cooccurrence_table(mined(rows, names))
    unseen = found.loc[found["images"] == 0, "concepts"].tolist()
    assert unseen == [("desk", "lawn")]


def test_p_values_are_exact_far_into_the_tail_and_in_a_million_images():
    rng = np.random.default_rng(0)
    total = 1_000_000
    one, other = rng.integers(1, 5000, (2, 60))
    both = np.minimum(rng.poisson(one * other / total * rng.choice([0.3, 1, 2], 60)), one)
    both = np.minimum(both, other)
    found = hypergeometric_test(both, one, other, total)
    wanted = [doubled_tail(*row, total) for row in zip(both, one, other, strict=True)]
    assert found == pytest.approx(wanted, rel=1e-7)
