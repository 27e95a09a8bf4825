"""Label Studio's CSV and TSV: rows of its JSON_MIN, whose cells of regions hold JSON."""

import csv
import io
from contextlib import suppress
from typing import Any

import msgspec

from cobalance.ingest.formats.label_studio import TOOLS
from cobalance.ingest.formats.tool_reader import Read, Records, ToolReader
from cobalance.ingest.reader import format_of
from cobalance.ingest.tables.delimited import LONGEST_FIELD


def _records(file: str, read: Read) -> Records:
    """Read the rows as JSON_MIN, whose columns they have."""
    content = msgspec.json.encode(_rows(read(file)))

    def read_as_json(name: str) -> bytes:
        return content if name == file else read(name)

    return TOOLS["label-studio-min"].records(file, read_as_json)


def _rows(content: bytes) -> list[dict[str, Any]]:
    """The rows as objects of JSON_MIN; of several annotators of a task the first counts."""
    csv.field_size_limit(LONGEST_FIELD)
    text = content.decode("utf-8-sig")

    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator)

    rows: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(reader):
        values = {name: _value(cell) for name, cell in row.items() if name and cell}
        rows.setdefault(row.get("id") or f"row {number}", values)
    return list(rows.values())


def _value(cell: str) -> Any:
    """The regions or choices that a cell holds as JSON, or its text."""
    if cell.startswith(("[", "{")):
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(cell)
    return cell


PLUGIN = format_of(
    "label-studio-csv",
    ToolReader(
        "Label Studio CSV and TSV with regions",
        (
            rb"\A[^\n]*\bannotation_id\b",
            rb"\A[^\n]*\bannotator\b",
            rb"\A[^\n]*\bid\b",
            rb'\n[^\n]*\[\{""?[A-Za-z]',
        ),
        _records,
        (".csv", ".tsv", ".txt"),
    ),
)
