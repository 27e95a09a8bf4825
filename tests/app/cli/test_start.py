"""Help and completion import nothing slow, and what they name is what there is."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

from cobalance.app.cli.main import HOMES
from cobalance.app.cli.shared.declared import declared
from tests.app.cli.calling import run_code

CLI = Path(__file__).parents[3] / "cobalance" / "app" / "cli"
SLOW = (
    "numpy",
    "pandas",
    "neo4j",
    "pydantic_settings",
    "pyarrow",
    "scipy",
    "cobalance.notebook.data",
)
PLACES = sorted(
    {
        place
        for file in CLI.rglob("*.py")
        for place in re.findall(r"(?:declared|listed)\(['\"]([\w.]+)['\"]\)", file.read_text())
    }
)

AS_WELL = {
    "evaluation.training.data.sets.SETS": "evaluation.training.data.partitions.PARTITIONS",
    "ingest.formats.FORMATS": "ingest.tables.TABLES",
}
"""Registries that take in all names of another one."""


def test_no_help_imports_anything_slow(environment):
    said = run_code(
        environment,
        f"""
import sys
from cobalance.app.cli.main import command_line, whole_program
def walk(command, parent, name):
    context = command.context_class(command, info_name=name, parent=parent)
    print(command.get_help(context))
    for one in command.list_commands(context) if hasattr(command, "commands") else ():
        walk(command.get_command(context, one), context, one)
walk(command_line(), None, "cobalance")
first = set(sys.modules)
walk(whole_program(), None, "cobalance")
print("imported:", [name for name in {SLOW} if name in sys.modules])
print("with the first:", [name for name in first if name.startswith("cobalance.app.cli.")
                          and name.count(".") == 3 and "shared" not in name])
""",
    )
    assert "imported: []" in said
    assert "with the first: ['cobalance.app.cli.main']" in said
    assert said.count("Usage:") > 75  # every command, group, and the program twice


@pytest.mark.parametrize("place", PLACES)
def test_what_is_read_from_source_is_what_is_imported(place):
    module, _, name = place.rpartition(".")
    found = getattr(import_module(f"cobalance.{module}"), name)
    is_registry = isinstance(found, Mapping) or hasattr(found, "register")
    names = declared(place)
    if place in AS_WELL:
        names += declared(AS_WELL[place])
    assert names == (tuple(found) if is_registry else found)


def test_every_command_has_a_first_line(environment):
    listed = run_code(
        environment,
        "from cobalance.app.cli.main import HOMES, _summary\n"
        "for name in HOMES: print(name, '|', _summary(name))",
    ).splitlines()
    assert len(listed) == len(HOMES)
    for line in listed:
        assert re.fullmatch(r"[-\w]+ \| [A-Z].+\.", line), line


def test_a_module_that_waits_is_loaded_by_one_thread_and_tried_again(environment):
    said = run_code(
        environment,
        """
import sys
from concurrent.futures import ThreadPoolExecutor
from cobalance.app.cli.shared.deferred import imports_deferred
with imports_deferred():
    from cobalance.workflows.work import run
def load(_):
    from cobalance.workflows.work.run import run_here
    return run_here.__name__
sys.modules["dbos"] = None
for _ in range(2):
    try: load(0)
    except ModuleNotFoundError as error: print(error.name)
del sys.modules["dbos"]
with ThreadPoolExecutor(8) as threads: print({*threads.map(load, range(8))})
""",
    )
    assert said.splitlines() == ["dbos", "dbos", "{'run_here'}"]
