"""Results of a console query as a table, and the cliques in it to select."""

from collections.abc import Mapping
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import Any

import pandas as pd
import streamlit as st

from cobalance.app.web.state import Clique
from cobalance.app.web.widgets import shorten, text_column
from cobalance.graph import (
    MAX_EXACT,
    ConsoleResult,
    NodeValue,
    PathValue,
    RelationshipValue,
    answer_frame,
    name_of,
)
from cobalance.workflows import cell_text, is_interval, json_text

# Properties that say nothing to people.
HIDDEN = ("dataset", "digest")
# The first columns of a plan, which need room.
PLAN_COLUMNS = ("operator", "details")


def as_frame(
    result: ConsoleResult, names: Mapping[str, str] = MappingProxyType({})
) -> pd.DataFrame:
    """A result as a frame that a table, CSV and Parquet can hold.

    `names` are those of nodes by element id, for the ends of relationships: ids are left out.

    Returns
    -------
    pandas.DataFrame
        Each column is of numbers, of booleans, of texts, or of lists of texts, with None
        where the query gave null. What is none of these, such as nodes and maps, is JSON text.

    Examples
    --------
    >>> result = ConsoleResult(("n", "of"), [(1, {"a": 2}), (None, [3])], False, 0.1)
    >>> as_frame(result).to_dict("list")
    {'n': [1, None], 'of': ['{"a": 2}', '[3]']}
    """
    rows = [without_ids(list(row), names) for row in result.rows]
    frame = answer_frame(result.columns, rows)
    for name, column in frame.items():
        holds_lists = all(is_names(value) for value in column if value is not None)
        if column.dtype == object and not holds_lists:
            frame[name] = pd.Series(map(_text_or_json, column), dtype=object)
    return frame


def _text_or_json(value: Any) -> str | None:
    return value if isinstance(value, str | None) else json_text(value)


def without_ids(value: Any, names: Mapping[str, str]) -> Any:
    """A value of a result with names in the place of the database's own ids."""
    match value:
        case NodeValue():
            return NodeValue(labels=value["labels"], properties=value["properties"])
        case RelationshipValue():
            return RelationshipValue(
                type=value["type"],
                start=names.get(value["start"], "not returned"),
                end=names.get(value["end"], "not returned"),
                properties=value["properties"],
            )
        case dict():
            # A path is a dictionary of its own type, and stays one.
            return type(value)((key, without_ids(item, names)) for key, item in value.items())
        case list():
            return [without_ids(item, names) for item in value]
    return value


def is_names(value: Any) -> bool:
    """Whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def as_table(
    result: ConsoleResult, names: Mapping[str, str] = MappingProxyType({})
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A result as a frame for people, and the configuration of its columns for `st.dataframe`.

    A list of pairs, such as images of each class, becomes "country 30 · urban 10"; an interval
    becomes "[0.001, 0.050]", and a node "cow · Concept · images: 12". Spaces at the start of a
    text, by which the steps of a plan are set in, stay visible.
    """
    frame = as_frame(result, names)
    configuration: dict[str, Any] = {}
    for position, name in enumerate(frame.columns):
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            if column.dropna().between(-MAX_EXACT, MAX_EXACT).all():
                configuration[name] = _number_format(column)
            else:
                # A browser cannot hold such numbers exactly: they go as texts.
                frame[name] = _number_texts(column)

        elif column.map(is_names).any():
            configuration[name] = st.column_config.ListColumn(width="medium")

        elif column.dtype == object:
            # Words are made from the result: the frame has nodes, links and pairs as JSON.
            texts = [_in_words(without_ids(row[position], names)) for row in result.rows]
            if texts != column.tolist():
                configuration[name] = text_column(width=260)
            frame[name] = pd.Series(map(_keep_indent, texts), dtype=object)

    if tuple(frame.columns[:2]) == PLAN_COLUMNS:
        for name, width in zip(PLAN_COLUMNS, (230, 420), strict=True):
            configuration[name] = text_column(width=width)
    return frame, configuration


def _number_format(column: pd.Series) -> Any:
    is_whole = bool((column.dropna() % 1 == 0).all())
    return st.column_config.NumberColumn(format="localized" if is_whole else "%.4g")


def _number_texts(column: pd.Series) -> pd.Series:
    form = "{:,}" if column.dtype.kind == "i" else "{:.4g}"
    texts = [None if pd.isna(number) else form.format(number) for number in column]
    return pd.Series(texts, dtype=object)


def _in_words(value: Any) -> str | None:
    """A value as people read it; as JSON where it has no words."""
    match value:
        case str() | None:
            return value
        case NodeValue():
            name = name_of(value["labels"], value["properties"])
            rest = {key: item for key, item in value["properties"].items() if item != name}
            return " · ".join([name, *value["labels"], *lines_of(rest)])
        case RelationshipValue():
            link = f"{value['start']} \u2192 {value['end']}"
            return " · ".join([link, value["type"], *lines_of(value["properties"])])
        case PathValue():
            nodes = [name_of(node["labels"], node["properties"]) for node in value["nodes"]]
            types = [f" \u2013 {link['type']} \u2013 " for link in value["relationships"]]
            return "".join(chain.from_iterable(zip_longest(nodes, types, fillvalue="")))
        case list() if is_interval(value):
            return cell_text(value)
        case list() if all(map(_is_count, value)):
            return " · ".join(f"{name} {count:,}" for name, count in value)
    return json_text(value)


def _is_count(value: Any) -> bool:
    """Whether a value is a name and a count, such as images of a class."""
    return isinstance(value, list) and [*map(type, value)] == [str, int]


def _keep_indent(text: str | None) -> str | None:
    """A text with its leading spaces as no-break spaces, which tables show."""
    if not text:
        return text
    rest = text.lstrip(" ")
    return "\N{NO-BREAK SPACE}" * (len(text) - len(rest)) + rest


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
    values = [row[position] for row in result.rows]
    cliques = [tuple(sorted(set(value))) for value in values if value and is_names(value)]
    return list(dict.fromkeys(cliques))


def lines_of(properties: Mapping[str, Any]) -> list[str]:
    """Properties as lines of text, without internal ones."""
    lines = []
    for name, value in properties.items():
        if name not in HIDDEN:
            text = value if isinstance(value, str) else json_text(value)
            lines.append(f"{name}: {shorten(text, 80)}")
    return lines
