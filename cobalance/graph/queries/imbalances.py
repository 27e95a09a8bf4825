"""Top imbalances, filtered and sorted by the database."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cobalance.base import NO_LIMIT, OptionError, UnknownNameError, check_known, positions_of
from cobalance.graph.database import GraphStore, Statement, schema
from cobalance.graph.dataset import DatasetState, dataset_state, read_cliques, read_compared_table
from cobalance.graph.queries import statements
from cobalance.graph.queries.binding import bind_with_state
from cobalance.statistics import (
    COUNT,
    EVIDENCE,
    GAP,
    MAX_Q_VALUE,
    RATE,
    SMALLEST_FIRST,
    by_evidence,
    check_q_value,
    evidence_columns,
    find_rows,
    fold_repeats,
)

_FLOATS = [
    "lift",
    "log_odds_ratio",
    "log_odds_ratio_low",
    "log_odds_ratio_high",
    "p_value",
    "q_value",
]
_BEYOND = 50
"""Rows after the last, which may have the same images."""


@dataclass(frozen=True)
class Ranking:
    """Filters and sort order of the imbalances to read.

    Parameters
    ----------
    by : str
        ``"evidence"``: cliques with a q-value of at most 0.05 first, by the difference of their
        rates, then the others. Or a numeric column of the imbalance table; ``"gap"`` is the order
        of ConBias.
    descending : bool or None
        Largest first; None for the most telling first, which of p-values are the smallest.
    class_name : str or None
        Only cliques in which this class is under-represented.
    concepts : tuple of str
        Only cliques that contain all of these.
    min_size, max_size : int or None
        Only cliques of these sizes, both included.
    max_q_value : float or None
        Only cliques with at most this q-value.
    limit : int
        Most rows to return.
    any_of : tuple of str
        Only cliques that contain one or more of these; empty for all.
    """

    by: str = EVIDENCE
    descending: bool | None = None
    class_name: str | None = None
    concepts: tuple[str, ...] = ()
    min_size: int | None = None
    max_size: int | None = None
    max_q_value: float | None = None
    limit: int = 20
    any_of: tuple[str, ...] = ()

    @property
    def largest_first(self) -> bool:
        """The order in which rows come."""
        return self.by not in SMALLEST_FIRST if self.descending is None else self.descending

    def __post_init__(self) -> None:
        if self.max_size is not None and self.max_size < (self.min_size or 1):
            raise OptionError(f"The largest size, {self.max_size}, is below the smallest.")
        check_q_value(self.max_q_value)


def read_imbalances(store: GraphStore, dataset: str, ranking: Ranking) -> pd.DataFrame:
    """Read the top imbalances, with the columns of `imbalance_table`.

    The database filters, sorts and cuts; by evidence or ``gap``, largest first, it reads them off
    an index, in a time that hardly depends on how many cliques there are.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    UnknownNameError
        No such column, class or concept.
    """
    parameters = {
        "dataset": dataset,
        "class": ranking.class_name,
        "concepts": list(ranking.concepts) or None,
        "any_of": list(ranking.any_of) or None,
        "min_size": ranking.min_size,
        "max_size": ranking.max_size,
        "max_q_value": ranking.max_q_value,
        "limit": ranking.limit,
    }
    filters = {name: value for name, value in parameters.items() if value is not None}
    if ranking.concepts:
        name = "imbalances-with-concepts"
    elif ranking.by == GAP:
        name = "imbalances-by-gap"
    else:
        name = "imbalances"

    try:
        query, bound, state = bind_with_state(store, name, filters)
    except UnknownNameError:
        # Where a dataset is compared by concepts, the ranking may name one as its class.
        state = dataset_state(store, dataset)
        if not state.compared:
            raise
    if state.compared:
        state.require_mined()
        return _read_compared(store, state, ranking)

    sizes = dict(state.mined_classes)
    by, by_class = _sort_column(ranking.by, list(sizes))
    statement: Statement = query
    # The catalogue's queries sort by evidence or gap, with concepts by evidence alone.
    indexed = (EVIDENCE,) if ranking.concepts else (EVIDENCE, GAP)
    if by not in indexed or not ranking.largest_first:
        statement = statements.IMBALANCES_BY_ANYTHING
        bound |= {"by": by, "by_class": by_class, "descending": ranking.largest_first}
        bound.setdefault("concepts", [])
    return _as_table(store.read_frame(statement, **bound), sizes)


def _read_compared(store: GraphStore, state: DatasetState, ranking: Ranking) -> pd.DataFrame:
    """The top imbalances of a concept and the rest, sorted and cut in memory."""
    cliques = read_cliques(store, state)
    check_known("concept", ranking.concepts, cliques.concepts)
    if ranking.class_name:
        check_known("class", [ranking.class_name], cliques.classes)
    by, ascending = ranking.by, not ranking.largest_first
    _check_column(by, cliques.classes)

    table = read_compared_table(store, state)
    if by == EVIDENCE:
        table = by_evidence(table, ascending=ascending)
    else:
        table = table.sort_values(by, ascending=ascending, kind="stable")
    return filter_imbalances(table, ranking)


def filter_imbalances(frame: pd.DataFrame, ranking: Ranking) -> pd.DataFrame:
    """The first rows of a table of imbalances that pass a ranking's filters, in their order."""
    # Of an empty frame the maps give objects.
    names = frame["concepts"].map(frozenset)
    passed = names.map(frozenset(ranking.concepts).issubset).astype(bool)
    if ranking.any_of:
        passed &= ~names.map(frozenset(ranking.any_of).isdisjoint).astype(bool)
    if ranking.class_name is not None:
        passed &= frame["under_represented"] == ranking.class_name
    if ranking.min_size is not None:
        passed &= frame["size"] >= ranking.min_size
    if ranking.max_size is not None:
        passed &= frame["size"] <= ranking.max_size
    if ranking.max_q_value is not None:
        passed &= frame["q_value"] <= ranking.max_q_value
    return frame[passed].head(ranking.limit).reset_index(drop=True)


