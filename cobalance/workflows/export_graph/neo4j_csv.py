"""The concept graph as CSV files for ``neo4j-admin database import``."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
import pandas as pd

from cobalance.graph.counting.cliques import Cliques
from cobalance.graph.diagnosis.imbalance import COUNT, imbalance_table
from cobalance.workflows.export_graph.tables import LEAN, GraphTables

ARRAY_DELIMITER = "\x1f"
"""Between the values of a list: names hold no control characters."""

_TYPES = {"i": "long", "u": "long", "f": "double", "b": "boolean"}


def neo4j_files(tables: GraphTables, dataset: str) -> dict[str, bytes]:
    """Return the content of each CSV file, by its name.

    Labels, edges and properties are those of docs/graph.md, and measures further properties.
    Headers name types; ids are of a space for each label, ``Concept``, ``Class`` and ``Clique``.
    Texts with quotes, commas or line ends are quoted, with quotes in them doubled; a value that is
    not defined is an empty cell, which the import takes for no property. ``counts`` are in the
    order of the classes' names.

    Parameters
    ----------
    dataset : str
        The property `dataset` of all nodes.
    """
    files = {
        "classes.csv": _node_file(
            "Class",
            pd.DataFrame({"name": list(tables.class_sizes), "images": tables.class_sizes.values()}),
            dataset,
        ),
        "concepts.csv": _node_file(
            "Concept", _pack_counts(tables.concepts).rename(columns={"concept": "name"}), dataset
        ),
        "concept_pairs.csv": _edge_file(
            "CO_OCCURS",
            _pack_counts(tables.pairs),
            ("concept_1", "Concept"),
            ("concept_2", "Concept"),
        ),
        "class_concepts.csv": _edge_file(
            "CO_OCCURS", tables.class_counts, ("class_name", "Class"), ("concept", "Concept")
        ),
    }
    return files if tables.cliques is None else files | _clique_files(tables.cliques, dataset)


def import_command(files: Iterable[str], folder: Path) -> str:
    """The command that imports the files into a new database.

    Examples
    --------
    >>> print(import_command(["classes.csv", "concept_pairs.csv"], Path("a b")))
    neo4j-admin database import full neo4j --array-delimiter=U+001F --nodes='a b/classes.csv' \
--relationships='a b/concept_pairs.csv'
    """
    words = ["neo4j-admin database import full neo4j --array-delimiter=U+001F"]
    for name in files:
        option = "--nodes" if name in _NODE_FILES else "--relationships"
        words.append(f"{option}={quote(str(folder / name))}")
    return " ".join(words)


_NODE_FILES = ("classes.csv", "concepts.csv", "cliques.csv")


def _clique_files(cliques: Cliques, dataset: str) -> dict[str, bytes]:
    """Nodes of the cliques, their members, and their counts in each class."""
    table = imbalance_table(cliques)[["concepts", "size", *LEAN]]
    ids = np.arange(1, len(cliques) + 1)
    rows, columns = np.nonzero(cliques.members >= 0)
    concepts = np.array(cliques.concepts, dtype=object)
    members = pd.DataFrame(
        {"clique": ids[rows], "concept": concepts[cliques.members[rows, columns]]}
    )
    counts = pd.DataFrame(
        {
            "clique": np.repeat(ids, len(cliques.classes)),
            "class_name": list(cliques.classes) * len(cliques),
            "images": cliques.counts.ravel(),
        }
    )
    table.insert(0, "number", ids)
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
    return _csv(frame, {key: f"{key}:ID({label})", ":LABEL": ":LABEL"})


def _edge_file(
    kind: str, frame: pd.DataFrame, start: tuple[str, str], end: tuple[str, str]
) -> bytes:
    headers = {start[0]: f":START_ID({start[1]})", end[0]: f":END_ID({end[1]})", ":TYPE": ":TYPE"}
    return _csv(frame.assign(**{":TYPE": kind}), headers)


def _csv(frame: pd.DataFrame, headers: Mapping[str, str]) -> bytes:
    """A frame as CSV; columns that `headers` lacks are headed by their name and type."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headers.get(name) or _header(name, frame[name]) for name in frame.columns)
    columns = [map(_cell, frame[name].astype(object)) for name in frame.columns]
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


def _header(name: str, column: "pd.Series[Any]") -> str:
    """The name of a property with its type: lists are of numbers in `counts`, else of texts."""
    if name in ("counts", "concepts"):
        return f"{name}:{'long' if name == 'counts' else 'string'}[]"
    kind = _TYPES.get(column.dtype.kind)
    return f"{name}:{kind}" if kind else name


def _cell(value: object) -> object:
    if isinstance(value, list | tuple):
        return ARRAY_DELIMITER.join(map(str, value))
    return None if pd.isna(value) else value  # type: ignore[call-overload]
