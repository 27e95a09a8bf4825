"""Every page opens on the demo dataset, and on one with hostile names, in light and in dark."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from graph.analysis import MiningOptions, mine_dataset
from graph.build import write_annotations
from graph.datasets import drop_dataset
from graph.records import Annotations, ImageRecord, Mention
from graph.store import GraphStore
from tests.browser.pages import Pages, screenshot

PATHS = ["", "datasets", "neighbourhood", "plan", "jobs", "compare", "cypher"]  # "" is Diagnose
HOSTILE = "tests: <b>'\"&` $x$ :red[y]"
NAMES = (
    "<script>alert(1)</script>",
    "'; MATCH (n) DETACH DELETE n //",
    "**bold** :red[red] $x^2$ `code`",
    "قطة على الطريق",
    "long " * 60,
)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_of_the_demo(pages: Pages, path: str) -> None:
    page = pages.open(f"/{path}?dataset=urbancars")
    assert page.get_by_test_id("stException").count() == 0
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 1280, "the page scrolls sideways"
    screenshot(page, f"page-{path or 'diagnose'}")


@pytest.fixture(scope="module")
def hostile(store: GraphStore) -> Iterator[str]:
    records = [
        ImageRecord(f"{i}", name, tuple(Mention(c) for c in NAMES[: 2 + i % 4]))
        for i, name in enumerate(["a <i>", "b ' \" $y$"] * 20)
    ]
    write_annotations(store, HOSTILE, Annotations.from_records(records), source="<source>")
    mine_dataset(store, HOSTILE, MiningOptions(max_size=3), max_cliques=1000)
    yield HOSTILE
    drop_dataset(store, HOSTILE)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_of_hostile_names(pages: Pages, hostile: str, path: str) -> None:
    page = pages.open(f"/{path}?dataset={quote(hostile)}")
    assert page.get_by_test_id("stException").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    screenshot(page, f"hostile-{path or 'diagnose'}")
