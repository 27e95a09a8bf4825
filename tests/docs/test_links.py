"""Links between pages lead to files and headings, and paths on the architecture's page exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
ROOMS = "|".join(path.parent.name for path in (ROOT / "cobalance").glob("*/__init__.py"))
PLACE = re.compile(rf"`((?:{ROOMS})/[\w/.]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for path, heading in LINK.findall(page.read_text("utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), path
        if heading:
            headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8").lower(), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", one).replace(" ", "-") for one in headings]


@pytest.mark.parametrize("page", ["architecture", "mechanisms"])
def test_places_in_the_code_exist(page: str) -> None:
    places = PLACE.findall((ROOT / "docs" / f"{page}.md").read_text("utf-8"))
    assert len(places) > 30
    assert [place for place in places if not (ROOT / "cobalance" / place).exists()] == []
