"""Tests by cluster: exact where clusters are copies, and of the right level where they are not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cobalance.counting.cliques import mine_cliques
from cobalance.counting.incidence import build_incidence
from cobalance.statistics.comparison import compare_cliques
from cobalance.statistics.cooccurrences import cooccurrence_table
from cobalance.statistics.design_effects import with_clusters
from cobalance.statistics.imbalance import imbalance_table
from cobalance.statistics.own_effect import own_effects
from cobalance.statistics.selection import clique_q_values
from cobalance.statistics.splits import compare_splits, split_cliques

STATISTICS = ["log_odds_ratio", "log_odds_ratio_low", "log_odds_ratio_high", "p_value", "q_value"]
OWN = ["own_p_value", "own_q_value"]


def draw(rng, n_images=300, n_classes=2):
    labels = rng.integers(0, n_classes, n_images)
    shows = rng.random((n_images, 5)) < [0.5, 0.4, 0.3, 0.1, 0.02]
    shows[:, 0] ^= (labels == 0) & (rng.random(n_images) < 0.3)
    return build_incidence(*np.nonzero(shows), labels, list("abcde"), list("xyz")[:n_classes])


def copied(incidence, times):
    """Each image several times, as a cluster."""
    rows = np.repeat(np.arange(len(incidence.labels)), times)
    return replace(incidence.take(rows), clusters=rows)


def mined(incidence, **options):
    return with_clusters(mine_cliques(incidence, common=(), **options), incidence)


@pytest.mark.parametrize("times", [2, 10, 100])
def test_copies_of_an_image_say_no_more_than_one(times):
    incidence = draw(np.random.default_rng(1))
    one, many = mined(incidence, max_size=3), mined(copied(incidence, times), max_size=3)
    assert one.clustering is None
    assert many.counts.tolist() == (times * one.counts).tolist()
    assert many.clustering.standing.tolist() == one.counts.sum(axis=1).tolist()
    np.testing.assert_allclose(many.clustering.tests, times)
    expected, found = imbalance_table(one), imbalance_table(many)
    assert found["clusters"].tolist() == one.counts.sum(axis=1).tolist()
    np.testing.assert_allclose(found[STATISTICS], expected[STATISTICS], rtol=1e-6)
    assert found["test"].tolist() == expected["test"].tolist()
    np.testing.assert_allclose(clique_q_values(many), found["q_value"])
    own, own_of_many = own_effects(one), own_effects(many)
    np.testing.assert_allclose(own_of_many[OWN], own[OWN], rtol=1e-6)
    np.testing.assert_allclose(own_of_many["own_effect"], own["own_effect"], rtol=1e-6)


def test_images_that_are_clusters_of_their_own_are_as_before():
    incidence = draw(np.random.default_rng(2))
    for clusters in (np.arange(300), np.full(300, -1)):
        assert mined(replace(incidence, clusters=clusters), max_size=2).clustering is None


def shows_first(images):
    """Whether each image shows the first concept."""
    return np.asarray(images.matrix()[:, 0].todense()).ravel().astype(np.int32)


def test_comparisons_are_by_cluster_too():
    rng = np.random.default_rng(4)
    parts = [draw(rng), draw(rng)]
    columns = ["q_value_first", "q_value_second", "log_odds_difference_low", "p_value"]
    expected, found = (
        compare_splits(*split_cliques(*images, max_size=2, common=())).sort_values("concepts")
        for images in (parts, [copied(part, 10) for part in parts])
    )
    np.testing.assert_allclose(found[columns], expected[columns], rtol=1e-6)
    # Three of four images are of the class that the first concept stands for.
    parts = [
        replace(part, labels=np.where(rng.random(300) < share, shows_first(part), part.labels))
        for part, share in zip(parts, (0.75, 0.5), strict=True)
    ]
    expected, found = (
        compare_cliques(*(mined(part, max_size=2) for part in images)).cliques.set_index("concepts")
        for images in (parts, [copied(part, 10) for part in parts])
    )
    assert "clusters_before" not in expected
    assert len(expected) > 1
    of_ten = found.filter(like="count_").T.groupby(lambda name: name.split("_")[1]).sum().T / 10
    for when in ("before", "after"):
        of_one = of_ten[when].where(found[f"difference_{when}"].notna(), -1)  # absent
        assert found[f"clusters_{when}"].fillna(-1).tolist() == of_one.tolist()
    # Of few images a test by chi-square is not the exact one, and says about as much.
    assert found["status"].to_dict() == expected["status"].to_dict()
    of_rates = ["difference_before", "difference_after", "q_before", "q_after"]
    np.testing.assert_allclose(found.loc[expected.index, of_rates], expected[of_rates], rtol=1e-6)
    np.testing.assert_allclose(found.loc[expected.index, "q_value"], expected["q_value"], rtol=0.2)


def brute_force_test(shows, clusters, one, other):
    """P-value of two concepts' independence by cluster, pair of images by pair."""
    a, b = shows[:, one].all(axis=1), shows[:, other].all(axis=1)
    n, p_a, p_b = len(a), a.mean(), b.mean()
    scores = (a - p_a) * (b - p_b)
    covariance = 0.0
    for code in np.unique(clusters):
        held = np.flatnonzero(clusters == code)
        ordered = [(i, j) for i in held for j in held if i != j]
        if ordered:
            of_a, of_b = (
                np.mean([(x[i] - p) * (x[j] - p) for i, j in ordered])
                for x, p in ((a, p_a), (b, p_b))
            )
            covariance += len(ordered) * of_a * of_b
    effect = 1 + max(covariance, 0) / (scores**2).sum()
    variance = n * p_a * (1 - p_a) * p_b * (1 - p_b) * effect
    freedom = min(len(set(clusters[a])), len(set(clusters[b]))) - 1
    by_t = 2 * stats.t.sf(abs(scores.sum()) / variance**0.5, freedom) if freedom else 1
    counts = np.array([[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]])
    return max(by_t, *(doubled_tail(np.rint(counts / by)) for by in (1, effect)))


