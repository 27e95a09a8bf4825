"""Counts of every set of things in all groups: by the mining kernel, and by the database."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from cobalance.graph.counting.cliques import mine_cliques
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.catalogue.recounts import MAX_SIZE

Counts = Mapping[tuple[str, ...], Mapping[str, int]]
"""Images of each group by what they show; the empty set is shown by all."""


def count_by_kernel(store: GraphStore, dataset: str) -> Counts:
    """Count every set of things that some image shows whole, by the mining kernel."""
    incidence = load_incidence(store, dataset)
    cliques = mine_cliques(incidence, max_size=MAX_SIZE, common=())
    every = {(): dict(zip(cliques.classes, cliques.class_sizes.tolist(), strict=True))}
    return every | {
        tuple(sorted(names)): dict(zip(cliques.classes, counts, strict=True))
        for names, counts in zip(cliques.names(), cliques.counts.tolist(), strict=True)
    }


def count_by_cypher(store: GraphStore, dataset: str) -> Counts:
    """Count every set of things that all groups show, by the database from the images."""
    sizes = ask(store, "classes", dataset)
    counts: dict[tuple[str, ...], Mapping[str, int]] = {
        (): dict(zip(sizes["class"], sizes["images"].astype(int), strict=True))
    }
    for size in range(1, MAX_SIZE + 1):
        found = ask(store, f"imbalances-from-images-{size}", dataset)
        for names, of_groups in zip(found["concepts"], found["counts"], strict=True):
            counts[tuple(sorted(names))] = {group: int(n) for group, n in of_groups}
    return counts


def ask(store: GraphStore, query: str, dataset: str, **parameters: Any) -> pd.DataFrame:
    """Answer of a saved query."""
    saved = CATALOGUE[query]
    bound = saved.bind({"dataset": dataset, **parameters})
    return pd.DataFrame(store.read(saved.text, **bound), columns=list(saved.columns))
