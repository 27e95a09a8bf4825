"""Rules of the house that hold for every module below the app, read from their syntax trees."""

import ast
import inspect
import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeGuard

import pytest

from cobalance.app.cli.main import whole_program
from cobalance.app.cli.shared.remedies import FLAGS, command, in_shell
from cobalance.app.web.widgets.wording import LABELS, in_app
from cobalance.base.errors import Action, Setting
from cobalance.ingest.options import declared_options
from cobalance.notebook.data import read
from cobalance.notebook.remedies import in_python
from cobalance.workflows.settings import VARIABLES, Settings
from tests.contract.syntax import ROOT, trees

BELOW_APP = tuple(
    f"cobalance/{name}"
    for name in (
        "base",
        "counting",
        "statistics",
        "vision",
        "graph",
        "ingest",
        "generation",
        "evaluation",
        "annotation",
    )
)
PLAN = {
    "name": "x",
    "planner": "conbias",
    "min_size": 2,
    "max_size": 3,
    "max_per_query": 4,
    "planner_options": {"share": 0.5},
}
MINE = {
    "max_size": 2,
    "min_support": 3,
    "common": ("cat", "dog"),
    "split": "train",
    "confidence": 0.9,
}

READ_THE_ENVIRONMENT = (
    "cobalance/workflows/settings.py",
    "cobalance/workflows/in_files/spark.py",  # which gives Java its variables
)

SPREAD = {
    "plan": PLAN,
    "plan_counterfactuals": {"name": "x", "recipe": "resampled", "limit": 9},
    "mine": MINE,
}
"""Options of actions that are given as a mapping."""


def below_app() -> dict[str, ast.Module]:
    return {path: tree for package in BELOW_APP for path, tree in trees(package).items()}


def calls(name: str) -> Iterator[ast.Call]:
    """Where a class of errors' parts is made."""
    # Every process that collects the tests asks: only files with such a call are parsed.
    for package in BELOW_APP:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if f"{name}(" in text:
                yield from (node for node in ast.walk(ast.parse(text)) if _calls(node, name))


def _calls(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def settings() -> list[Setting]:
    """The settings that messages name, once each."""
    names: set[str] = set()
    for call in calls("Setting"):
        match call.args[0]:
            case ast.Constant(value=str(name)):
                names.add(name)
            case ast.JoinedStr(values=[ast.Constant(value=str(group)), ast.FormattedValue()]):
                known = {name for name in declared_options() if name.startswith(group)}
                names |= known or {f"{group}concept"}
            case ast.JoinedStr(values=[ast.FormattedValue(), ast.Constant(value=str(last))]):
                names |= {name for name in declared_options() if name.endswith(last)}
            case _:
                pytest.fail(f"no name of a setting: {ast.unparse(call)}")
    return [Setting(name) for name in sorted(names)]


def actions() -> list[Action]:
    """The actions that messages name, each with the options that it is given somewhere."""
    found: dict[str, Action] = {}
    for call in calls("Action"):
        assert isinstance(call.args[0], ast.Constant), ast.unparse(call)
        name = str(call.args[0].value)
        options: dict[str, Any] = {}
        for keyword in call.keywords:
            options |= SPREAD[name] if keyword.arg is None else {keyword.arg: 3}
        arguments = ["a 'b' $c"] * (len(call.args) - 1)
        found[f"{name} {len(arguments)} {sorted(options)}"] = Action(name, *arguments, **options)
    return list(found.values())


@pytest.mark.parametrize("setting", settings(), ids=str)
def test_every_setting_of_a_message_has_a_wording(setting):
    assert "--" not in in_app(setting)  # a page names no flag
    said = in_shell(setting)
    if setting.name in VARIABLES:
        for variable in said.split(" or "):
            assert variable.lower() in Settings.model_fields
    else:
        assert said.split()[0] in flags()


@pytest.mark.parametrize("action", actions(), ids=str)
def test_every_action_of_a_message_is_a_command_that_parses(action):
    assert "--" not in in_app(action)
    words = shlex.split(command(action))
    assert words[0] == "cobalance"
    expected = ["a 'b' $c" if argument is not ... else ... for argument in action.arguments]
    assert [word for word in words if word == "a 'b' $c"] == expected
    found: Any = whole_program()
    rest = words[1:]
    while hasattr(found, "commands"):
        found, rest = found.commands[rest[0]], rest[1:]
    found.make_parser(found.context_class(found)).parse_args(rest)  # or NoSuchOption


def test_wordings_are_of_what_there_is():
    assert set(FLAGS.values()) <= flags()
    for name in declared_options():  # named alike everywhere
        assert in_shell(Setting(name)) in flags()
        assert in_python(Setting(name)) == name
    assert declared_options().keys() <= LABELS.keys()
    assert declared_options().keys() <= inspect.signature(read).parameters.keys()


@cache
def commands() -> dict[str, Any]:
    """All commands, by name; one in a group by its whole name."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", whole_program())]
    while waiting:
        before, group = waiting.pop()
        named = {f"{before}{name}": one for name, one in getattr(group, "commands", {}).items()}
        found |= named
        waiting += [(f"{name} ", one) for name, one in named.items()]
    return found


def flags() -> set[str]:
    """The long options of all commands."""
    parameters = [parameter for one in commands().values() for parameter in one.params]
    return {name for one in parameters for name in one.opts if name.startswith("--")}


def texts(*packages: str) -> Iterator[tuple[str, str]]:
    """Every string in the packages' code, docstrings and the parts of f-strings included."""
    for path, tree in (found for package in packages for found in trees(package).items()):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path}:{node.lineno}", node.value


