"""Splits compared, against counts by hand and a log-linear model by another library."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import chi2, norm
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.stats.multitest import multipletests

from cobalance.base.errors import OptionError
from cobalance.counting.cliques import Cliques, mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.statistics.association import homogeneity_test
from cobalance.statistics.comparison import compare_cliques
from cobalance.statistics.difference import differences
from cobalance.statistics.splits import ComparedSplits, split_cliques


def incidence_of(shown, labels, classes, concepts="wxyz"):
    pairs = np.argwhere(shown)
    return build_incidence(pairs[:, 0], pairs[:, 1], labels, tuple(concepts), tuple(classes))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 5), st.sampled_from([(), None]))
def test_cliques_of_both_are_counted_in_each(seed, n_classes, support, common):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 40, 2)
    shown = [rng.random((size, 4)) < rng.random(4) * 0.9 for size in n]
    labels = [rng.integers(0, n_classes, size) for size in n]
    labels[0][:n_classes] = np.arange(n_classes)[: n[0]]
    used = sorted({*labels[0].tolist(), *labels[1].tolist()})
    names = "abcd"[:n_classes]
    # classes and concepts without images are left out, as reading a split does
    parts = []
    for rows, of_class in zip(shown, labels, strict=True):
        classes = sorted(set(of_class.tolist()))
        concepts = np.flatnonzero(rows.any(axis=0))
        parts.append(
            incidence_of(
                rows[:, concepts],
                np.searchsorted(classes, of_class),
                [names[c] for c in classes],
                ["wxyz"[c] for c in concepts],
            )
        )
    both = incidence_of(
        np.concatenate(shown),
        np.searchsorted(used, np.concatenate(labels)),
        [names[c] for c in used],
    )
    options = {"max_size": 3, "min_support": support, "common": common}
    expected = mine_cliques(both, **options)
    one, other = split_cliques(*parts, **options)
    assert one.names() == other.names() == expected.names()
    assert one.classes == other.classes == expected.classes
    assert (one.counts + other.counts).tolist() == expected.counts.tolist()
    for found, rows, of_class in zip((one, other), shown, labels, strict=True):
        assert found.class_sizes.tolist() == [(of_class == c).sum() for c in used]
        for clique, counts in zip(found.names(), found.counts.tolist(), strict=True):
            has = rows[:, ["wxyz".index(name) for name in clique]].all(axis=1)
            assert counts == [(has & (of_class == c)).sum() for c in used]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_difference_is_the_interaction_of_a_poisson_model(n_classes):
    rng = np.random.default_rng(n_classes)
    sizes = rng.integers(200, 900, (2, n_classes))
    counts = rng.binomial(sizes, rng.random((6, 2, n_classes)) * 0.4 + 0.2)
    found = differences(counts[:, 0], sizes[0], counts[:, 1], sizes[1], "abcde"[:n_classes])
    for i, pair in enumerate(counts):
        cells = np.stack([sizes - pair, pair])  # presence, split, class
        presence, split, label = (grid.ravel() for grid in np.indices(cells.shape))
        dummies = (label[:, None] == np.arange(1, n_classes)).astype(float)
        columns = [np.ones(len(label)), presence, split, presence * split, *dummies.T]
        columns += [*(dummies * presence[:, None]).T, *(dummies * split[:, None]).T]
        fit = GLM(cells.ravel(), np.stack(columns, axis=1), family=Poisson()).fit()
        assert found.loc[i, "p_value"] == pytest.approx(chi2.sf(fit.deviance, n_classes - 1))
        assert found.loc[i, "test"] == "likelihood ratio"
        beyond = (pair[1] - fit.fittedvalues.reshape(cells.shape)[1, 1]) / sizes[1]
        over, under = int(beyond.argmax()), int(beyond.argmin())
        assert found.loc[i, "rises_in"] == "abcde"[over]
        assert found.loc[i, "falls_in"] == "abcde"[under]
        odds = np.log(pair / (sizes - pair))
        change = (odds[1] - odds[0])[over] - (odds[1] - odds[0])[under]
        assert found.loc[i, "log_odds_difference"] == pytest.approx(change)
        both = cells[:, :, [over, under]]
        half = norm.isf(0.025) * np.sqrt((1 / both).sum())
        assert found.loc[i, "log_odds_difference_low"] == pytest.approx(change - half)
        assert found.loc[i, "log_odds_difference_high"] == pytest.approx(change + half)
    q = multipletests(found["p_value"], method="fdr_bh")[1]
    assert found["q_value"].to_numpy() == pytest.approx(q)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.randoms(use_true_random=False))
def test_any_counts_give_a_p_value_that_swapping_the_sets_keeps(n_classes, random):
    sizes = [np.array([random.choice([0, 1, 7, 900]) for _ in range(n_classes)]) for _ in "12"]
    counts = [
        np.array([[random.randint(0, n) for n in size.tolist()] for _ in "ab"]) for size in sizes
    ]
    names = "abcdef"[:n_classes]
    one = differences(counts[0], sizes[0], counts[1], sizes[1], names)
    turned = differences(counts[1], sizes[1], counts[0], sizes[0], names)
    assert one["p_value"].between(0, 1).all()
    if n_classes <= 2:  # with more, the classes of an exact pair may be others
        assert one["p_value"].to_numpy() == pytest.approx(turned["p_value"].to_numpy(), rel=1e-6)
    known = one["log_odds_difference_low"].notna()
    assert (known == one["rises_in"].notna()).all()


def test_status_of_each_imbalance():
    sizes = np.array([400, 400])
    planted = {  # concept: rates in train by class, and in val
        "both": ([0.6, 0.2], [0.5, 0.2]),
        "first": ([0.6, 0.2], [0.4, 0.4]),
        "second": ([0.4, 0.4], [0.6, 0.2]),
        "opposite": ([0.6, 0.2], [0.2, 0.6]),
        "none": ([0.4, 0.4], [0.5, 0.5]),
    }
    parts = []
    for split in range(2):
        rates = np.array([of_split[split] for of_split in planted.values()]).T
        shown = np.concatenate([np.arange(400)[:, None] < 400 * of_class for of_class in rates])
        parts.append(incidence_of(shown, np.repeat([0, 1], sizes), ("day", "night"), planted))
    found = ComparedSplits.of(("train", "val"), tuple(parts), max_size=1)
    rows = found.cliques.set_index(found.cliques["concepts"].str[0])
    assert rows["holds"].to_dict() == {name: name for name in planted}
    assert found.class_sizes == ({"day": 400, "night": 400},) * 2
    assert rows.loc["first", "count_first_day"] == 240
    assert rows.loc["first", "rate_second_night"] == pytest.approx(0.4)
    assert rows.index[0] == "opposite"  # differs most surely
    assert rows.loc["second", "rises_in"] == "day"
    assert (rows.loc[["first", "second", "opposite"], "q_value"] < 1e-6).all()
    assert rows.loc["none", "q_value"] > 0.9
    p_values, _ = homogeneity_test(rows.filter(like="count_first_").to_numpy(), sizes)
    q = multipletests(p_values, method="fdr_bh")[1]
    assert rows["q_value_first"].to_numpy() == pytest.approx(q)


def test_a_class_of_one_split_alone_and_a_level_out_of_range():
    one = incidence_of(np.ones((3, 1)), [0, 0, 1], "ab", "w")
    other = incidence_of(np.ones((2, 1)), [0, 0], "c", "w")
    found = ComparedSplits.of(("train", "val"), (one, other), max_size=2)
    assert found.cliques["holds"].tolist() == ["none"]
    assert found.cliques["p_value"].tolist() == [1]
    assert found.cliques["log_odds_difference"].isna().all()
    with pytest.raises(OptionError, match="largest q-value is 2"):
        ComparedSplits.of(("train", "val"), (one, other), max_size=2, max_q_value=2)


def test_two_versions_have_a_change_where_both_have_the_clique():
    sizes = (np.array([90, 80]), np.array([95, 85]))
    before = Cliques(
        np.array([[0, -1], [1, -1], [0, 1]]), np.array([[60, 20], [50, 30], [9, 0]]), sizes[0],
        ("lamp", "sky"), ("day", "night"),
    )  # fmt: skip
    after = Cliques(
        np.array([[0, -1], [1, -1]]), np.array([[5, 5], [20, 60]]), sizes[1],
        ("car", "sky"), ("day", "night"),
    )  # fmt: skip
    found = compare_cliques(before, after).cliques.set_index("concepts")
    assert found["status"].to_dict() == {
        ("lamp",): "absent",
        ("lamp", "sky"): "absent",
        ("sky",): "stronger",
    }
    assert found["q_value"].notna().tolist() == [names == ("sky",) for names in found.index]
    sky = found.loc[[("sky",)]].iloc[0]
    assert (sky["highest"], sky["lowest"]) == ("day", "night")
    assert sky["change"] == pytest.approx((60 / 85 - 20 / 95) - (50 / 90 - 30 / 80))
    assert sky["q_value"] < 1e-4
