"""Table formats, loaded as columns of text; one module each, and their registry.

The order of the registry is the order of detection: the plainest text comes last.
"""

from cobalance.graph.registry import Registry
from cobalance.ingest.tables.delimited import Delimited
from cobalance.ingest.tables.hub_features import HubParquet
from cobalance.ingest.tables.jsonl import JsonLines
from cobalance.ingest.tables.list_attr import ListAttr
from cobalance.ingest.tables.loading import TableFormat

TABLES: Registry[TableFormat] = Registry("table format")
TABLES.register("parquet", HubParquet())
TABLES.register("jsonl", JsonLines())
TABLES.register("list-attr", ListAttr())
TABLES.register("tsv", Delimited("Text with tabs between fields and a header line", "\t"))
TABLES.register("csv", Delimited("Text with commas (or semicolons) and a header line", ",;"))
