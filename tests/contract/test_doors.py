"""A room's face names what other rooms may import: its stub, or else its `PUBLIC` modules."""

import ast
from collections.abc import Iterator

import pytest

from tests.contract.syntax import ROOT, modules, stubs

MOST_DOORS = 92
"""How many modules and faces of all rooms others import; it may only fall."""

FACES = sorted(stubs())
"""Packages whose stub names what others import from them; `lazy_loader` imports it when used."""

# The contracts in pyproject.toml forbid front ends to import these: a face would hide them.
WITHOUT_FACE = (
    "cobalance.annotation.labelling.score_files",
    "cobalance.evaluation.training.run",
    "cobalance.generation.jobs.job_queue",
    "cobalance.generation.output.job_manifest",
    "cobalance.generation.worker.resources",
    "cobalance.generation.worker.worker",
    "cobalance.graph.database.migrations",
    "cobalance.graph.database.statements",
    "cobalance.graph.database.sync",
    "cobalance.vision.stored.output_folder",
)


def room_of(module: str) -> str:
    """Such as ``graph``; empty for `cobalance` itself."""
    return module.split(".")[1] if "." in module else ""


def imports_of(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Modules of cobalance and the names taken of them, also in functions and for types alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name in modules())
        elif isinstance(node, ast.ImportFrom) and node.module in modules():
            yield from ((str(node.module), alias.name) for alias in node.names)


def is_named_like_a_module(target: str, name: str) -> bool:
    """Whether a face cannot have a name, as one of its modules is called so."""
    return any(f"{face}.{name}" in modules() for face in FACES if target.startswith(f"{face}."))


def used_doors() -> dict[str, set[str]]:
    """By room: the modules of it that other rooms import, without the room's own name."""
    doors: dict[str, set[str]] = {}
    for module, tree in modules().items():
        for target, name in imports_of(tree):
            submodule = f"{target}.{name}"
            door = submodule if submodule in modules() and target not in FACES else target
            room = room_of(door)
            if room and room != room_of(module):
                doors.setdefault(room, set()).add(door.removeprefix(f"cobalance.{room}."))
    return doors


def listed_doors(room: str) -> tuple[str, ...]:
    """`PUBLIC` of a room that is no face as a whole."""
    body = modules()[f"cobalance.{room}"].body
    values = [
        node.value
        for node in body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PUBLIC"
    ]
    return tuple(ast.literal_eval(values[0])) if values else ()


ROOMS = sorted(path.parent.name for path in (ROOT / "cobalance").glob("*/__init__.py"))


@pytest.mark.parametrize("room", [room for room in ROOMS if f"cobalance.{room}" not in FACES])
def test_others_import_what_a_room_lists(room: str) -> None:
    listed = listed_doors(room)
    assert list(listed) == sorted(listed)
    assert set(listed) == used_doors().get(room, set())


@pytest.mark.parametrize("face", FACES)
def test_a_face_has_the_names_that_others_take(face: str) -> None:
    taken = set()
    past_the_face = []
    for module, tree in modules().items():
        if f"{module}.".startswith(f"{face}."):
            continue
        for target, name in imports_of(tree):
            needs_no_face = (
                target in WITHOUT_FACE
                or is_named_like_a_module(target, name)
                or f"{target}.{name}" in modules()
            )
            if target == face:
                taken.add(name)
            elif target.startswith(f"{face}.") and not needs_no_face:
                past_the_face.append(f"{module}: {target}.{name}")
    assert taken == stubs()[face].keys()
    assert past_the_face == []


def test_doors_do_not_grow_in_number() -> None:
    assert sum(map(len, used_doors().values())) <= MOST_DOORS
