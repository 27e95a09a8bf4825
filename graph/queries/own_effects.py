"""Top imbalances with what is their own, and without those that a larger clique repeats."""

from dataclasses import replace

import pandas as pd

from graph.database.store import GraphStore
from graph.dataset.cliques import load_cliques
from graph.diagnosis.own_effect import closed_cliques, own_effects
from graph.diagnosis.selection import find_rows
from graph.queries.imbalances import Ranking, read_imbalances


def read_own_imbalances(
    store: GraphStore, dataset: str, ranking: Ranking, *, own: bool = True, closed: bool = False
) -> pd.DataFrame:
    """Read the top imbalances with their own effects, or only closed ones.

    All cliques are read, and compared in memory.

    Parameters
    ----------
    ranking : Ranking
        Its limit counts the rows that are left.
    own : bool
        Whether to add the columns of `graph.diagnosis.own_effect.own_effects`.
    closed : bool
        Whether to leave out cliques of which a larger one has the same count in every class.

    Raises
    ------
    StaleError, UnknownNameError
        As `read_imbalances` does.
    """
    cliques = load_cliques(store, dataset)
    added = own_effects(cliques) if own else pd.DataFrame({"closed": closed_cliques(cliques)})
    limit = ranking.limit
    while True:
        frame = read_imbalances(store, dataset, replace(ranking, limit=limit))
        rows = find_rows(cliques, frame["concepts"].tolist())
        joined = pd.concat([frame, added.iloc[rows].reset_index(drop=True)], axis=1)
        kept = joined[joined["closed"]] if closed else joined
        if len(kept) >= ranking.limit or len(frame) < limit:
            kept = kept if own else kept[frame.columns]
            return kept.head(ranking.limit).reset_index(drop=True)
        limit *= 4
