"""Croissant: JSON-LD about a dataset, its tables, and the columns of its records' fields.

https://docs.mlcommons.org/croissant/docs/croissant-spec.html
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base import Progress, decode_json
from cobalance.ingest.frames import TEXT
from cobalance.ingest.outline import outline_of
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.data_frame import load_frame
from cobalance.ingest.tables.guesses import USUAL_NAMES, normal_name
from cobalance.ingest.tables.loading import Table
from cobalance.ingest.trees import open_tree

_FAULTS = (ValueError, LookupError, TypeError, AttributeError, pa.ArrowException)
_IMAGES = {*USUAL_NAMES["id"], *USUAL_NAMES["uri"]}
_Source = tuple[str, str, list[dict[str, str]]]  # files, column, steps from it to a field's values


@dataclass(frozen=True)
class Croissant:
    """The first records whose fields are columns of tables, called as the fields are."""

    load_table: Callable[[Path, Problems, Progress], Table]
    description: str = "Croissant: JSON-LD that describes tables beside it"

    def detects(self, path: Path, head: bytes) -> bool:
        """Whether it is JSON of Croissant's vocabulary, or with its lists of files and records."""
        if b"//mlcommons.org/croissant/" in head:
            return head.lstrip().startswith(b"{")
        return outline_of(path).has("/@context", "/distribution", "/recordSet")

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load the tables, which lie beside the file, and join the ones that a field refers to."""
        try:
            about = decode_json(path.read_bytes())
            files = {file["@id"]: file for file in about["distribution"]}
            fields, joins = _read_fields(about["recordSet"])
            main, *others = dict.fromkeys(file for file, *_ in fields.values() if file not in joins)
            if others:
                raise ValueError(f"its records join {', '.join([main, *others])}")
            rows = self._load(files[main], path, problems, progress)

            # Columns that no field describes keep their names.
            described = {column for _, column, _ in fields.values()}
            columns: dict[str, Any] = {}
            for column in map(str, rows):
                name = column.removeprefix(f"{main}/")
                if column not in described and not name.startswith("/"):
                    columns[name] = rows[column]
            # Ids of several files number the rows of each of them.
            if "image_id" in columns and "includes" in files[main]:
                columns["image_id"] = rows[f"{main}//fullpath"] + "/" + columns["image_id"]

            for file, (key, column) in joins.items():
                joined = self._load(files[file], path, problems, progress)
                keys = rows.assign(key=_values(rows, *key))
                rows = keys.merge(joined, "left", left_on="key", right_on=column, validate="m:1")
            columns |= {
                name: _values(rows, *source) for name, source in fields.items() if source[1] in rows
            }
        except _FAULTS as error:
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            reason = f"describes no table that can be read ({kind}{error})"
            raise problems.fatal(reason[:300], "Name the files of its records.") from None
        return load_frame(pd.DataFrame(columns), problems)

    def _load(self, file: Any, path: Path, problems: Problems, progress: Progress) -> pd.DataFrame:
        """Rows of a file or of a set of files; names of columns have its id before them."""
        parts = list[pd.DataFrame]()
        with open_tree(path.parent) as tree:
            for name in _find_files(file, tree.names):
                with tree.local(name) as local:
                    table = self.load_table(local, problems.beside(str(local)), progress)
                frame = pa.table(table.columns).to_pandas()
                path_names = {"/fullpath": name, "/filename": PurePosixPath(name).name}
                parts.append(frame.assign(**path_names))
                problems.within("rows", sum(map(len, parts)))

        if not parts:
            source = str(file.get("contentUrl") or file["includes"])[:200]
            reason, remedy = f"describes {source}, which is not beside it", "Download that, too."
            raise problems.fatal(reason, remedy)
        return pd.concat(parts, ignore_index=True).add_prefix(f"{file['@id']}/")


def _find_files(file: Mapping[str, Any], names: list[str]) -> list[str]:
    """Paths that patterns match, or that of the file with an address, or else its name."""
    if (patterns := file.get("includes")) is not None:
        listed = [patterns] if isinstance(patterns, str) else patterns
        matches = [name for name in names if any(map(partial(fnmatchcase, name), listed))]
    else:
        url = file["contentUrl"]
        matches = list(filter(names.__contains__, (url, PurePosixPath(url).name)))[:1]
    return [name for name in matches if not name.endswith(".json")]


def _read_fields(sets: list[Any]) -> tuple[dict[str, _Source], dict[str, tuple[_Source, str]]]:
    """Fields of the first records; keys to files.

    Sets with references to others come first, and then those whose fields name images.
    """
    by_id = {field["@id"]: field for records in sets for field in records.get("field", ())}
    # Records that refer to others have the columns of both.
    for records in sorted(sets, key=_signs, reverse=True):
        fields, joins = dict[str, _Source](), dict[str, tuple[_Source, str]]()
        for field in records.get("field", ()):
            source = _find_source(field, "source", by_id)
            target = _find_source(field, "references", by_id)
            if source is not None:
                fields[_name_of(field)] = source
            if source is not None and target is not None and target[0] != source[0]:
                joins[target[0]] = source, target[1]

        # Fields of paths and names of files alone are no table.
        if any("//" not in column.removeprefix(file) for file, column, _ in fields.values()):
            used = {file for file, *_ in fields.values()}
            return fields, {file: key for file, key in joins.items() if file in used}
    raise ValueError("no field is a column of a file")


def _signs(records: Any) -> tuple[bool, bool]:
    """Whether records refer to others, and whether they have a field of images."""
    names = {_name_of(field) for field in records.get("field", ())}
    return _refer(records), not _IMAGES.isdisjoint(map(normal_name, names))


def _name_of(field: Any) -> str:
    """The name of a field without that of its set."""
    return str(field.get("name", field.get("@id", ""))).rpartition("/")[2]


def _refer(records: Any) -> bool:
    return any("references" in field for field in records.get("field", ()))


def _find_source(field: Any, key: str, known: Mapping[str, Any]) -> _Source | None:
    """Where the values of a field, or its references, are; None where the JSON-LD has them."""
    source = field.get(key, {})
    if "field" in source:
        source = known[source["field"]["@id"]].get("source")
    if not source:
        return None

    file = (source.get("fileObject") or source["fileSet"])["@id"]
    extract, steps = source["extract"], source.get("transform", [])
    column = extract.get("column") or f"/{extract.get('fileProperty')}"
    steps = [] if field["dataType"] == "sc:ImageObject" else steps
    return file, f"{file}/{column}", steps if isinstance(steps, list) else [steps]


def _values(
    rows: pd.DataFrame, _file: str, column: str, steps: list[dict[str, str]]
) -> "pd.Series[Any]":
    """Values of a column: of each the part that an expression has in brackets, or a list."""
    values = rows[column]
    for step in steps:
        ((how, mark),) = step.items()
        if how in ("delimiter", "separator"):
            values = values.replace("", None).str.split(mark, regex=False)
        elif how == "regex" and len(re.findall(r"(?<!\\)\((?!\?)", mark)) == 1:
            texts = pa.array(values, TEXT, from_pandas=True)
            if pc.any(pc.match_substring_regex(texts, f"^(?:{mark})")).as_py() is False:
                raise ValueError(f"no value of {column} matches {mark}")
            part = pc.replace_substring_regex(texts, rf"^(?:{mark})(?s:.*)$", r"\1")
            values = part.to_pandas().set_axis(values.index)
        else:
            raise ValueError(f"the values of {column} are transformed by {how}: {mark}")
    return values
