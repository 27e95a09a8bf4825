#!/usr/bin/env bash
# numpy 2.4.6: searching an int32 array for one Python int copies the whole array to int64 first.
# In sums and comparisons a Python int takes the array's type (NEP 50); in searchsorted it does not,
# so that a look of microseconds takes time and memory in proportion to the array.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6

"$folder/venv/bin/python" - <<'PYTHON'
import sys
import tracemalloc

import numpy as np

print("numpy", np.__version__)
ranks = np.arange(1_000_000, dtype=np.int32)


def most_bytes(search):
    tracemalloc.start()
    search()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


compared = (ranks[:3] + 5).dtype
by_int = most_bytes(lambda: ranks.searchsorted(5))
by_int32 = most_bytes(lambda: ranks.searchsorted(np.int32(5)))
print("expected: a few bytes either way, as ranks + 5 is", compared)
print(f"seen: {by_int:,} bytes for 5, {by_int32:,} for np.int32(5), of an array of {ranks.nbytes:,}")
sys.exit(compared != np.int32 or by_int < 2 * ranks.nbytes or by_int32 > 10_000)
PYTHON
