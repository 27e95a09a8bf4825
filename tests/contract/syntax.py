"""Syntax trees of the packages, parsed once."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def trees(package: str) -> dict[str, ast.Module]:
    """The package's modules, by path."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / package).rglob("*.py"))
    }


@cache
def faces() -> dict[str, str]:
    """The module that defines each name of a package's stub, by the name that others import."""
    return {
        f"{package}.{alias.name}": f"{package}.{node.module}.{alias.name}"
        for path in sorted((ROOT / "cobalance").rglob("*/__init__.pyi"))
        for package in [path.parent.relative_to(ROOT).as_posix().replace("/", ".")]
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
