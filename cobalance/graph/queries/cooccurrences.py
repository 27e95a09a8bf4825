"""Observed and expected images of a dataset's combinations."""

from collections.abc import Collection

import pandas as pd

from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.diagnosis.cooccurrences import cooccurrence_table
from cobalance.graph.diagnosis.q_values import check_q_value
from cobalance.graph.errors import check_known


def read_cooccurrences(
    store: GraphStore,
    dataset: str,
    *,
    concepts: Collection[str] = (),
    max_size: int | None = None,
    max_q_value: float | None = None,
    limit: int | None = None,
) -> pd.DataFrame:
    """Read the first rows of `cooccurrence_table` that pass some filters.

    All cliques are read, and compared in memory.

    Parameters
    ----------
    concepts : collection of str
        Only combinations with all of these.
    max_size : int or None
        Concepts in the largest combination.
    max_q_value : float or None
        The largest false discovery rate.
    limit : int or None
        Most rows.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    OptionError, UnknownNameError
        The q-value is not from 0 to 1, or there is no such concept.
    """
    check_q_value(max_q_value)
    cliques = load_cliques(store, dataset)
    check_known("concept", concepts, cliques.concepts)
    frame = cooccurrence_table(cliques)
    passed = frame["concepts"].map(frozenset(concepts).issubset).astype(bool)
    if max_size is not None:
        passed &= frame["size"] <= max_size
    if max_q_value is not None:
        passed &= frame["q_value"] <= max_q_value
    return frame[passed].head(limit or len(frame)).reset_index(drop=True)
