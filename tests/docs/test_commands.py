"""Every command in the README and on the pages of docs exists, with its options."""

import re
from pathlib import Path

import pytest

from tests.docs.commands import unknown_parts

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
PAGES.remove("docs/cli.md")  # which is written from the commands
COMMAND = re.compile(
    r"^(?:\$ |    )?((?:[A-Z_]+=\S+ )*cobalance (?:[-\w]+(?: .*)?))$|`(cobalance [^`]+)`",
    re.MULTILINE,
)
CODE = re.compile(r"^```\w*\n.*?^```$|^(?:    [^\n]*\n)+|`[^`\n]+(?:\n[^`\n]+)?`", re.M | re.S)


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    code = "\n".join(CODE.findall(text)).replace("\\\n", " ")
    return [typed or inline.replace("\n", " ") for typed, inline in COMMAND.findall(code)]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_exists(page: str) -> None:
    for command in commands(page):
        assert unknown_parts(command) == [], command


def test_commands_are_found_and_faults_in_them() -> None:
    assert len(commands("README.md")) > 10
    assert sum(bool(commands(page)) for page in PAGES) > 10
    assert unknown_parts("cobalance mine cars --max-size 3") == []
    assert unknown_parts("cobalance plan cars --nonsense") == ["--nonsense"]
    assert unknown_parts("cobalance --log-level info datasets drop cars") == []
    assert unknown_parts("COBALANCE_LOG=info cobalance --nonsense plan") == ["--nonsense"]
    assert unknown_parts("cobalance datasets burn cars") == ["burn"]
