"""Files of rows and columns, loaded as columns of text whatever the format."""

from ingest.tables import delimited, jsonl, list_attr, parquet
from ingest.tables.table import TABLES

__all__ = ["TABLES", "delimited", "jsonl", "list_attr", "parquet"]
