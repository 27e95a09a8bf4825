"""Changes of rates are told from chance as Fisher's exact test and chi-square do, one by one."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency, false_discovery_control, fisher_exact

from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.statistics.change import change_p_values
from cobalance.statistics.comparison import compare_cliques


def cliques_of(counts, sizes):
    counts = np.array(counts)
    members = np.arange(len(counts), dtype=np.int32)[:, None]
    names = tuple(f"c{row:04}" for row in range(len(counts)))
    classes = tuple("abcdef"[: counts.shape[1]])
    return Cliques(members, counts, np.array(sizes), names, classes)


def one_rate(first, first_size, second, second_size):
    """p-value of one rate in two sets of images."""
    if not first_size or not second_size or first + second in (0, first_size + second_size):
        return 1.0
    table = [[first, first_size - first], [second, second_size - second]]
    expected = chi2_contingency(table, correction=False).expected_freq
    if expected.min() < 5:
        return fisher_exact(table).pvalue
    return chi2_contingency(table, correction=False).pvalue


@pytest.mark.parametrize("extends", [False, True])
def test_each_class_is_tested_and_the_smaller_counts_twice(extends):
    rng = np.random.default_rng(1)
    before_sizes, more = np.array([300, 150, 40]), np.array([30, 0, 60])
    before = rng.binomial(before_sizes, rng.uniform(0, 0.4, (60, 1)))
    added = rng.binomial(more, rng.uniform(0, 0.4, (60, 1)))
    classes = np.array([rng.permutation(3)[:2] for _ in before])
    first = cliques_of(before, before_sizes)
    second = cliques_of(before + added, before_sizes + more)

    expected = []
    for row, pair in enumerate(classes):
        p_values = []
        for code in pair:
            later, size = added[row, code], more[code]
            if not extends:
                later, size = later + before[row, code], size + before_sizes[code]
            p_values.append(one_rate(before[row, code], before_sizes[code], later, size))
        expected.append(min(1, 2 * min(p_values)))

    found = change_p_values(first, second, classes, extends=extends)
    assert found == pytest.approx(expected, rel=1e-6)


def test_random_images_more_change_nothing():
    """1% of images drawn as the others were: no change among thousands, however rare."""
    rng = np.random.default_rng(2)
    rates = rng.beta(0.3, 3, size=300)

    def draw(n_images):
        labels = rng.choice(3, n_images, p=[0.7, 0.25, 0.05])
        lean = np.linspace(0.5, 1.5, 3)[labels][:, None]
        rows, codes = np.nonzero(rng.random((n_images, 300)) < np.minimum(rates * lean, 1))
        return rows, codes, labels

    rows, codes, labels = draw(5_000)
    concepts = tuple(f"c{code:03}" for code in range(300))

    def mined(rows, codes, labels):
        incidence = build_incidence(rows, codes, labels, concepts, ("a", "b", "c"))
        return mine_cliques(incidence, max_size=2, min_support=5, common=())

    before = mined(rows, codes, labels)
    for _ in range(4):
        new_rows, new_codes, new_labels = draw(50)
        after = mined(
            np.append(rows, new_rows + 5_000),
            np.append(codes, new_codes),
            np.append(labels, new_labels),
        )
        statuses = compare_cliques(before, after, extends=True, limit=10**6).cliques["status"]
        assert len(statuses) > 300
        assert not {"weaker", "stronger"} & set(statuses)


def test_images_made_for_a_class_are_a_change():
    """80 images of b with the clique, where 3 in 400 had it."""
    before = cliques_of([[200, 12], [30, 30]], [400, 400])
    after = cliques_of([[200, 92], [30, 30]], [400, 480])
    row = compare_cliques(before, after, extends=True).cliques.iloc[0]
    assert (row["status"], row["highest"], row["lowest"]) == ("weaker", "a", "b")
    assert row["difference_before"] == pytest.approx(200 / 400 - 12 / 400)
    assert row["difference_after"] == pytest.approx(200 / 400 - 92 / 480)
    assert row["q_value"] < 1e-9


def test_every_status_by_rates():
    sizes, later_sizes = np.array([1_000, 1_000]), np.array([1_000, 1_400])
    before = [[300, 100], [300, 100], [300, 100], [100, 100], [100, 100], [300, 100]]
    after = [[300, 420], [300, 300], [300, 145], [100, 300], [100, 145], [300, 100]]
    found = compare_cliques(cliques_of(before, sizes), cliques_of(after, later_sizes), extends=True)
    rows = found.cliques.set_index("concepts")
    assert rows["status"].to_dict() == {
        ("c0000",): "lost its lean",
        ("c0001",): "weaker",
        ("c0002",): "within noise",
        ("c0003",): "new",
        ("c0005",): "stronger",  # none of 400 further images of b shows it
    }

    # Of the five that lean in either; the sums are of the four that leaned before.
    p_values = [2 * one_rate(100, 1_000, later, 400) for later in (320, 200, 45, 200, 0)]
    q_values = false_discovery_control(np.minimum(p_values, 1))
    assert rows["q_value"].sort_index().tolist() == pytest.approx(q_values.tolist(), rel=1e-6)
    totals = found.totals()
    differences = [abs(0.3 - count / 1_400) for count in (420, 300, 145, 100)]
    assert totals["difference_before"] == pytest.approx(4 * 0.2)
    assert totals["difference_after"] == pytest.approx(sum(differences))
    assert (totals["leaning_before"], totals["leaning_after"]) == (4, 4)
    assert totals["largest_after"] == pytest.approx(0.3 - 100 / 1_400)
    assert totals["mined_before"] == totals["mined_after"] == 6
    assert totals["balanced"] == 1


def test_images_that_went_are_no_extension():
    before, after = cliques_of([[50, 10]], [100, 100]), cliques_of([[49, 40]], [100, 130])
    assert compare_cliques(before, after, extends=True).extends is False
    assert compare_cliques(before, before, extends=True).extends is True
