"""Table formats, loaded as columns of text; one module each, and their registry.

The order of the registry is the order of detection: the plainest text comes last.
"""

from pathlib import Path

from cobalance.base import Progress, Registry
from cobalance.ingest.problems import Problems
from cobalance.ingest.reader import read_head
from cobalance.ingest.tables.croissant import Croissant
from cobalance.ingest.tables.delimited import Delimited
from cobalance.ingest.tables.hub_features import HubParquet
from cobalance.ingest.tables.jsonl import JsonLines
from cobalance.ingest.tables.list_attr import ListAttr
from cobalance.ingest.tables.loading import Table, TableFormat
from cobalance.ingest.tables.plain_list import PlainList
from cobalance.ingest.tables.spaced import Spaced


def load_table(path: Path, problems: Problems, progress: Progress) -> Table:
    """Load a table in any of the formats; other text is a list without a header.

    Raises
    ------
    InputError
        It cannot be read, or has no rows.
    """
    head = read_head(path)
    table_format = detect_table_format(path, head) or PlainList()
    table = table_format.load(path, problems, progress)
    if table.n_rows == 0:
        raise problems.fatal("has no rows", "Give it a row for each image.")
    return table


def detect_table_format(path: Path, head: bytes) -> TableFormat | None:
    """The first format that a file's name and first bytes show, or None."""
    return next((form for _, form in TABLES.items() if form.detects(path, head)), None)


TABLES: Registry[TableFormat] = Registry("table format")
TABLES.register("parquet", HubParquet())
TABLES.register("croissant", Croissant(load_table))
TABLES.register("jsonl", JsonLines())
TABLES.register("list-attr", ListAttr())
TABLES.register("list", PlainList())
TABLES.register("spaced", Spaced())
TABLES.register("tsv", Delimited("Text with tabs between fields and a header line", "\t"))
TABLES.register("csv", Delimited("Text with commas (or semicolons) and a header line", ",;"))
