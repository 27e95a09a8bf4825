"""Observed and expected images of a dataset's combinations."""

import sys
from collections.abc import Collection

import pandas as pd

from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.diagnosis.cooccurrences import cooccurrence_table
from cobalance.graph.errors import check_known
from cobalance.graph.queries.imbalances import Ranking, filter_imbalances


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
    concepts, max_size, max_q_value, limit
        As of `Ranking`; by default all rows.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    OptionError, UnknownNameError
        The q-value is not from 0 to 1, or there is no such concept.
    """
    ranking = Ranking(
        concepts=tuple(concepts),
        max_size=max_size,
        max_q_value=max_q_value,
        limit=limit or sys.maxsize,
    )
    cliques = load_cliques(store, dataset)
    check_known("concept", concepts, cliques.concepts)
    return filter_imbalances(cooccurrence_table(cliques), ranking)
