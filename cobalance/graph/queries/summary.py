"""The cliques of a dataset that stand on their own."""

import pandas as pd

from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.diagnosis.summary import MAX_Q_VALUE, MOST, summarize


def read_summary(
    store: GraphStore, dataset: str, *, limit: int = MOST, max_q_value: float = MAX_Q_VALUE
) -> pd.DataFrame:
    """Read all cliques, and return those that stand on their own, as `summarize` does.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    OptionError
        As `summarize` does.
    """
    return summarize(load_cliques(store, dataset), limit=limit, max_q_value=max_q_value)
