#!/usr/bin/env bash
# neo4j 6.4.1: a value that the driver cannot hold (a date of the year 10000, which Neo4j has)
# raises BrokenRecordError when it is read, as documented, but in a list, map or node it stays
# there, unnoticed, as an object of the driver's internals. What is decoded here is what a server
# answers to RETURN date('+10000-01-01') and RETURN [date('+10000-01-01')].
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check neo4j==6.4.1

"$folder/venv/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from neo4j import Record
from neo4j._codec.hydration.bolt.v2 import HydrationHandler
from neo4j._codec.packstream import Structure
from neo4j._codec.packstream.v1 import PackableBuffer, Packer, UnpackableBuffer, Unpacker
from neo4j.exceptions import BrokenRecordError


def read(value):
    """The value of a record, after it was sent and decoded as the driver does."""
    sent = PackableBuffer()
    Packer(sent).pack(value)
    hooks = HydrationHandler().new_hydration_scope().hydration_hooks
    decoded = Unpacker(UnpackableBuffer(bytearray(sent.data))).unpack(hooks)
    try:
        return str(Record({"dates": decoded})["dates"])
    except BrokenRecordError as error:
        return f"BrokenRecordError: {error}"


print("neo4j", version("neo4j"))
print("expected: BrokenRecordError for both")
date = Structure(b"D", 2_932_897)
alone, listed = read(date), read([date])
print("seen alone:", alone)
print("seen in a list:", listed)
sys.exit(not ("BrokenRecordError" in alone and "BrokenHydrationObject" in listed))
PYTHON
