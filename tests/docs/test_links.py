"""Links between pages lead to files and headings, and paths on the architecture's page exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += sorted((ROOT / "docs").glob("*.md"))
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
PLACE = re.compile(r"`((?:graph|ingest|generation|annotation|evaluation|workflows|app)/[\w/.]+)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for path, heading in LINK.findall(page.read_text("utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), path
        if heading:
            headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8").lower(), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", one).replace(" ", "-") for one in headings]


def test_places_of_the_architecture_exist() -> None:
    found = PLACE.findall((ROOT / "docs" / "architecture.md").read_text("utf-8"))
    assert len(found) > 40
    assert [place for place in found if not (ROOT / "cobalance" / place).exists()] == []