def doubled_tail(counts):
    """Of a table of two things, shown or not, towards what was observed."""
    both, one, other = counts[0, 0], counts[0].sum(), counts[:, 0].sum()
    tails = stats.hypergeom(counts.sum(), one, other)
    low = both * counts.sum() < one * other
    return min(1, 2 * (tails.cdf(both) if low else tails.sf(both - 1)))


@pytest.mark.parametrize("n_classes", [1, 3])
def test_cooccurrence_by_cluster_is_that_of_a_brute_force(n_classes):
    rng = np.random.default_rng(7)
    clusters = rng.permutation(np.repeat(np.arange(40), rng.integers(1, 8, 40)))
    n = len(clusters)
    shows = rng.random((n, 4)) < rng.beta(0.3, [0.3, 0.6, 0.9, 3], (40, 4))[clusters]
    shows[:, 2] |= shows[:, :2].all(axis=1) & (rng.random(n) < 0.9)
    labels = rng.integers(0, n_classes, n)
    names = list("abcd"), list("xyz")[:n_classes]
    incidence = replace(build_incidence(*np.nonzero(shows), labels, *names), clusters=clusters)
    cliques = mined(incidence, max_size=3)
    found, as_independent = (
        cooccurrence_table(cliques, images).set_index("concepts") for images in (incidence, None)
    )
    tested = 0
    for concepts, row in found.iterrows():
        members = ["abcd".index(name) for name in concepts]
        parts = [([one], [m for m in members if m != one]) for one in members[: row["size"]]]
        p_value = max(brute_force_test(shows, clusters, *part) for part in parts)
        if row["p_value"] < 1 or row["size"] == 2:
            assert row["p_value"] == pytest.approx(p_value, rel=1e-6)
            tested += 1
        whole = shows[:, members].all(axis=1)
        assert (row["images"], row["clusters"]) == (whole.sum(), len(set(clusters[whole])))
        assert row["p_value"] >= as_independent.loc[[concepts], "p_value"].iloc[0]
    assert tested > 6
    np.testing.assert_allclose(found["q_value"], stats.false_discovery_control(found["p_value"]))


def test_cooccurrence_of_copies_says_no_more_than_that_of_one_image_each():
    one = draw(np.random.default_rng(1))
    for clusters in (np.arange(300), np.full(300, -1)):
        images = replace(one, clusters=clusters)
        found = cooccurrence_table(mined(images, max_size=3), images)
        pd.testing.assert_frame_equal(found, cooccurrence_table(mined(one, max_size=3)))
    many = copied(one, 10)
    copies = cooccurrence_table(mined(many, max_size=3), many).set_index("concepts")
    found = found.set_index("concepts")
    assert (copies.loc[found.index, "p_value"] >= found["p_value"] * (1 - 1e-6)).all()
    often = found.index[found["images"] > 20]  # where a normal distribution says the same
    assert (copies.loc[often, "p_value"] <= 1.2 * found.loc[often, "p_value"]).all()


def test_the_level_of_cooccurrence_holds_with_few_clusters():
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(30), 20)
    by_cluster, as_independent = [], []
    for _ in range(60):
        shows = rng.random((600, 5)) < rng.beta(0.9, 2.1, (30, 5))[clusters]
        incidence = build_incidence(*np.nonzero(shows), 0 * clusters, list("abcde"), ["x"])
        incidence = replace(incidence, clusters=clusters)
        cliques = mined(incidence, max_size=2)
        by_cluster += cooccurrence_table(cliques, incidence)["p_value"].tolist()
        as_independent += cooccurrence_table(cliques)["p_value"].tolist()
    assert np.mean(np.array(by_cluster) <= 0.05) < 0.065  # 600 tests
    assert np.mean(np.array(as_independent) <= 0.05) > 0.1


def test_three_classes_and_clusters_across_them():
    rng = np.random.default_rng(5)
    incidence = draw(rng, 600, 3)
    cliques = mined(replace(incidence, clusters=rng.integers(0, 60, 600)), max_size=2)
    table = imbalance_table(cliques)
    # clusters that say nothing change little
    naive = imbalance_table(replace(cliques, clustering=None))
    assert set(table["test"]) == {"chi-square", "fisher each class"}
    often = (naive["test"] == "chi-square") & (table["test"] == "chi-square")
    assert (table["p_value"] >= naive["p_value"] - 1e-12)[often].all()
    assert (cliques.clustering.tests < 1.5).all()
    assert (cliques.clustering.standing <= 60).all()


@pytest.mark.parametrize("across", [False, True], ids=["patients", "photographers"])
def test_the_level_holds_with_few_clusters(across):
    rng = np.random.default_rng(6)
    by_cluster, naive = [], []
    for _ in range(150):
        clusters = np.repeat(np.arange(30), 20)
        labels = rng.integers(0, 2, 600) if across else clusters % 2
        unit = 2 * clusters + labels
        shows = rng.random((600, 4)) < rng.beta(0.9, 2.1, (60, 4))[unit]
        incidence = build_incidence(*np.nonzero(shows), labels, list("abcd"), ["x", "y"])
        cliques = mined(replace(incidence, clusters=clusters), max_size=1)
        by_cluster += imbalance_table(cliques)["p_value"].tolist()
        naive += imbalance_table(replace(cliques, clustering=None))["p_value"].tolist()
    assert np.mean(np.array(by_cluster) <= 0.05) < 0.075  # 600 tests
    assert np.mean(np.array(naive) <= 0.05) > 0.2
