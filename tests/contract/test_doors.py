"""A room's `PUBLIC` names the modules that other rooms may import, and no other."""

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from tests.contract.syntax import ROOT, trees

MOST_DOORS = 365
"""How many modules of all rooms others import; it may only fall."""


def module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def modules() -> dict[str, ast.Module]:
    return {module_name(path): tree for path, tree in trees("cobalance").items()}


def room_of(module: str) -> str:
    """Such as ``graph``; empty for `cobalance` itself."""
    return module.split(".")[1] if "." in module else ""


def imported_by(tree: ast.Module) -> Iterator[str]:
    """Modules of cobalance that a module imports, also in functions and for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())
        elif isinstance(node, ast.ImportFrom) and node.module in modules():
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in modules() else str(node.module)


def used_doors() -> dict[str, set[str]]:
    """By room: the modules of it that other rooms import, without the room's own name."""
    doors: dict[str, set[str]] = {}
    for module, tree in modules().items():
        for target in imported_by(tree):
            room = room_of(target)
            if room and room != room_of(module):
                doors.setdefault(room, set()).add(target.removeprefix(f"cobalance.{room}."))
    return doors


def listed_doors(room: str) -> tuple[str, ...]:
    body = modules()[f"cobalance.{room}"].body
    values = [
        node.value
        for node in body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PUBLIC"
    ]
    return tuple(ast.literal_eval(values[0])) if values else ()


ROOMS = sorted(path.parent.name for path in (ROOT / "cobalance").glob("*/__init__.py"))


@pytest.mark.parametrize("room", ROOMS)
def test_others_import_what_a_room_lists(room: str) -> None:
    listed = listed_doors(room)
    assert list(listed) == sorted(listed)
    assert set(listed) == used_doors().get(room, set())


def test_doors_do_not_grow_in_number() -> None:
    assert sum(map(len, used_doors().values())) <= MOST_DOORS
