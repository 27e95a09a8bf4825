"""Blocks of code on a page, and somebody who enters them one after the other."""

import re
import shlex
import subprocess
import textwrap
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from tests.app.cli.calling import call, spawn

ROOT = Path(__file__).parents[2]
WIDTH = 120
LEFT_OUT = "..."
"""A line of what a command prints: the page leaves out what is there, or everything after it."""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$|^((?:    [^\n]*\n)+)", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^\$ (.*(?:\n    .*)*)\n?((?:(?!\$ ).*\n?)*)", re.MULTILINE)
SIZE = re.compile(r"\d+\.\d MB")
KEPT = re.compile(r"(\w+)=\$\((cobalance .*)\)")
COMMAND = re.compile(r"^(?:[A-Z_]+=\S* )*(?:cobalance|make|pip|python|docker|uv) ", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of code: its language, empty for an indented one, its text, and what it shows.

    What a block of Python shows is in the block of text below it.
    """

    language: str
    text: str
    shown: str = ""

    @property
    def runs(self) -> bool:
        """Whether it is entered: a notebook's cell, or what follows a prompt."""
        return self.language == "python" or (
            self.language == "console" and self.text.startswith("$ ")
        )

    @property
    def has_commands(self) -> bool:
        """Whether somebody could enter some line of it in a shell."""
        return self.language in ("", "bash", "sh", "console") and bool(COMMAND.search(self.text))

    def lines(self) -> list[str]:
        """Its lines, those that go on in the next one joined."""
        return self.text.replace("\\\n", " ").splitlines()

    def steps(self) -> list[tuple[str, str]]:
        """What is entered in a shell, each with what the page shows below it."""
        steps: list[tuple[str, str]] = STEP.findall(self.text)
        assert "".join(f"$ {typed}\n{shown}" for typed, shown in steps) == self.text
        return steps


def blocks_of(page: str) -> list[Block]:
    """The blocks of a page, by its path in the repository."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for match in BLOCK.finditer(text):
        language, fenced, indented = match.groups()
        if found and found[-1].language == "python" and language == "text":
            if not text[end : match.start()].strip():
                found[-1] = Block("python", found[-1].text, fenced)
        else:
            found.append(Block(language or "", fenced or textwrap.dedent(indented or "")))
        end = match.end()
    return found


@dataclass
class Reader:
    """Somebody who enters what a page shows, in a folder and with an environment of their own."""

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
        _, *words = shlex.split(line, comments=True)
        # Without a terminal a demonstration has a line a phase on standard error.
        together = together and words[0] != "demo"
        # A worker's process is its own: it ends with what it registers for signals and the queue.
        if words[0] == "work":
            done = spawn(self.environment, *words)
        else:
            done = call(self.environment, *words, width=WIDTH, together=together)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout

    def enter_all(self, block: Block) -> None:
        """Enter what a block has after its prompts, and check what the page shows of it."""
        for typed, shown in block.steps():
            found = printed(self.enter(typed))
            if expected := printed(shown):
                compare(found, expected, typed)


def compare(found: list[str], expected: list[str], typed: str) -> None:
    """Check that lines are those expected, but for what `LEFT_OUT` stands for."""
    parts = [list(part) for left_out, part in groupby(expected, LEFT_OUT.__eq__) if not left_out]
    at, anchored = 0, expected[0] != LEFT_OUT
    for part in parts:
        places = [at] if anchored else range(at, len(found))
        at = next((i for i in places if found[i : i + len(part)] == part), at)
        assert found[at : at + len(part)] == part, typed
        at += len(part)
        anchored = False
    assert expected[-1] == LEFT_OUT or found[at:] == [], typed


def printed(text: str) -> list[str]:
    """The lines of a text on a terminal, without spaces at their ends.

    How many megabytes a file has is left out: other tests have worked with the same store.
    """
    return [
        row
        for line in map(str.rstrip, SIZE.sub("# MB", text).strip().splitlines())
        for row in (textwrap.wrap(line, WIDTH) if len(line) > WIDTH else [line])
    ]
