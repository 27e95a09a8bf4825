"""Results of a console query as a table, and the cliques in it to select."""

import json
from collections.abc import Mapping
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.state.url import Clique
from cobalance.app.web.widgets.theme import shorten
from cobalance.graph.console.run import ConsoleResult
from cobalance.graph.queries.nodes import name_of
from cobalance.workflows.cells import cell_text, is_interval

NODE = {"id", "labels", "properties"}
RELATIONSHIP = {"id", "type", "start", "end", "properties"}
"""The keys of nodes and relationships, see `cobalance.graph.console.values.PlainValues.of`."""
HIDDEN = ("dataset", "digest")  # properties that say nothing to people
PLAN_COLUMNS = ("operator", "details")  # the first columns of a plan, which need room


def as_frame(
    result: ConsoleResult, names: Mapping[str, str] = MappingProxyType({})
) -> pd.DataFrame:
    """A result as a frame that a table, CSV and Parquet can hold.

    `names` are those of nodes by element id, for the ends of relationships: ids are left out.

    Returns
    -------
    pandas.DataFrame
        Each column is of numbers, of booleans, of texts, or of lists of texts, with None where
        the query gave null. What is none of these, such as nodes and maps, is JSON text.

    Examples
    --------
    >>> result = ConsoleResult(("n", "of"), [(1, {"a": 2}), (None, [3])], False, 0.1)
    >>> as_frame(result).to_dict("list")
    {'n': [1, None], 'of': ['{"a": 2}', '[3]']}
    """
    columns = {
        name: _column([without_ids(row[position], names) for row in result.rows])
        for position, name in enumerate(result.columns)
    }
    return pd.DataFrame(columns, columns=list(result.columns))


def _column(values: list[Any]) -> "pd.Series[Any]":
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pd.Series(values, dtype="boolean")
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values if value is not None):
        return pd.Series(values, dtype="Int64")
    if kinds and kinds <= {int, float}:
        return pd.Series(values, dtype="float64")
    if kinds != {list} or not all(is_names(value) for value in values if value is not None):
        values = [value if isinstance(value, str | None) else _to_json(value) for value in values]
    return pd.Series(values, dtype=object)


def without_ids(value: Any, names: Mapping[str, str]) -> Any:
    """A value of a result with names in the place of the database's own ids."""
    if isinstance(value, list):
        return [without_ids(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == NODE:
        shown = {key: one for key, one in value["properties"].items() if key != "digest"}
        return {"labels": value["labels"], "properties": shown}
    if value.keys() == RELATIONSHIP:
        start, end = (names.get(value[place], "not returned") for place in ("start", "end"))
        kept = {"type": value["type"], "start": start, "end": end}
        return {**kept, "properties": value["properties"]}
    return {key: without_ids(item, names) for key, item in value.items()}


def is_names(value: Any) -> bool:
    """Whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_table(
    result: ConsoleResult, names: Mapping[str, str] = MappingProxyType({})
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A result as a frame for people, and the configuration of its columns for `st.dataframe`.

    A list of pairs, such as images of each class, becomes "country 30 · urban 10"; an interval
    becomes "[0.001, 0.050]", and a node "cow · Concept · images: 12". Spaces at the start of a
    text, by which the steps of a plan are set in, stay visible.
    """
    frame, configuration = as_frame(result, names), dict[str, Any]()
    for position, name in enumerate(frame.columns):
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            whole = bool((column.dropna() % 1 == 0).all())
            configuration[name] = st.column_config.NumberColumn(
                format="localized" if whole else "%.4g"
            )
        elif column.map(is_names).any():
            configuration[name] = st.column_config.ListColumn(width="medium")
        elif column.dtype == object:
            texts = [_in_words(without_ids(row[position], names)) for row in result.rows]
            if texts != column.tolist():
                configuration[name] = st.column_config.TextColumn(width=260)
            frame[name] = pd.Series(map(_keep_indent, texts), dtype=object)
    if tuple(frame.columns[:2]) == PLAN_COLUMNS:
        for name, width in zip(PLAN_COLUMNS, (230, 420), strict=True):
            configuration[name] = st.column_config.TextColumn(width=width)
    return frame, configuration


def _in_words(value: Any) -> str | None:
    """A value as people read it; as JSON where it has no words."""
    if isinstance(value, str | None):
        return value
    if isinstance(value, list):
        if is_interval(value):
            return cell_text(value)
        if all(isinstance(pair, list) and [*map(type, pair)] == [str, int] for pair in value):
            return " · ".join(f"{name} {count:,}" for name, count in value)
    elif isinstance(value, dict):
        if value.keys() == {"labels", "properties"}:
            name = name_of(value["labels"], value["properties"])
            rest = {key: one for key, one in value["properties"].items() if one != name}
            return " · ".join([name, *value["labels"], *lines_of(rest)])
        if value.keys() == {"type", "start", "end", "properties"}:
            link = f"{value['start']} \u2192 {value['end']}"
            return " · ".join([link, value["type"], *lines_of(value["properties"])])
        if value.keys() == {"nodes", "relationships"}:
            nodes = [name_of(node["labels"], node["properties"]) for node in value["nodes"]]
            types = [f" \u2013 {link['type']} \u2013 " for link in value["relationships"]]
            return "".join(
                part for pair in zip_longest(nodes, types, fillvalue="") for part in pair
            )
    return _to_json(value)


def _keep_indent(text: str | None) -> str | None:
    """A text with its leading spaces as no-break spaces, which tables show."""
    rest = (text or "").lstrip(" ")
    return text and "\N{NO-BREAK SPACE}" * (len(text) - len(rest)) + rest


def cliques_in(result: ConsoleResult) -> list[Clique]:
    """The cliques that a result names: the lists of texts in its column ``concepts``.

    Examples
    --------
    >>> cliques_in(ConsoleResult(("concepts",), [(["cow", "alley"],), ([],)], False, 0.1))
    [('alley', 'cow')]
    """
    if "concepts" not in result.columns:
        return []
    position = result.columns.index("concepts")
    named = (row[position] for row in result.rows)
    return list(dict.fromkeys(tuple(sorted(set(n))) for n in named if n and is_names(n)))


def lines_of(properties: Mapping[str, Any]) -> list[str]:
    """Properties as lines of text, without internal ones."""
    return [
        f"{name}: {shorten(value if isinstance(value, str) else _to_json(value), 80)}"
        for name, value in properties.items()
        if name not in HIDDEN
    ]
