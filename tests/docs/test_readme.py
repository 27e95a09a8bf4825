"""README, block by block in the order of the page: from an empty home, an empty store, no folder.

Blocks of ``console`` and of ``python`` run. What a command prints is compared with what the page
shows below it, line by line, as on a terminal of 120 columns; one below which it shows nothing has
to succeed. All other blocks are named here with the reason why none of their lines runs, and are
parsed: their commands and options, targets of make and extras exist.
"""

import os
import re
import shlex
import subprocess
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import pytest

from cobalance.graph.database.local import server_control as local_server
from cobalance.workflows.settings import Settings
from tests.app.cli.calling import call, spawn
from tests.docs.commands import unknown_parts

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
WIDTH = 120
LEFT_OUT = "..."
"""As the last line of what a command prints: the page shows the beginning of it."""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$|^((?:    [^\n]*\n)+)", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^\$ (.*(?:\n    .*)*)\n?((?:(?!\$ ).*\n?)*)", re.MULTILINE)
KEPT = re.compile(r"(\w+)=\$\((cobalance .*)\)")

NOT_RUN = {
    "make demo": "the next block has what it prints; `make test` runs this test",
    "cobalance ingest instances_train2017.json": "COCO's files",
    "cobalance annotate propose": "a language model's weights, and a detector's",
    "make demo-full": "`tests/e2e/test_full_demo.py` runs it: a minute",
    'pip install ".[models]"': "weights of a diffusion model, a GPU and photographs",
    "cobalance demo --counterfactual": "`tests/e2e` runs it; the others want COCO's images",
    "cobalance evaluate train": "the datasets of `make demo-full`, and somebody's predictions",
    "make app": "a server; `tests/browser` starts it",
}
"""The blocks of which nothing runs, by how they begin, and why."""


@dataclass(frozen=True)
class Block:
    """A block of code of the page: its language, empty for an indented one, and its text."""

    language: str
    text: str

    @property
    def runs(self) -> bool:
        return self.language in ("console", "python")

    @property
    def name(self) -> str:
        """How it begins, as `NOT_RUN` has it; its first line where that has none."""
        begins = [name for name in NOT_RUN if self.text.startswith(name)]
        return max(begins, key=len, default=self.text.partition("\n")[0])

    def lines(self) -> list[str]:
        """Its lines, those that go on in the next one joined."""
        return self.text.replace("\\\n", " ").splitlines()


BLOCKS = [
    Block(language, fenced or textwrap.dedent(indented))
    for language, fenced, indented in BLOCK.findall(PAGE)
]


@dataclass
class Reader:
    """Somebody who enters what the page shows, in a folder and with an environment of their own."""

    folder: Path
    environment: dict[str, str]
    kept: dict[str, str] = field(default_factory=dict)

    def enter(self, line: str) -> str:
        """Enter a line in a shell; return what it prints on the terminal."""
        for name, value in self.kept.items():
            line = line.replace(f"${name}", value)
        if kept := KEPT.fullmatch(line):
            self.kept[kept[1]] = self._cobalance(kept[2], together=False).strip()
            return ""
        if line.startswith("cobalance "):
            return self._cobalance(line, together=True)
        shell = ["bash", "-euc", line]
        return subprocess.run(
            shell, cwd=self.folder, check=True, stdout=subprocess.PIPE, text=True
        ).stdout

    def _cobalance(self, line: str, *, together: bool) -> str:
        _, *words = shlex.split(line)
        # Without a terminal a demonstration has a line a phase on standard error.
        together = together and words[0] != "demo"
        # A worker's process is its own: it ends with what it registers for signals and the queue.
        if words[0] == "work":
            done = spawn(self.environment, *words)
        else:
            done = call(self.environment, *words, width=WIDTH, together=together)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout


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


def printed(text: str) -> list[str]:
    """The lines of a text on a terminal, without spaces at their ends."""
    return [
        row
        for line in map(str.rstrip, text.strip().splitlines())
        for row in (textwrap.wrap(line, WIDTH) if len(line) > WIDTH else [line])
    ]


def test_what_runs_prints_what_the_page_shows(reader: Reader) -> None:
    assert len([block for block in BLOCKS if block.language]) == PAGE.count("```") / 2 > 5
    namespace: dict[str, object] = {}
    for block in BLOCKS:
        if block.language == "python":
            exec(compile(block.text, "README.md", "exec"), namespace)
        if block.language != "console":
            continue
        steps = STEP.findall(block.text)
        assert "".join(f"$ {typed}\n{shown}" for typed, shown in steps) == block.text
        for typed, shown in steps:
            found, expected = printed(reader.enter(typed)), printed(shown)
            if expected[-1:] == [LEFT_OUT]:
                expected.pop()
                found = found[: len(expected)]
            if expected:
                assert found == expected, typed


def test_what_does_not_run_is_named_with_its_reason() -> None:
    assert [block.name for block in BLOCKS if not block.runs] == list(NOT_RUN)


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if not block.runs], ids=lambda it: it.name
)
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
