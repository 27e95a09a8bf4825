"""README, block by block in the order of the page: from an empty home, an empty store, no folder.

Blocks of ``console`` and of ``python`` run. What a command prints is compared with what the page
shows below it, line by line, as on a terminal of 120 columns; one below which it shows nothing has
to succeed. All other blocks are named here with the reason why none of their lines runs, and are
parsed: their commands and options, targets of make and extras exist.
"""

import os
import re
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import pytest

from cobalance.graph.database.local import server_control as local_server
from cobalance.workflows.settings import Settings
from tests.docs.commands import unknown_parts
from tests.docs.pages import Block, Reader, blocks_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
NOT_RUN = {
    "make demo": "the next block has what it prints; `make test` runs this test",
    "make demo-full": "`tests/e2e/test_full_demo.py` runs it: a minute",
    'pip install ".[models]"': "weights of a diffusion model, a GPU and photographs",
    "cobalance evaluate train": "the datasets of `make demo-full`, and somebody's predictions",
    "make app": "a server; `tests/browser` starts it",
    "cobalance demo --remove": "`tests/e2e/test_full_demo.py` runs it",
}
"""The blocks of which nothing runs, by how they begin, and why."""


BLOCKS = blocks_of("README.md")


def name_of(block: Block) -> str:
    """How a block begins, as `NOT_RUN` has it; its first line where that has none."""
    begins = [name for name in NOT_RUN if block.text.startswith(name)]
    return max(begins, key=len, default=block.text.partition("\n")[0])


@pytest.fixture
def reader(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """A reader who has nothing but the jars of Neo4j, so that they are not downloaded again."""
    home, folder = tmp_path / "home", tmp_path / "folder"
    home.mkdir()
    folder.mkdir()
    names = ("PATH", "JAVA_TOOL_OPTIONS", "PYTHONPATH", "LANG", "LC_ALL")
    environment = {name: os.environ[name] for name in names if name in os.environ} | {
        "HOME": str(home),
        "COBALANCE_CACHE": str(settings.cobalance_cache),
        "PYTHONPATH": str(ROOT),
    }
    monkeypatch.chdir(folder)
    yield Reader(folder, environment)
    with patch.dict(os.environ, environment, clear=True):
        own = Settings.from_environment().local_server()
    local_server.stop(own)
    assert own.home.is_relative_to(home)


def test_what_runs_prints_what_the_page_shows(reader: Reader) -> None:
    assert len([block for block in BLOCKS if block.language]) == PAGE.count("```") / 2 > 5
    namespace: dict[str, object] = {}
    for block in BLOCKS:
        if block.language == "python":
            exec(compile(block.text, "README.md", "exec"), namespace)
        elif block.runs:
            reader.enter_all(block)


def test_what_does_not_run_is_named_with_its_reason() -> None:
    assert [name_of(block) for block in BLOCKS if not block.runs] == list(NOT_RUN)


@pytest.mark.parametrize("block", [block for block in BLOCKS if not block.runs], ids=name_of)
def test_what_does_not_run_exists(block: Block) -> None:
    for line in block.lines():
        for command in re.split(r"# or: |wheel: | and (?=cobalance )", line):
            program = command.split(maxsplit=1)[0]
            assert program in ("cobalance", "make", "pip"), line
            if program == "cobalance":
                assert unknown_parts(command) == [], line


def test_extras_and_the_wheel_have_their_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wheel = f"{project['name']}-{project['version']}-py3-none-any.whl"
    installed = re.findall(r'pip install "(.*?)\[(.*?)\]"', PAGE)
    assert len(installed) == PAGE.count("pip install") > 2
    for what, extras in installed:
        assert what in (".", wheel)
        assert set(extras.split(",")) <= set(project["optional-dependencies"])


def test_targets_of_make_and_modules_exist() -> None:
    made = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert made is not None
    targets = re.findall(r"(?:^    |`)make ([\w-]+)", PAGE, re.MULTILINE)
    assert {"demo", "test"} <= set(targets) <= set(made[1].split())
    measured = (ROOT / "docs" / "performance.md").read_text("utf-8")
    modules = re.findall(r"`python -m ([\w.]+)`", PAGE + measured)
    assert modules
    for module in modules:
        assert find_spec(module) is not None, module