def test_nothing_below_the_app_speaks_of_the_command_line():
    names = "|".join(sorted(commands(), key=len, reverse=True))
    flag = "|".join(re.escape(name) for name in sorted(flags(), key=len, reverse=True))
    spoken = re.compile(rf"\bcobalance ({names})\b|(?<![\w-])({flag})(?![\w-])")
    told = [
        f"{place}: {found[0]}"
        for place, text in texts(*BELOW_APP)
        if "cobalance " in text or "--" in text
        for found in [spoken.search(text)]
        if found
    ]
    assert not told


def test_only_front_ends_and_settings_read_the_environment():
    told = [
        f"{path}:{node.lineno}"
        for path, tree in (trees("cobalance/workflows") | below_app()).items()
        if path not in READ_THE_ENVIRONMENT
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name)
        and ast.unparse(node).rpartition(".")[2]
        in ("environ", "environb", "getenv", "getenvb", "from_environment")
    ]
    variable = re.compile(r"\b(NEO4J|COBALANCE)_[A-Z]")
    told += [place for place, text in texts(*BELOW_APP) if variable.search(text)]
    assert not told


def test_cypher_is_in_graph_alone():
    cypher = re.compile(
        r"\b(MATCH|MERGE|CREATE|UNWIND) *\(|\bUNWIND \$|\bRETURN \w+\.|\bDETACH DELETE\b"
    )
    told = [
        f"{place}: {text[:60]}"
        for place, text in texts("cobalance")
        if not place.startswith("cobalance/graph/")
        if cypher.search(text)
    ]
    assert not told


def test_only_a_command_switches_the_garbage_collector():
    switches = ("gc.disable", "gc.enable", "gc.freeze", "gc.unfreeze")
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "cobalance").rglob("*.py")
        if any(switch in path.read_text(encoding="utf-8") for switch in switches)
    }
    assert "cobalance/app/cli/shared/collector.py" in found
    assert all(path.startswith("cobalance/app/cli/") for path in found)


def test_what_docstrings_and_comments_name_is_there():
    named = re.compile(r"\bcobalance((?:\.\w+){2,})")
    missing = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in sorted((ROOT / "cobalance").rglob("*.py"))
        for found in named.finditer(path.read_text(encoding="utf-8"))
        if not is_there(found[1][1:].split("."))
    ]
    assert not missing


def is_there(parts: list[str]) -> bool:
    """Whether a module of cobalance has this name, or defines what stands after the last dot."""
    for n in (len(parts), len(parts) - 1, len(parts) - 2):
        place = ROOT.joinpath("cobalance", *parts[:n])
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if n > 0 and file.exists():
                return all(re.search(rf"\b{name}\b", file.read_text("utf-8")) for name in parts[n:])
    return False
