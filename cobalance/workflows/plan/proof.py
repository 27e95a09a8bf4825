"""Compare two versions of a dataset in the store, with the plan between them."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from cobalance.generation import measure, sets_of, simulate
from cobalance.graph import GraphStore, compare_imbalances, dataset_state, read_asked, read_cliques
from cobalance.statistics import Comparison, concepts_alone
from cobalance.workflows.plan.planners import read_named


def compare_datasets(store: GraphStore, before: str, after: str, **options: Any) -> Comparison:
    """Compare two mined datasets, with the plan between them and bits of concepts alone.

    Parameters
    ----------
    **options
        Of `cobalance.graph.queries.comparison.compare_imbalances`, whose errors it raises.
    """
    comparison = compare_imbalances(store, before, after, **options)
    if comparison.by == "counts":
        return comparison

    planned = None
    if comparison.extends:
        foretold = foretell(store, before, after, comparison.summary["size"].tolist())
        planned = foretold and foretold[0]
    bits = measure_bits(store, before, after, extends=comparison.extends)
    return replace(comparison, planned=planned, bits=bits)


def foretell(
    store: GraphStore,
    before: str,
    after: str,
    sizes: Collection[int],
    images: Literal["asked", "accepted"] = "asked",
) -> tuple[int, float] | None:
    """Foretell a dataset with a job's images, of cliques of some sizes.

    Returns
    -------
    tuple of int and float, or None
        How many lean to a class, and the largest rate difference of those that do or did; None
        where no job made the second dataset of the first.
    """
    queries = read_asked(store, before, after, images)
    if not queries:
        return None

    cliques = read_cliques(store, dataset_state(store, before))
    of_sizes = np.flatnonzero(np.isin(cliques.sizes(), list(sizes)))
    effects = measure(cliques, simulate(cliques, queries), sets_of(cliques, queries), of_sizes)
    return int(effects["leaning"]), effects["largest"]


def measure_bits(store: GraphStore, before: str, after: str, *, extends: bool) -> dict[str, float]:
    """Bits that concepts alone tell in either dataset; empty unless all images are at hand.

    `extends`: whether the second has all images of the first, so that further ones are learned from
    beside these, as those of a plan are.
    """
    datasets = []
    for name in (before, after):
        state = dataset_state(store, name)
        images, ids = read_named(store, state)
        # Of a large dataset a sample may be at hand, or counts alone.
        if images is None or len(images.labels) != sum(dict(state.mined_classes).values()):
            return {}
        datasets.append((images, pd.Index(ids)))

    (real, real_ids), (other, other_ids) = datasets
    told_before = concepts_alone(real)
    if extends:
        further = other.take(np.flatnonzero(~other_ids.isin(real_ids)))
        told_after = concepts_alone(real, further)
    else:
        told_after = concepts_alone(other)
    return {
        "bits_before": told_before.bits,
        "bits": told_after.bits,
        "bits_most": told_before.most,
    }
