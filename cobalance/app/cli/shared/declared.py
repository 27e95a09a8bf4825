"""Read declarations of modules that are slow to import from their source."""

import ast
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import cobalance
from cobalance.base import find_offers

_ROOT = Path(cobalance.__file__).parent


@cache
def declared(place: str) -> Any:
    """A constant of a module, or the names in a registry, without importing the modules.

    Of a mapping, alone or as an argument, its keys; of an empty registry the names that are
    registered below it, one by one or as records in a loop; else the value.

    Examples
    --------
    >>> declared("generation.backends.BACKENDS")[:2], declared("evaluation.reports.REPORTS")[:2]
    (('procedural', 'paste'), ('csv', 'parquet'))
    >>> declared("statistics.q_values.MAX_Q_VALUE")
    0.05
    """
    module, _, name = place.rpartition(".")
    statements: Iterator[Any] = iter(_parse(module).body)
    value = next(node.value for node in statements if _assigns(node, name))
    offered: tuple[str, ...] = ()
    if isinstance(value, ast.Call):
        offered = _offered(value)

    mapping = next((node for node in ast.walk(value) if isinstance(node, ast.Dict)), None)
    if mapping is not None:
        return (*(ast.literal_eval(key) for key in mapping.keys if key is not None), *offered)
    if not isinstance(value, ast.Call):
        return ast.literal_eval(value)
    # The statements that are left come after the registry, which they fill.
    return (*_registered(name, [*statements]), *offered)


def _registered(registry: str, statements: list[Any]) -> list[str]:
    """The names that statements register in an empty registry, one by one or in a loop."""
    calls: list[Any] = [node.value for node in statements if isinstance(node, ast.Expr)]
    records = [call for call in calls if ast.unparse(call).startswith(f"{registry}.register(")]
    if not records:
        loop: Any = next(node for node in statements if isinstance(node, ast.For))
        records = loop.iter.elts
    return [ast.literal_eval(record.args[0]) for record in records]


def _offered(registry: ast.Call) -> tuple[str, ...]:
    """The names that packages and files offer to a registry, which declares their group."""
    groups = registry.args[2:3]  # by its position, else by its name
    groups += [keyword.value for keyword in registry.keywords if keyword.arg == "group"]
    return tuple(chain.from_iterable(find_offers(ast.literal_eval(group)) for group in groups))


def listed(place: str) -> str:
    """The names in a registry, for a sentence."""
    return ", ".join(declared(place))


def first_line(module: str, function: str = "") -> str:
    """The first line of a module's docstring, or of a function's in it, without importing it."""
    tree = _parse(module)
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    documented = next((node for node in functions if node.name == function), tree)
    return (ast.get_docstring(documented) or "").partition("\n")[0]


@cache
def _parse(module: str) -> ast.Module:
    place = _ROOT.joinpath(*module.split("."))
    package = place / "__init__.py"
    file = package if package.exists() else place.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


def _assigns(node: Any, name: str) -> bool:
    """Whether a statement gives a name its value."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)
