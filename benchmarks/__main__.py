"""Run every benchmark: `make bench`."""

import subprocess
import sys

for name in ("mining", "reading", "ingest"):
    print(f"\n== python -m benchmarks.{name}", flush=True)
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
