"""Read back what mining wrote: all cliques with their counts, or the imbalances at the top."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from graph.counting.cliques import Cliques
from graph.database import schema
from graph.database.store import GraphStore
from graph.dataset.clique_table import read_clique_table
from graph.dataset.mining import MiningOptions
from graph.dataset.state import DatasetState, dataset_state
from graph.diagnosis.imbalance import COUNT, RATE
from graph.errors import OptionError, UnknownNameError
from graph.queries.binding import bind_named
from graph.queries.catalogue.cliques import CLIQUE_RETURN, FILTER

# By anything but the gap the database looks at every clique.
_BY_ANYTHING = f"""
MATCH (q:Clique {{dataset: $dataset}})
WHERE all(name IN $concepts WHERE name IN q.concepts){FILTER}
WITH q, CASE WHEN $by_class IS NULL THEN toFloat(q[$by])
  ELSE toFloat([(q)-[n:COUNTED_IN]->(:Class {{name: $by_class}}) | n.images][0]) END AS value
WITH q, CASE WHEN $descending THEN -value ELSE value END AS rank
ORDER BY rank, q.size, q.concepts LIMIT $limit{CLIQUE_RETURN.replace("WITH q,", "WITH q, rank,")}
ORDER BY rank, size, concepts"""


@dataclass(frozen=True)
class Ranking:
    """Which imbalances to read, and in which order.

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


@dataclass(frozen=True)
class CliqueTotals:
    """How much mining found.

    Parameters
    ----------
    concepts, cliques, imbalanced : int
        Cliques of one concept; all cliques; those with a gap above 0.
    """

    concepts: int
    cliques: int
    imbalanced: int


def clique_totals(store: GraphStore, dataset: str) -> CliqueTotals:
    """Count the mined cliques.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    """
    dataset_state(store, dataset).require_mined()
    (row,) = store.read(
        "RETURN COUNT { MATCH (:Clique {dataset: $dataset, size: 1}) } AS concepts, "
        "COUNT { MATCH (:Clique {dataset: $dataset}) } AS cliques, "
        "COUNT { MATCH (q:Clique {dataset: $dataset}) WHERE q.gap > 0 } AS imbalanced",
        dataset=dataset,
    )
    return CliqueTotals(**row)


def mined_with(store: GraphStore, dataset: str) -> MiningOptions:
    """The options that the dataset's cliques were mined with.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    """
    return mining_of(dataset_state(store, dataset))


def mining_of(state: DatasetState) -> MiningOptions:
    """The options that the cliques were mined with that a dataset has in this state.

    Raises
    ------
    StaleError
        It has not been mined, or has changed since.
    """
    state.require_mined()
    return MiningOptions.from_json(state.mining or "{}")


def load_cliques(store: GraphStore, dataset: str, *, max_size: int | None = None) -> Cliques:
    """Read the mined cliques back with their counts, in the kernel's order.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    OptionError
        It was mined to a smaller size than `max_size`.
    """
    state = dataset_state(store, dataset)
    options = mining_of(state)
    if max_size is not None and max_size > options.max_size:
        raise OptionError(
            f"{dataset!r} was mined up to size {options.max_size}, not {max_size}. Run "
            f"`cobalance mine {quote(dataset)} --max-size {max_size}`."
        )
    cliques = read_clique_table(store, state, options.max_size)
    if max_size is None:
        return cliques
    kept = np.searchsorted(cliques.sizes(), max_size, side="right")  # they are in order of size
    return replace(cliques, members=cliques.members[:kept, :max_size], counts=cliques.counts[:kept])


def read_imbalances(store: GraphStore, dataset: str, ranking: Ranking) -> pd.DataFrame:
    """Read the imbalances at the top of a ranking, with the columns of `imbalance_table`.

    The database filters, sorts and cuts; by ``gap``, largest first, it reads them off an index,
    in a time that hardly depends on how many cliques there are.

    Raises
    ------
    StaleError
        The dataset has not been mined, or has changed since.
    UnknownNameError
        No such column, class or concept.
    """
    state = dataset_state(store, dataset)
    options, sizes = mining_of(state), dict(state.mined_classes)
    by, by_class = _sort_column(ranking.by, list(sizes))
    parameters: dict[str, Any] = {
        "dataset": dataset,
        "class": ranking.class_name,
        "min_size": ranking.min_size or 1,
        "max_size": ranking.max_size or options.max_size,
        "max_q_value": ranking.max_q_value,
        "limit": ranking.limit,
    }
    name = "imbalances-with-concepts" if ranking.concepts else "imbalances"
    if ranking.concepts:
        parameters["concepts"] = list(ranking.concepts)
    query, bound = bind_named(store, name, parameters)
    text = query.text
    if by != "gap" or not ranking.descending:
        text = _BY_ANYTHING
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
