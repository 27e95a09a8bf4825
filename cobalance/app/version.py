"""Print the version without importing the rest of the package."""

import sys
from importlib.metadata import version


def print_version() -> None:
    """Print the program's name and version."""
    sys.stdout.write(f"cobalance {version('cobalance')}\n")
