"""Help and completion import nothing slow, and what they name is what there is."""

import re

from cobalance.app.cli.main import HOMES
from tests.app.cli.calling import run_code

SLOW = (
    "numpy",
    "pandas",
    "neo4j",
    "pydantic_settings",
    "pyarrow",
    "scipy",
    "cobalance.notebook.data",
)


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


def test_names_are_completed_without_importing_anything_slow(environment):
    said = run_code(
        environment,
        f"""
import sys
from cobalance.app.cli.shared.completion import _REGISTRIES, registered
for place in _REGISTRIES.values():
    print(place, len(list(registered(place))))
print("imported:", [name for name in {SLOW} if name in sys.modules])
""",
    )
    *counts, imported = said.splitlines()
    assert imported == "imported: []"
    assert all(int(line.split()[1]) > 3 for line in counts)


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
