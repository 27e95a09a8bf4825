"""Results of a console query as a table, a graph, and cliques to select."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from app.concept_graph.beeswarm import edge_widths_px, node_sizes_px
from app.concept_graph.colors import NEUTRAL, class_colors
from app.concept_graph.elements import GraphEdge, GraphNode, GraphPicture
from app.concept_graph.overview import label_widths_px, node_id
from app.concept_graph.radial import radial_layout
from app.views.state.url import Clique
from app.views.widgets.theme import shorten
from graph.console.run import ConsoleResult
from graph.queries.neighbourhood import Kind

MOST_NODES = 80  # in a picture
PLAN_COLUMNS = ("operator", "details")  # the first columns of a plan, which need room
_WEIGHTS = ("images", "count", "gap", "n")  # columns and properties that say how strong a link is
_PAIRS = (("concept_1", "concept_2"), ("concept", "neighbour"), ("start", "end"))


def as_frame(result: ConsoleResult) -> pd.DataFrame:
    """A result as a frame that a table, CSV and Parquet can hold.

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
        name: _column([row[position] for row in result.rows])
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
    if kinds != {list} or not all(_is_names(value) for value in values if value is not None):
        values = [value if isinstance(value, str | None) else _to_json(value) for value in values]
    return pd.Series(values, dtype=object)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_table(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A frame from `as_frame` and the configuration of its columns, for `st.dataframe`.

    A list of pairs, such as images of each class, becomes "country 30 · urban 10". Spaces at the
    start of a text, by which the steps of a plan are set in, stay visible.
    """
    shown, configuration = frame.copy(), dict[str, Any]()
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            whole = bool((column.dropna() % 1 == 0).all())
            configuration[name] = st.column_config.NumberColumn(
                format="localized" if whole else "%.4g"
            )
        elif column.map(_is_names).any():
            configuration[name] = st.column_config.ListColumn(width="medium")
        elif column.dtype == object:
            shown[name] = column.map(_pairs_in_words)
            if not shown[name].equals(column):
                configuration[name] = st.column_config.TextColumn(width=260)
            shown[name] = shown[name].map(_set_in)
    if tuple(frame.columns[:2]) == PLAN_COLUMNS:
        for name, width in zip(PLAN_COLUMNS, (230, 420), strict=True):
            configuration[name] = st.column_config.TextColumn(width=width)
    return shown, configuration


def _pairs_in_words(text: Any) -> Any:
    if not (isinstance(text, str) and text.startswith("[[")):
        return text
    try:
        pairs = json.loads(text)
    except ValueError:
        return text
    if not all(isinstance(pair, list) and [*map(type, pair)] == [str, int] for pair in pairs):
        return text
    return " · ".join(f"{name} {count:,}" for name, count in pairs)


def _set_in(text: Any) -> Any:
    """A text whose leading spaces are shown, as no-break spaces."""
    if not (isinstance(text, str) and text.startswith(" ")):
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
    named = (row[position] for row in result.rows)
    return list(dict.fromkeys(tuple(sorted(set(n))) for n in named if n and _is_names(n)))


@dataclass
class Elements:
    """The nodes and links that a result speaks of, each once, in the order of its rows."""

    nodes: dict[str, tuple[str, Kind, str]] = field(default_factory=dict)
    """Label, kind and description by id."""
    links: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)
    """Weight and description by the ids of both ends."""

    def __bool__(self) -> bool:
        return bool(self.links)

    def add(self, name: str, kind: Kind = "concept") -> str:
        """Add a concept or class; return its id."""
        self.nodes.setdefault(node_id(name, kind), (name, kind, ""))
        return node_id(name, kind)

    def link(self, start: str, end: str, weight: float, description: str) -> None:
        """Add a link, or keep the stronger of two between the same nodes."""
        key = (start, end) if (end, start) not in self.links else (end, start)
        if start != end and weight >= self.links.get(key, (-np.inf, ""))[0]:
            self.links[key] = weight, description


def elements_in(
    result: ConsoleResult, classes: Iterable[str] = (), concept: str | None = None
) -> Elements:
    """Find the nodes and links of a result: those of the graph, or names in known columns.

    Names are those in the columns of the saved queries: ``concepts``, which are linked with each
    other, ``concept_1`` and ``concept_2``, ``start`` and ``end``, ``class`` and ``concept``.

    Parameters
    ----------
    classes : iterable of str
        The names of classes, for columns that hold classes and concepts.
    concept : str, optional
        The concept that the query asks about, and that a column ``concept`` is linked with.
    """
    found = Elements()
    known = frozenset(classes)
    for row in result.rows:
        for value in row:
            _collect(value, found)
    if found:
        return found
    for row in result.rows:
        _collect_names(dict(zip(result.columns, row, strict=True)), found, known, concept)
    return found


def _collect(value: Any, found: Elements) -> None:
    """Collect the graph elements of a value, see `graph.console.values.PlainValues.of`."""
    if isinstance(value, list):
        for item in value:
            _collect(item, found)
    elif not isinstance(value, dict):
        return
    elif value.keys() == {"id", "labels", "properties"}:
        kind: Kind = "class" if "Class" in value["labels"] else "concept"
        label = _label(value["properties"], value["labels"])
        labels = ":".join(["", *value["labels"]])
        described = "\n".join([labels, *_lines(value["properties"])])
        found.nodes[value["id"]] = label, kind, described
    elif value.keys() == {"id", "type", "start", "end", "properties"}:
        for end in (value["start"], value["end"]):
            found.nodes.setdefault(end, ("not returned", "concept", ""))
        described = "\n".join([value["type"], *_lines(value["properties"])])
        found.link(value["start"], value["end"], _weight(value["properties"])[0], described)
    else:
        for item in value.values():
            _collect(item, found)


def _label(properties: Mapping[str, Any], labels: Sequence[str]) -> str:
    for name in ("name", "id"):
        if isinstance(properties.get(name), str):
            return str(properties[name])
    if _is_names(properties.get("concepts")):
        return " + ".join(properties["concepts"])
    return " ".join(labels)


def _lines(properties: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}: {shorten(value if isinstance(value, str) else _to_json(value), 80)}"
        for name, value in properties.items()
        if name not in ("dataset", "digest")
    ]


def _weight(values: Mapping[str, Any]) -> tuple[float, str]:
    """Weight of a link, as a number and in words."""
    for name in _WEIGHTS:
        value = values.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
            return float(value), f"{name}: {value:,}"
    return 1.0, ""


def _collect_names(
    row: Mapping[str, Any], found: Elements, classes: frozenset[str], concept: str | None
) -> None:
    weight = _weight(row)
    members = row.get("concepts")
    if _is_names(members):
        nodes = [found.add(name) for name in members or ()]
        for start, end in combinations(nodes, 2):
            found.link(start, end, *weight)
    for first, second in _PAIRS:
        a, b = row.get(first), row.get(second)
        if isinstance(a, str) and isinstance(b, str):
            kind: Kind = "class" if first == "start" and a in classes else "concept"
            found.link(found.add(a, kind), found.add(b), *weight)
    one, class_name = row.get("concept"), row.get("class")
    if isinstance(one, str) and isinstance(class_name, str):
        found.link(found.add(class_name, "class"), found.add(one), *weight)
    elif isinstance(one, str) and "neighbour" not in row and concept is not None:
        found.link(found.add(concept), found.add(one), *weight)


def picture_of(found: Elements, classes: Sequence[str]) -> GraphPicture:
    """Place up to `MOST_NODES` nodes on rings around the one with most links.

    Classes, and links with them, have the colours that they have everywhere; concepts are neutral.
    """
    ids = list(found.nodes)[:MOST_NODES]
    code_of = {node: code for code, node in enumerate(ids)}
    links = [
        (code_of[a], code_of[b], *told)
        for (a, b), told in found.links.items()
        if a in code_of and b in code_of
    ]
    ends = np.array([link[:2] for link in links], dtype=np.int64).reshape(-1, 2)
    degree = np.bincount(ends.ravel(), minlength=len(ids))
    sizes_px = node_sizes_px(degree + 1)
    labels = [found.nodes[node][0] for node in ids]
    sides = dict(zip(sorted(classes), (-1.0, 1.0), strict=False)) if len(classes) == 2 else {}
    lean = [
        sides.get(found.nodes[node][0], 0.0) if found.nodes[node][1] == "class" else 0.0
        for node in ids
    ]
    places = radial_layout(ends, lean, sizes_px, label_widths_px(labels)).tolist()
    by_name = class_colors(classes)
    colors = [
        by_name.get(label) if found.nodes[node][1] == "class" else None
        for node, label in zip(ids, labels, strict=True)
    ]
    nodes = [
        GraphNode(
            node, label, found.nodes[node][1], x, y, size, 0.0, found.nodes[node][2], color=color
        )
        for node, label, (x, y), size, color in zip(
            ids, labels, places, sizes_px.tolist(), colors, strict=True
        )
    ]
    widths = edge_widths_px([weight for _, _, weight, _ in links]).tolist()
    edges = [
        GraphEdge(ids[a], ids[b], width, 0.0, description, colors[a] or colors[b])
        for (a, b, _, description), width in zip(links, widths, strict=True)
    ]
    return GraphPicture(nodes, edges, NEUTRAL, NEUTRAL)
