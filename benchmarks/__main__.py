"""Run every benchmark: `make bench`."""

import subprocess
import sys

for command in ("mining", "reading", "ingest --keep", "web"):
    print(f"\n== python -m benchmarks.{command}", flush=True)
    name, *options = command.split()
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], check=True)
