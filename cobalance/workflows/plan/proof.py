"""Compare two versions of a dataset in the store, with the plan between them."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from cobalance.generation import measure, sets_of, simulate
from cobalance.graph import (
    GraphStore,
    compare_imbalances,
    dataset_state,
    read_asked,
    read_cliques,
    read_generated_ids,
)
from cobalance.statistics import Comparison, ToldBits, concepts_alone
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
    bits = measure_bits(store, before, after)
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


def measure_bits(store: GraphStore, before: str, after: str) -> dict[str, float]:
    """Bits that concepts alone tell in either dataset; empty unless all images are at hand."""
    told_before, told_after = _tell(store, before), _tell(store, after)
    if told_before is None or told_after is None:
        return {}
    return {
        "bits_before": told_before.bits,
        "bits": told_after.bits,
        "bits_most": told_before.most,
    }


def _tell(store: GraphStore, dataset: str) -> ToldBits | None:
    """Measure how much concepts tell of real images; None unless all images are at hand.

    Generated images are learned from beside the real ones, as those of a plan are.
    """
    state = dataset_state(store, dataset)
    images, ids = read_named(store, state)
    # Of a large dataset a sample may be at hand, or counts alone.
    if images is None or len(images.labels) != sum(dict(state.mined_classes).values()):
        return None

    is_generated = pd.Index(ids).isin(read_generated_ids(store, dataset))
    real, generated = (
        images.take(np.flatnonzero(chosen)) for chosen in (~is_generated, is_generated)
    )
    return concepts_alone(real, generated)
