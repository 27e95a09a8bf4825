"""Croissant: JSON-LD about a dataset, its tables, and the columns of its records' fields.

https://docs.mlcommons.org/croissant/docs/croissant-spec.html
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from cobalance.base.documents import decode_json
from cobalance.base.progress import Progress
from cobalance.ingest.frames import TEXT
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.data_frame import load_frame
from cobalance.ingest.tables.loading import Table
from cobalance.ingest.trees import open_tree

_FAULTS = (ValueError, LookupError, TypeError, AttributeError, pa.ArrowException)
_Source = tuple[str, str, list[dict[str, str]]]  # files, column, steps from it to a field's values


@dataclass(frozen=True)
class Croissant:
    """The first records whose fields are columns of tables, called as the fields are."""

    load_table: Callable[[Path, Problems, Progress], Table]
    description: str = "Croissant: JSON-LD that describes tables beside it"

    def detects(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether it is JSON of Croissant's vocabulary."""
        return head.lstrip().startswith(b"{") and b"//mlcommons.org/croissant/" in head

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load the tables, which lie beside the file, and join the ones that a field refers to."""
        try:
            about = decode_json(path.read_bytes())
            files = {one["@id"]: one for one in about["distribution"]}
            fields, joins = _read_fields(about["recordSet"])
            main, *more = dict.fromkeys(file for file, *_ in fields.values() if file not in joins)
            if more:
                raise ValueError(f"its records join {', '.join([main, *more])}")
            rows = self._load(files[main], path, problems, progress)
            used = {column for _, column, _ in fields.values()}
            names = {it: it.removeprefix(f"{main}/") for it in map(str, rows) if it not in used}
            found = {name: rows[it] for it, name in names.items() if not name.startswith("/")}
            if "image_id" in found and "includes" in files[main]:  # numbers of a file's rows
                found["image_id"] = rows[f"{main}//fullpath"] + "/" + found["image_id"]
            for file, (key, column) in joins.items():
                other = self._load(files[file], path, problems, progress)
                keys = rows.assign(key=_values(rows, *key))
                rows = keys.merge(other, "left", left_on="key", right_on=column, validate="m:1")
            found |= {name: _values(rows, *it) for name, it in fields.items() if it[1] in rows}
        except _FAULTS as error:
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            reason = f"describes no table that can be read ({kind}{error})"
            raise problems.fatal(reason[:300], "Name the files of its records.") from None
        return load_frame(pd.DataFrame(found), problems)

    def _load(self, file: Any, path: Path, problems: Problems, progress: Progress) -> pd.DataFrame:
        """Rows of a file or of a set of files; names of columns have its id before them."""
        parts = list[pd.DataFrame]()
        with open_tree(path.parent) as tree:
            for name in _find_files(file, tree.names):
                with tree.local(name) as local:
                    table = self.load_table(local, problems.beside(str(local)), progress)
                columns = {it: column.to_pandas() for it, column in table.columns.items()}
                told = {"/fullpath": name, "/filename": PurePosixPath(name).name}
                parts.append(pd.DataFrame(columns).assign(**told))
                problems.within("rows", sum(map(len, parts)))
        if not parts:
            wanted = str(file.get("contentUrl") or file["includes"])[:200]
            reason, remedy = f"describes {wanted}, which is not beside it", "Download that, too."
            raise problems.fatal(reason, remedy)
        return pd.concat(parts, ignore_index=True).add_prefix(f"{file['@id']}/")


def _find_files(file: Mapping[str, Any], names: list[str]) -> list[str]:
    """Paths that patterns match, or that of the file with an address, or else its name."""
    if (patterns := file.get("includes")) is not None:
        given = [patterns] if isinstance(patterns, str) else patterns
        found = [it for it in names if any(fnmatchcase(it, one) for one in given)]
    else:
        url = file["contentUrl"]
        found = [it for it in (url, PurePosixPath(url).name) if it in names][:1]
    return [name for name in found if not name.endswith(".json")]


def _read_fields(sets: list[Any]) -> tuple[dict[str, _Source], dict[str, tuple[_Source, str]]]:
    """Fields of the first records, sets with references to others first; keys to files."""
    known = {one["@id"]: one for records in sets for one in records.get("field", ())}
    refer = [any("references" in one for one in it.get("field", ())) for it in sets]
    for _, records in sorted(zip(refer, sets, strict=True), key=lambda it: not it[0]):
        fields, joins = dict[str, _Source](), dict[str, tuple[_Source, str]]()
        for field in records.get("field", ()):
            source, to = (_find_source(field, it, known) for it in ("source", "references"))
            if source is not None:
                fields[field.get("name", field["@id"]).rpartition("/")[2]] = source
            if source is not None and to is not None and to[0] != source[0]:
                joins[to[0]] = source, to[1]
        if any("//" not in column.removeprefix(file) for file, column, _ in fields.values()):
            taken = {file for file, *_ in fields.values()}
            return fields, {file: key for file, key in joins.items() if file in taken}
    raise ValueError("no field is a column of a file")


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
    found = rows[column]
    for step in steps:
        ((how, mark),) = step.items()
        if how in ("delimiter", "separator"):
            found = found.replace("", None).str.split(mark, regex=False)
        elif how == "regex" and len(re.findall(r"(?<!\\)\((?!\?)", mark)) == 1:
            texts = pa.array(found, TEXT, from_pandas=True)
            if pc.any(pc.match_substring_regex(texts, f"^(?:{mark})")).as_py() is False:
                raise ValueError(f"no value of {column} matches {mark}")
            part = pc.replace_substring_regex(texts, rf"^(?:{mark})(?s:.*)$", r"\1")
            found = part.to_pandas().set_axis(found.index)
        else:
            raise ValueError(f"the values of {column} are transformed by {how}: {mark}")
    return found
