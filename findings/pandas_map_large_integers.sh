#!/usr/bin/env bash
# pandas 3.1.1: Series.map of an object column gives floats where a value is missing,
# so that integers beyond 2**53 lose digits though the function returned them unchanged.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pandas==3.1.1

"$folder/venv/bin/python" - <<'PYTHON'
import sys

import pandas as pd

print("pandas", pd.__version__)
large = 2**60 + 1
column = pd.Series([large, None], dtype=object)
mapped = column.map(lambda value: value)
frame = pd.DataFrame({"id": column}).map(lambda value: value)

print("expected: object", [large, None])
print("seen:", mapped.dtype, mapped.tolist(), frame["id"].dtype, frame["id"].tolist())
sys.exit(not (mapped.dtype == frame["id"].dtype == "float64" and int(mapped[0]) != large))
PYTHON
