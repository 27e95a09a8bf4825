#!/usr/bin/env bash
# DBOS chooses a function of SQLite by Python's version: with Python 3.12 or later and an SQLite
# before 3.42, as with a Python that was built on Debian 12, it cannot start on an empty database.
set -euo pipefail

python=${PYTHON:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet dbos==3.4.0

cd "$folder"
venv/bin/python - <<'PYTHON'
import sqlite3
import sys
from collections import namedtuple
from importlib.metadata import version

python, real = sys.version.split()[0], sys.version_info
if real < (3, 12):  # DBOS is told that it is 3.12; set PYTHON to a later one to run that
    python += " as 3.12"
    sys.version_info = namedtuple("Version", "major minor micro releaselevel serial")(3, 12, 0, "final", 0)

from dbos import DBOS
from sqlalchemy.exc import IntegrityError

print("dbos", version("dbos"), "with Python", python, "and SQLite", sqlite3.sqlite_version)
print("expected: what it starts on with Python 3.11, it starts on with Python 3.12, as each is said")
print("          to be supported, and Python does not say how old its SQLite may be")

seconds = sqlite3.connect(":memory:").execute("SELECT unixepoch('subsec')").fetchone()[0]
print(f"seen: SQLite answers {seconds} to unixepoch('subsec')")
DBOS(config={"name": "app", "system_database_url": "sqlite:///queue.sqlite", "log_level": "CRITICAL"})
try:
    DBOS.launch()
    outcome = "it starts"
except IntegrityError as error:
    outcome = f"IntegrityError: {error.orig}"
finally:
    DBOS.destroy()
print("seen:", outcome)

is_old = sqlite3.sqlite_version_info < (3, 42)
assert (seconds is None) == is_old, seconds
assert outcome.startswith("IntegrityError: NOT NULL") == is_old, outcome
PYTHON
