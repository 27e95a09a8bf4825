"""Run every benchmark: `make bench`."""

import subprocess
import sys

COMMANDS = (
    *("start", "mining", "neighbours", "embeddings", "reading"),
    *("ingest --keep", "web", "interactions", "loading", "scale"),
    *(
        "generation --postgres",
        "generation --trivial",
        "best_of",
        "pilot",
        "manifest",
        "counterfactuals",
        "hostile",
        "scores",
        "planning",
        "planning --pace",
        "console",
        "whole_images",
        "properties",
    ),
)

for command in COMMANDS:
    print(f"\n== python -m benchmarks.{command}", flush=True)
    name, *options = command.split()
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], check=True)
