"""The concept graph as CSV files for ``neo4j-admin database import``."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import text_if
from cobalance.counting import Cliques
from cobalance.statistics import COUNT, imbalance_table
from cobalance.workflows.export_graph.tables import LEAN, GraphTables

ARRAY_DELIMITER = "\x1f"
"""Between the values of a list: names hold no control characters."""

_TYPES = {
    frozenset({bool}): ":boolean",
    frozenset({int}): ":long",
    frozenset({int, float}): ":double",
}


def neo4j_files(tables: GraphTables, dataset: str) -> dict[str, bytes]:
    """Return the content of each CSV file, by its name.

    Labels, edges and properties are those of docs/graph.md, and measures further properties.
    Headers name types; ids are of a space for each label, ``Concept``, ``Class`` and ``Clique``.
    Texts are quoted, with quotes in them doubled; a value that is not defined (missing, or no
    finite number) is an empty cell, which the import takes for no property. ``counts`` are in the
    order of the classes' names.

    Parameters
    ----------
    dataset : str
        The property `dataset` of all nodes.
    """
    classes = pd.DataFrame(
        {"name": list(tables.class_sizes), "images": tables.class_sizes.values()}
    )
    concepts = _pack_counts(tables.concepts).rename(columns={"concept": "name"})
    pairs, of_classes = _pack_counts(tables.pairs), tables.class_counts
    start, end = ("concept_1", "Concept"), ("concept_2", "Concept")
    class_, concept = ("class_name", "Class"), ("concept", "Concept")

    files = {
        "classes.csv": _node_file("Class", classes, dataset),
        "concepts.csv": _node_file("Concept", concepts, dataset),
        "concept_pairs.csv": _edge_file("CO_OCCURS", pairs, start, end),
        "class_concepts.csv": _edge_file("CO_OCCURS", of_classes, class_, concept),
    }
    if tables.cliques is not None:
        files |= _clique_files(tables.cliques, dataset)
    return files


def import_command(files: Iterable[str], folder: Path) -> str:
    """The command that imports the files into a new database.

    Examples
    --------
    >>> print(import_command(["classes.csv", "concept_pairs.csv"], Path("a b")))
    neo4j-admin database import full neo4j --array-delimiter=U+001F --multiline-fields=true \
--nodes='a b/classes.csv' --relationships='a b/concept_pairs.csv'
    """
    words = [
        "neo4j-admin database import full neo4j --array-delimiter=U+001F --multiline-fields=true"
    ]
    for name in files:
        option = "--nodes" if name in _NODE_FILES else "--relationships"
        words.append(f"{option}={quote(str(folder / name))}")
    return " ".join(words)


_NODE_FILES = ("classes.csv", "concepts.csv", "cliques.csv")


def _clique_files(cliques: Cliques, dataset: str) -> dict[str, bytes]:
    """Nodes of the cliques, their members, and their counts in each class."""
    table = imbalance_table(cliques)[["concepts", "size", *LEAN]]
    ids = np.arange(1, len(cliques) + 1)
    table.insert(0, "number", ids)

    rows, columns = np.nonzero(cliques.members >= 0)
    concepts = np.array(cliques.concepts, dtype=object)[cliques.members[rows, columns]]
    members = pd.DataFrame({"clique": ids[rows], "concept": concepts})
    counts = pd.DataFrame(
        {
            "clique": np.repeat(ids, len(cliques.classes)),
            "class_name": list(cliques.classes) * len(cliques),
            "images": cliques.counts.ravel(),
        }
    )

    clique = ("clique", "Clique")
    return {
        "cliques.csv": _node_file("Clique", table, dataset),
        "clique_concepts.csv": _edge_file("HAS", members, clique, ("concept", "Concept")),
        "clique_counts.csv": _edge_file("COUNTED_IN", counts, clique, ("class_name", "Class")),
    }


def _pack_counts(frame: pd.DataFrame) -> pd.DataFrame:
    """Pack the counts by class into one list column: class names cannot be headers."""
    names = [name for name in frame.columns if str(name).startswith(COUNT)]
    packed = frame.drop(columns=names)
    packed["counts"] = pd.Series(frame[names].to_numpy().tolist(), frame.index, dtype=object)
    return packed


def _node_file(label: str, frame: pd.DataFrame, dataset: str) -> bytes:
    key = str(frame.columns[0])
    frame = frame.assign(dataset=dataset, **{":LABEL": label})
    return _csv(frame, {key: f"{key}:{_id('ID', label)}", ":LABEL": ":LABEL"})


def _edge_file(
    kind: str, frame: pd.DataFrame, start: tuple[str, str], end: tuple[str, str]
) -> bytes:
    headers = {
        start[0]: f":{_id('START_ID', start[1])}",
        end[0]: f":{_id('END_ID', end[1])}",
        ":TYPE": ":TYPE",
    }
    return _csv(frame.assign(**{":TYPE": kind}), headers)


def _id(role: str, label: str) -> str:
    """The type of a column of ids; as a property, too, an id is a text unless the header says."""
    kind = text_if(label == "Clique", "{id-type: long}")
    return f"{role}({label}){kind}"


def _csv(frame: pd.DataFrame, headers: Mapping[str, str]) -> bytes:
    """A frame as CSV; columns that `headers` lacks are headed by their name and type."""
    header, columns = [], []
    for name in frame.columns:
        values = list(map(_plain_value, frame[name].astype(object)))
        header.append(headers.get(str(name)) or f"{name}{_type_of(values)}")
        columns.append(values)
    rows = [header, *zip(*columns, strict=True)]
    return "".join(f"{','.join(map(_cell, row))}\n" for row in rows).encode()


def _plain_value(value: Any) -> Any:
    """A value of Python's own types; None for one that is missing, or no finite number."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        parts = list(map(_plain_value, value))
        return None if None in parts else parts
    is_infinite = isinstance(value, float) and not math.isfinite(value)
    return None if is_infinite or pd.isna(value) else value


def _type_of(values: Sequence[Any]) -> str:
    """Return the type at the end of a header: that of the values, empty for texts."""
    lists = [value for value in values if isinstance(value, list)]
    if lists:
        parts = list(chain.from_iterable(lists))
        return f"{_type_of(parts) or ':string'}[]"
    kinds = set(map(type, values)) - {type(None)}
    return next((name for types, name in _TYPES.items() if kinds and kinds <= types), "")


def _cell(value: Any) -> str:
    """A value as the import reads it: texts quoted, as an empty one else is no property."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return _text(value)
    parts = value if isinstance(value, list) else [value]
    text = ARRAY_DELIMITER.join(map(_text, parts))
    return '"{}"'.format(text.replace('"', '""'))


def _text(value: Any) -> str:
    """A value without quotes: the import takes any boolean but ``true`` for false."""
    return str(value).lower() if isinstance(value, bool) else str(value)
