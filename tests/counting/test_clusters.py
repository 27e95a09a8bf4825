"""Counts of cliques in clusters equal those of a loop over images."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from cobalance.counting import clusters
from cobalance.counting.cliques import mine_cliques
from cobalance.counting.clusters import count_in_clusters
from cobalance.counting.incidence import build_incidence


@pytest.mark.parametrize("at_once", [7, 1_000])
def test_groups_are_classes_in_clusters(monkeypatch, at_once):
    monkeypatch.setattr(clusters, "IMAGES", at_once)
    rng = np.random.default_rng(3)
    shows = rng.random((60, 5)) < 0.5
    labels, codes = rng.integers(0, 3, 60), rng.integers(-1, 12, 60)
    incidence = build_incidence(*np.nonzero(shows), labels, list("edcba"), ["z", "y", "x"])
    incidence = replace(incidence, clusters=codes)
    cliques = mine_cliques(incidence, max_size=3, common=())
    expected, images = Counter(), Counter()
    for row in range(60):
        cluster = f"own {row}" if codes[row] < 0 else codes[row]
        group = (cluster, "zyx"[labels[row]])
        images[group] += 1
        names = {"edcba"[code] for code in np.flatnonzero(shows[row])}
        expected.update((group, clique) for clique in cliques.names() if names.issuperset(clique))
    found, sizes = Counter(), Counter()
    n_clusters = 0
    for part in count_in_clusters(incidence, cliques):
        groups = part.counts.tocoo()
        for clique, count in zip(groups.row, groups.data, strict=True):
            found[cliques.names()[clique], count] += 1
        sizes.update(part.images.tolist())
        assert np.array_equal(np.unique(part.clusters), np.arange(part.clusters.max() + 1))
        n_clusters += len(np.unique(part.clusters))
    assert found == Counter((clique, count) for (_, clique), count in expected.items())
    assert sizes == Counter(images.values())
    assert n_clusters == len({cluster for cluster, _ in images})
