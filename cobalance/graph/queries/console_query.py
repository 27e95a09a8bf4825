"""Run a saved query, or a free one that only reads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

import pandas as pd

from cobalance.graph.console import ConsoleResult, NodeValue, RelationshipValue, run_console_query
from cobalance.graph.database import GraphStore, describe_parameters
from cobalance.graph.queries.binding import bind_named
from cobalance.graph.queries.catalogue import CATALOGUE
from cobalance.graph.queries.nodes import name_of, read_node_names

MAX_EXACT = 2**53
"""Up to here a float has a value for every integer."""


@dataclass(frozen=True)
class ConsoleQuery:
    """A query to run on the graph.

    Parameters
    ----------
    text : str
        The name of a saved query, or Cypher.
    is_saved : bool
        Whether `text` is such a name.
    given : dict
        Its parameters.
    most_rows : int
        Limit of rows to show.
    timeout_s : float
        Time limit.
    """

    text: str
    is_saved: bool
    given: dict[str, Any]
    most_rows: int
    timeout_s: float

    def run(self, store: GraphStore) -> ConsoleResult:
        """Run it; see `run_console_query` and `bind_named` for the errors raised."""
        text, parameters = self.text, self.given
        if self.is_saved:
            limit = parameters.get("limit")
            if "limit" in CATALOGUE[text].parameters and limit in (None, self.most_rows):
                # One row more than is shown tells that there are more.
                parameters = {**parameters, "limit": self.most_rows + 1}
            query, parameters = bind_named(store, self.text, parameters)
            text = query.text

        return run_console_query(
            store.console_drivers,
            store.database,
            text,
            parameters,
            timeout_s=self.timeout_s,
            max_rows=self.most_rows,
        )


def names_in(store: GraphStore, result: ConsoleResult) -> dict[str, str]:
    """Read the names of a result's nodes and of the other ends of its relationships, by id."""
    names, ends = dict[str, str](), dict[str, None]()
    remaining: list[Any] = [value for row in result.rows for value in row]
    while remaining:
        value = remaining.pop()
        match value:
            case NodeValue():
                names[value["id"]] = name_of(value["labels"], value["properties"])
            case RelationshipValue():
                ends |= dict.fromkeys((value["start"], value["end"]))
            case list():
                remaining.extend(value)
            case dict():
                remaining.extend(value.values())

    return names | read_node_names(store, [end for end in ends if end not in names])


def result_frame(result: ConsoleResult) -> pd.DataFrame:
    """A result as a frame, see `answer_frame`; ``frame.attrs["truncated"]``: rows are missing."""
    frame = answer_frame(result.columns, result.rows)
    frame.attrs["truncated"] = result.truncated
    return frame


def answer_frame(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """A query's rows as a frame whose numbers keep all of their digits.

    Returns
    -------
    pandas.DataFrame
        Columns of booleans, of integers (``Int64`` beside null), of numbers, or of objects, which
        are the values as they came. Integers beyond `MAX_EXACT` beside a float are objects, too,
        and so are floats where the query gave both null and NaN.

    Examples
    --------
    >>> frame = answer_frame(["id", "share"], [(2**60 + 1, 0.5), (None, 1)])
    >>> frame["id"].tolist(), frame["share"].tolist()
    ([1152921504606846977, <NA>], [0.5, 1.0])
    """
    values = [[row[position] for row in rows] for position in range(len(columns))]
    return pd.DataFrame(dict(zip(columns, map(_column, values), strict=True)), columns=[*columns])


def _column(values: list[Any]) -> "pd.Series[Any]":
    """The values in the narrowest type that holds each of them as it is."""
    kinds = set(map(type, values))
    has_null = NoneType in kinds
    kinds -= {NoneType}

    if kinds == {bool}:
        return pd.Series(values, dtype="boolean" if has_null else "bool")
    if kinds == {int}:
        return pd.Series(values, dtype="Int64" if has_null else "int64")
    if kinds and kinds <= {int, float} and all(map(_is_exact_float, values)):
        has_nan = any(value is not None and math.isnan(value) for value in values)
        if not (has_null and has_nan):
            return pd.Series(values, dtype="float64")

    return pd.Series(values, dtype=object)


def _is_exact_float(value: float | None) -> bool:
    return not isinstance(value, int) or abs(value) <= MAX_EXACT


def search_saved(words: str) -> list[str]:
    """The names of the saved queries that all of these words stand in, best first.

    A query's name counts more than its purpose, and that more than its Cypher; case does not
    matter. Those that count images by themselves come last, as they are slow.

    Examples
    --------
    >>> search_saved("Weakest CHAIN")
    ['shortest-link']
    """
    searched = words.casefold().split()
    ranks = dict[str, tuple[int, bool, str]]()
    for name, query in CATALOGUE.items():
        texts = (name, f"{name} {query.purpose}", f"{name} {query.purpose} {query.text}")
        matches = [all(word in text.casefold() for word in searched) for text in texts]
        if any(matches):
            ranks[name] = matches.index(True), query.scans_images, name
    return sorted(ranks, key=ranks.__getitem__)


def saved_queries() -> pd.DataFrame:
    """List the query catalogue as a table: name, parameters, question answered."""
    return pd.DataFrame(
        [(name, describe_parameters(query), query.purpose) for name, query in CATALOGUE.items()],
        columns=["query", "parameters", "answers"],
    )
