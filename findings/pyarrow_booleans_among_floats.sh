#!/usr/bin/env bash
# pyarrow 26.0.1: a boolean after a float becomes the float 1.0, without an error.
# After an integer it is refused, and so is a float after a boolean: the order decides.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1

"$folder/venv/bin/python" - <<'PYTHON'
import sys

import pyarrow as pa

print("pyarrow", pa.__version__)


def converted(values):
    try:
        return pa.array(values).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        return type(error).__name__


print("expected: [0.5, True] is refused, as [1, True] and [True, 0.5] are")
seen = [converted(values) for values in ([0.5, True], [[0.5, True]], [1, True], [True, 0.5])]
print("seen:", seen)
sys.exit(seen[:2] != [[0.5, 1.0], [[0.5, 1.0]]] or any(type(one) is list for one in seen[2:]))
PYTHON
