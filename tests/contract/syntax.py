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
def modules() -> dict[str, ast.Module]:
    """The product's modules, by name."""
    return {
        path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): tree
        for path, tree in trees("cobalance").items()
    }


@cache
def stubs() -> dict[str, dict[str, str]]:
    """By package with a stub: the place of each name that others may import from it."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted((ROOT / "cobalance").rglob("*/__init__.pyi")):
        package = path.parent.relative_to(ROOT).as_posix().replace("/", ".")
        names = found.setdefault(package, {})
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                home = f"{package}.{node.module}" if node.module else package
                names.update({alias.name: f"{home}.{alias.name}" for alias in node.names})
    return found
