"""Tests by cluster: exact where clusters are copies, and of the right level where they are not."""

from dataclasses import replace

import numpy as np
import pytest

from cobalance.graph.counting.cliques import mine_cliques
from cobalance.graph.counting.incidence import build_incidence
from cobalance.graph.diagnosis.comparison import compare_cliques
from cobalance.graph.diagnosis.cooccurrences import cooccurrence_table
from cobalance.graph.diagnosis.design_effects import with_clusters
from cobalance.graph.diagnosis.imbalance import imbalance_table
from cobalance.graph.diagnosis.own_effect import own_effects
from cobalance.graph.diagnosis.selection import clique_q_values
from cobalance.graph.diagnosis.splits import compare_splits, split_cliques

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


def test_comparisons_are_by_cluster_too():
    rng = np.random.default_rng(4)
    parts = [draw(rng), draw(rng)]
    columns = ["q_value_first", "q_value_second", "log_odds_difference_low", "p_value"]
    expected, found = (
        compare_splits(*split_cliques(*images, max_size=2, common=())).sort_values("concepts")
        for images in (parts, [copied(part, 10) for part in parts])
    )
    np.testing.assert_allclose(found[columns], expected[columns], rtol=1e-6)
    expected, found = (
        compare_cliques(*(mined(part, max_size=2) for part in images)).cliques.set_index("concepts")
        for images in (parts, [copied(part, 10) for part in parts])
    )
    np.testing.assert_allclose(found.loc[expected.index, columns[3]], expected[columns[3]])


def test_cooccurrence_is_not_tested_where_images_are_in_clusters():
    found = cooccurrence_table(mined(copied(draw(np.random.default_rng(1)), 3), max_size=2))
    assert found["p_value"].isna().all()
    assert found["q_value"].isna().all()
    assert (found["ratio"] > 0).any()


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