def read_imbalances_of(
    store: GraphStore, dataset: str, cliques: Sequence[tuple[str, ...]]
) -> pd.DataFrame:
    """Read the imbalances of cliques by name, in the order given; those not mined are left out.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    """
    state = dataset_state(store, dataset)
    state.require_mined()

    if state.compared:
        rows = find_rows(read_cliques(store, state), cliques)
        table = read_compared_table(store, state).iloc[rows[rows >= 0]]
        return table.reset_index(drop=True)

    lists = [list(names) for names in cliques]
    frame = store.read_frame(statements.IMBALANCES_OF, dataset=dataset, cliques=lists)
    table = _as_table(frame, dict(state.mined_classes))
    positions = positions_of(cliques)
    order = table["concepts"].map(positions.__getitem__).argsort(kind="stable")
    return table.iloc[order].reset_index(drop=True)


def leaning_concepts(store: GraphStore, dataset: str) -> set[str]:
    """Return the concepts that lean to a class by themselves."""
    ranking = Ranking(max_size=1, max_q_value=MAX_Q_VALUE, limit=NO_LIMIT)
    return {name for (name,) in read_imbalances(store, dataset, ranking)["concepts"]}


def read_folded_imbalances(store: GraphStore, dataset: str, ranking: Ranking) -> pd.DataFrame:
    """Read the top imbalances, those with the same images as one row.

    Parameters
    ----------
    ranking : Ranking
        Its limit counts the rows before they are folded.

    Returns
    -------
    pandas.DataFrame
        The columns of `read_imbalances`, and ``repeats`` (tuple of tuples of str): the cliques that
        are within this one and have the same images, or have those of one that is, see
        `cobalance.statistics.selection.fold_repeats`.

    Raises
    ------
    StaleError, UnknownNameError
        As `read_imbalances` does.
    """
    # Equal counts are equal in any order but that of a size: a group's rows follow each other.
    frame = read_imbalances(store, dataset, replace(ranking, limit=ranking.limit + _BEYOND))
    cliques = frame["concepts"].tolist()
    counts = frame.filter(regex=f"^{COUNT}").to_numpy()
    groups = [rows for rows in fold_repeats(cliques, counts) if min(rows) < ranking.limit]

    folded = frame.iloc[[rows[0] for rows in groups]].reset_index(drop=True)
    repeats = [tuple(cliques[row] for row in rows[1:]) for rows in groups]
    folded["repeats"] = pd.Series(repeats, dtype=object)
    return folded


def _sort_column(by: str, classes: Sequence[str]) -> tuple[str, str | None]:
    """The property to sort by; for a count or rate, which rank alike, the class."""
    _check_column(by, classes)
    for prefix in (COUNT, RATE):
        if by.startswith(prefix):
            return "count", by.removeprefix(prefix)
    return by, None


def _check_column(by: str, classes: Sequence[str]) -> None:
    """Raise UnknownNameError unless imbalances of these classes can be sorted by a column."""
    numbers = [node for node in schema.CLIQUE.properties if node.type in (int, float)]
    columns = [EVIDENCE, *(number.name for number in numbers if number.name != "digest")]
    for prefix in (COUNT, RATE):
        columns += [prefix + name for name in classes]
    check_known("column to sort by", [by], columns)


def _as_table(frame: pd.DataFrame, sizes: dict[str, int]) -> pd.DataFrame:
    """The columns of `imbalance_table` of cliques as the database returns them."""
    counts = pd.DataFrame(frame["counts"].map(dict).tolist(), columns=[*sizes])
    rates = counts / pd.Series(sizes)
    frame["concepts"] = frame["concepts"].map(tuple)
    # They are all None where one class alone has images.
    frame[_FLOATS] = frame[_FLOATS].astype(float)
    evidence = evidence_columns(
        counts.to_numpy(dtype=np.int64),
        np.array([*sizes.values()], dtype=np.int64),
        [*sizes],
        frame["q_value"].to_numpy(),
    )

    first = ["concepts", "size"]
    if frame["clusters"].notna().any():
        first.append("clusters")
    statistics = ["gap", "over_represented", "under_represented", *_FLOATS, "test"]
    return pd.concat(
        [
            frame[first],
            counts.add_prefix(COUNT),
            rates.add_prefix(RATE),
            frame[statistics],
            pd.DataFrame(evidence, index=frame.index),
        ],
        axis=1,
    )
