"""The package of docs/cobalance-mine: built, and installed where only some processes find it."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "docs" / "cobalance-mine"
SOURCES = TEMPLATE / "src" / "cobalance_mine"
MINE = {
    ("format", "lines"),
    ("planner", "tolerant"),
    ("recipe", "plain-ground"),
    ("backend", "flat"),
    ("filter", "bright"),
    ("segmenter", "ellipse"),
    ("annotator", "daylight"),
    ("method", "part"),
    ("metric", "sure_share"),
    ("metric", "mean_rating"),
    ("table", "ratings"),
    ("export format", "listing"),
}
"""Its plug-ins, by kind and name: at least one of each kind."""


def install(folder: Path) -> Path:
    """Build the package's wheel and install it; return the folder to put on the import path."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(TEMPLATE, folder / "package", ignore=ignored)
    site = folder / "site"
    for command in (
        ["hatchling", "build", "-t", "wheel", "-d", str(folder)],
        ["uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--target", str(site)],
    ):
        wheels = map(str, folder.glob("*.whl"))
        subprocess.run(
            [sys.executable, "-m", *command, *(wheels if command[0] == "uv" else ())],
            cwd=folder / "package",
            check=True,
            capture_output=True,
        )
    return site


def write_files(folder: Path) -> Path:
    """A folder of files with the package's filter and metric, each called like the plug-in."""
    for group, source, name in (
        ("filters", "bright", "bright"),
        ("metrics", "confidence", "sure_share"),
    ):
        (folder / group).mkdir(parents=True)
        shutil.copy(SOURCES / f"{source}.py", folder / group / f"{name}.py")
    return folder
