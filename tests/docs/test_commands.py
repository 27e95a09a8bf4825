"""Every command in the README and the pages of docs exists, with its options."""

import re
from pathlib import Path

import pytest

from tests.docs.commands import unknown_parts

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "docs/generation.md", "docs/cypher.md", "docs/python.md")
COMMAND = re.compile(r"^(?:\$ |    )(cobalance .*)$|`(cobalance [^`]+)`", re.MULTILINE)


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
    return [typed or inline for typed, inline in COMMAND.findall(text)]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_exists(page: str) -> None:
    for command in commands(page):
        assert unknown_parts(command) == [], command


def test_commands_are_found_and_faults_in_them() -> None:
    assert len(commands("README.md")) > 10
    assert unknown_parts("cobalance plan-edits cars --recipe resampled --limit 5") == []
    assert unknown_parts("cobalance plan cars --nonsense") == ["--nonsense"]
    assert unknown_parts("cobalance datasets drop cars") == []
    assert unknown_parts("cobalance datasets burn cars") == ["burn"]
