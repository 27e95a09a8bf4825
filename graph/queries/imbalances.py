"""Top imbalances, filtered and sorted by the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from graph.database import schema
from graph.database.store import Cypher, GraphStore
from graph.diagnosis.imbalance import COUNT, RATE
from graph.errors import OptionError, UnknownNameError
from graph.queries import statements
from graph.queries.binding import bind_with_state


@dataclass(frozen=True)
class Ranking:
    """Filters and sort order of the imbalances to read.

    Parameters
    ----------
    by : str
        A numeric column of the imbalance table.
    descending : bool
        Largest first.
    class_name : str or None
        Only cliques in which this class is under-represented.
    concepts : tuple of str
        Only cliques that contain all of these.
    min_size, max_size : int or None
        Only cliques of these sizes, both included.
    max_q_value : float or None
        Only cliques with at most this q-value.
    limit : int
        At most so many rows.
    """

    by: str = "gap"
    descending: bool = True
    class_name: str | None = None
    concepts: tuple[str, ...] = ()
    min_size: int | None = None
    max_size: int | None = None
    max_q_value: float | None = None
    limit: int = 20

    def __post_init__(self) -> None:
        if self.max_size is not None and self.max_size < (self.min_size or 1):
            raise OptionError(f"The largest size, {self.max_size}, is below the smallest.")
        if self.max_q_value is not None and not 0 <= self.max_q_value <= 1:
            raise OptionError(f"The largest q-value is {self.max_q_value}; give one from 0 to 1.")


def read_imbalances(store: GraphStore, dataset: str, ranking: Ranking) -> pd.DataFrame:
    """Read the top imbalances, with the columns of `imbalance_table`.

    The database filters, sorts and cuts; by ``gap``, largest first, it reads them off an index,
    in a time that hardly depends on how many cliques there are.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    UnknownNameError
        No such column, class or concept.
    """
    parameters: dict[str, Any] = {
        "dataset": dataset,
        "class": ranking.class_name,
        "max_q_value": ranking.max_q_value,
        "limit": ranking.limit,
    }
    if ranking.min_size is not None:
        parameters["min_size"] = ranking.min_size
    if ranking.max_size is not None:
        parameters["max_size"] = ranking.max_size
    name = "imbalances-with-concepts" if ranking.concepts else "imbalances"
    if ranking.concepts:
        parameters["concepts"] = list(ranking.concepts)
    query, bound, state = bind_with_state(store, name, parameters)
    sizes = dict(state.mined_classes)
    by, by_class = _sort_column(ranking.by, list(sizes))
    text: Cypher = query.text
    if by != "gap" or not ranking.descending:
        text = statements.IMBALANCES_BY_ANYTHING
        bound |= {"by": by, "by_class": by_class, "descending": ranking.descending}
        bound.setdefault("concepts", [])
    return _as_table(store.read(text, **bound), sizes)


def _sort_column(by: str, classes: Sequence[str]) -> tuple[str, str | None]:
    """The property to sort by; for a count or rate, which rank alike, the class."""
    for prefix in (COUNT, RATE):
        if by.startswith(prefix) and by.removeprefix(prefix) in classes:
            return "count", by.removeprefix(prefix)
    numeric = [
        name
        for name in schema.CLIQUE.property_names
        if name not in ("digest", "concepts", "under_represented", "over_represented", "test")
    ]
    if by not in numeric:
        columns = [*numeric, *(prefix + name for prefix in (COUNT, RATE) for name in classes)]
        raise UnknownNameError("column to sort by", by, columns)
    return by, None


def _as_table(rows: list[dict[str, Any]], sizes: dict[str, int]) -> pd.DataFrame:
    counts = [dict(row["counts"]) for row in rows]
    columns: dict[str, list[Any]] = {
        "concepts": [tuple(row["concepts"]) for row in rows],
        "size": [row["size"] for row in rows],
    }
    for name in sizes:
        columns[COUNT + name] = [by_class[name] for by_class in counts]
    for name, images in sizes.items():
        columns[RATE + name] = [by_class[name] / images for by_class in counts]
    for name in ("gap", "over_represented", "under_represented", "lift", "log_odds_ratio"):
        columns[name] = [row[name] for row in rows]
    for name in ("log_odds_ratio_low", "log_odds_ratio_high", "p_value", "q_value", "test"):
        columns[name] = [row[name] for row in rows]
    return pd.DataFrame(columns)
