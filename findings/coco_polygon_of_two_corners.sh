#!/usr/bin/env bash
# pycocotools takes a polygon of two corners for a box, and then refuses the box for being a list.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet pycocotools==2.0.11 numpy==2.3.5

"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import numpy as np
from pycocotools import mask

print("pycocotools", version("pycocotools"), "and numpy", version("numpy"))
print("expected: a segmentation with a line of two corners is drawn as any other polygon, or is")
print("          left out, or is taken for the box of these four numbers; all are documented forms")


def area(segmentation):
    try:
        return int(np.sum(mask.area(mask.frPyObjects(segmentation, 10, 10))))
    except TypeError as error:
        return f"TypeError: {error}"


square, line = [1, 1, 5, 1, 5, 5, 1, 5], [1, 1, 4, 3]
results = {
    "a square": area([square]),
    "a line": area([line]),
    "a square and a line": area([square, line]),
    "a line and a square": area([line, square]),
    "the line's numbers in an array": area(np.array([line], dtype=np.float64)),
}
for name, result in results.items():
    print(f"seen: {name}: {result}")

failed = {name for name, result in results.items() if str(result).startswith("TypeError")}
assert {"a line", "a line and a square"} <= failed, failed
assert "a square" not in failed
assert results["the line's numbers in an array"] == 12  # a box of 4 by 3 pixels
PYTHON
