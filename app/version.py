"""Which cobalance this is, told without importing the rest of it."""

import sys
from importlib.metadata import version


def print_version() -> None:
    """Print the name and the version."""
    sys.stdout.write(f"cobalance {version('cobalance')}\n")
