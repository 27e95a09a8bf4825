"""Own effects of imbalances: of the top ones, of a few, and a summary."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from cobalance.graph.database import GraphStore
from cobalance.graph.dataset import load_cliques
from cobalance.graph.queries.imbalances import Ranking, read_imbalances, read_imbalances_of
from cobalance.statistics import (
    MAX_Q_VALUE,
    MOST,
    OWN,
    find_closed,
    find_rows,
    fold_repeats,
    own_effects,
    summarize,
)

_OWN_COLUMNS = [OWN, "own_over", "explained"]


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
        Whether to add the columns of `cobalance.statistics.own_effect.own_effects`.
    closed : bool
        Whether to leave out cliques of which a larger one has the same count in every class.

    Raises
    ------
    StaleError, UnknownNameError
        As `read_imbalances` does.
    """
    cliques = load_cliques(store, dataset)
    columns = own_effects(cliques) if own else pd.DataFrame({"closed": find_closed(cliques)})

    # More rows are read until enough of them are closed, or there are no more.
    limit = ranking.limit
    while True:
        frame = read_imbalances(store, dataset, replace(ranking, limit=limit))
        rows = find_rows(cliques, frame["concepts"].tolist())
        selected = pd.concat([frame, columns.iloc[rows].reset_index(drop=True)], axis=1)
        if closed:
            selected = selected[selected["closed"]]
        if len(selected) >= ranking.limit or len(frame) < limit:
            if not own:
                selected = selected[frame.columns]
            return selected.head(ranking.limit).reset_index(drop=True)
        limit *= 4


def read_own_effects(
    store: GraphStore, dataset: str, cliques: tuple[tuple[str, ...], ...]
) -> pd.DataFrame:
    """Read ``own_effect``, ``own_over`` and ``explained`` of `own_effects` of a few cliques.

    Only they and their subsets are looked at, which takes milliseconds: q-values, which are over
    all cliques, are left out.

    Parameters
    ----------
    cliques : tuple of tuple of str
        Mined ones, each with its concepts in ascending order.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    """
    all_cliques = load_cliques(store, dataset)
    parts = set[tuple[str, ...]]()
    for clique in cliques:
        for size in range(1, len(clique) + 1):
            parts.update(combinations(clique, size))

    rows = np.sort(find_rows(all_cliques, list(parts)))
    few = all_cliques.take(rows[rows >= 0])
    effects = own_effects(few).iloc[find_rows(few, cliques)]
    return effects[_OWN_COLUMNS].reset_index(drop=True)


def read_standing(store: GraphStore, dataset: str) -> pd.DataFrame:
    """Read the imbalances that stand on their own, the largest own effect first.

    They have a q-value of at most 0.05 beyond what their parts explain. Those with the same images
    are one row: where every lamp is beside a person, the lamps' effect is that of lamp and person,
    too, which has no other. All cliques are read, and compared in memory.

    Returns
    -------
    pandas.DataFrame
        The columns of `read_folded_imbalances`, and ``own_effect``, ``own_over``, ``explained`` and
        ``own_q_value`` of the one with the largest own effect.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    """
    cliques = load_cliques(store, dataset)
    effects = own_effects(cliques)
    stands = ((effects["own_q_value"] <= MAX_Q_VALUE) & (effects[OWN] > 0)).to_numpy()

    # Cliques with the same images have equal counts: all others are left out of the comparison.
    _, count_codes = np.unique(cliques.counts, axis=0, return_inverse=True)
    count_codes = count_codes.ravel()
    rows = np.flatnonzero(np.isin(count_codes, count_codes[stands]))
    few = cliques.take(rows)
    names = few.names()

    # Rounded, so that effects that are equal but for their last digits keep the cliques' order.
    strength = effects[OWN].where(stands, 0.0).to_numpy()[rows].round(12)
    groups = [group for group in fold_repeats(names, few.counts) if strength[group].any()]
    groups.sort(key=lambda group: -strength[group].max())

    frame = read_imbalances_of(store, dataset, [names[group[0]] for group in groups])
    repeats = [tuple(names[row] for row in group[1:]) for group in groups]
    frame["repeats"] = pd.Series(repeats, dtype=object)
    best = [rows[max(group, key=strength.__getitem__)] for group in groups]
    strongest = effects.iloc[best].reset_index(drop=True)
    return pd.concat([frame, strongest[[*_OWN_COLUMNS, "own_q_value"]]], axis=1)


def read_summary(
    store: GraphStore, dataset: str, *, limit: int = MOST, max_q_value: float = MAX_Q_VALUE
) -> pd.DataFrame:
    """Summarize a dataset by the cliques that stand on their own.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    OptionError
        As `summarize` does.
    """
    return summarize(load_cliques(store, dataset), limit=limit, max_q_value=max_q_value)
