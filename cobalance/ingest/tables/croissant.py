"""Croissant: JSON-LD about a dataset, its tables, and the columns of its records' fields.

https://docs.mlcommons.org/croissant/docs/croissant-spec.html
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from cobalance.graph.progress import Progress
from cobalance.ingest.documents import decode_json
from cobalance.ingest.problems import Problems
from cobalance.ingest.tables.loading import Table


@dataclass(frozen=True)
class Croissant:
    """The table of the first records whose fields are columns, called as the fields are."""

    load_table: Callable[[Path, Problems, Progress], Table]
    description: str = "Croissant: JSON-LD that describes a table beside it"

    def detects(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        """Whether it is JSON of Croissant's vocabulary."""
        return head.lstrip().startswith(b"{") and b"//mlcommons.org/croissant/" in head

    def load(self, path: Path, problems: Problems, progress: Progress) -> Table:
        """Load the table, which lies beside the file by its address or its name."""
        try:
            url, fields = _find_columns(decode_json(path.read_bytes()))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            kind = "" if type(error) is ValueError else f"{type(error).__name__}: "
            reason = f"describes no table that can be read ({kind}{error})"
            raise problems.fatal(reason[:300], "Name the files of its records.") from None
        beside = [path.parent / url, path.parent / PurePosixPath(url).name]
        inside = (file for file in beside if file.resolve().is_relative_to(path.parent.resolve()))
        table = next((it for it in inside if it.is_file() and it.suffix != ".json"), None)
        if table is None:
            reason, remedy = f"describes {url[:200]}, which is not beside it", "Download that, too."
            raise problems.fatal(reason, remedy)
        found = self.load_table(table, problems.beside(str(table)), progress)
        named = {name: found.columns[it] for name, it in fields.items() if it in found.columns}
        others = {it: found.columns[it] for it in found.columns if it not in fields.values()}
        return replace(found, columns=others | named)


def _find_columns(about: Any) -> tuple[str, dict[str, str]]:
    """Address of a table, and the column of each field."""
    urls = {one["@id"]: one["contentUrl"] for one in about["distribution"] if "contentUrl" in one}
    for records in about["recordSet"]:
        found = defaultdict[str, dict[str, str]](dict)
        for field in records.get("field", ()):
            source = field.get("source", {})
            column = source.get("extract", {}).get("column")
            if column and "transform" in source and field["dataType"] != "sc:ImageObject":
                raise ValueError(f"the field {field['name']} is transformed")
            if column:
                file = source.get("fileObject") or source["fileSet"]
                found[file["@id"]][field["name"].rpartition("/")[2]] = column
        if len(found) > 1:
            raise ValueError(f"its records join {', '.join(found)}")
        for file, fields in found.items():
            return str(urls[file]), fields
    raise ValueError("no field is a column of a file")
