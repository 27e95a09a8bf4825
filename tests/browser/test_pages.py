"""Every page opens on the demo dataset, and on one with hostile names, in light and in dark."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page

from cobalance.app.web.main import PAGES
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.demo.urbancars import urbancars
from tests.browser.pages import Pages, barriers, graph, screenshot, settle
from tests.support.waiting import until

PATHS = [*("" if path == "diagnose" else path for path in PAGES), "neighbourhood", "find", "audit"]
HOSTILE_PATHS = ["", "datasets", "neighbourhood", "plan", "jobs", "compare", "cypher"]
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
    assert barriers(page) == []
    screenshot(page, f"page-{path or 'diagnose'}")


@pytest.mark.parametrize(
    "path",
    [
        "?view=Matrix&size=2&images=%5B%22cow%22%5D",
        "?view=Combinations&q=0.05",
        "evaluate?evaluate_view=Train+models",
        "annotate?annotate_view=Label",
    ],
)
def test_what_a_page_can_show_has_no_barrier(pages: Pages, path: str) -> None:
    page = pages.open(f"/{path}&dataset=urbancars")
    assert barriers(page) == []


def test_the_first_page_has_a_name_too(pages: Pages) -> None:
    page = pages.open("/diagnose?dataset=urbancars&size=2")
    assert page.get_by_role("heading", name="Diagnose").count() == 1
    assert urlsplit(page.url).path == "/"
    assert parse_qs(urlsplit(page.url).query) == {"dataset": ["urbancars"], "size": ["2"]}


@pytest.fixture
def rebalanced(store: GraphStore, dataset: str) -> str:
    """The demo dataset with some of the images that it lacks."""
    made = [
        ImageRecord(f"made-{number}", name, tuple(Mention(concept) for concept in concepts))
        for name, concepts, n in (
            ("urban", ("cow", "forest_road"), 529),
            ("country", ("garage-outdoor", "street_sign"), 400),
            ("urban", ("sheep", "street_sign"), 60),
        )
        for number in range(n)
    ]
    records = [*urbancars(), *(replace(r, id=f"{r.id}-{i}") for i, r in enumerate(made))]
    write_annotations(store, dataset, Annotations.from_records(records), source="made.csv")
    mine_dataset(store, dataset, MiningOptions(max_size=4), max_cliques=1000)
    return dataset


def test_two_datasets_side_by_side(pages: Pages, rebalanced: str) -> None:
    page = pages.open(f"/compare?dataset=urbancars&compare_after={quote(rebalanced)}")
    assert page.get_by_test_id("stMetric").filter(has_text="Lean to a class").is_visible()
    control = page.get_by_role("slider", name="Step of the story").bounding_box()
    assert control is not None
    assert control["y"] <= 300
    screenshot(page, "compare-two")
    _go_through_the_steps(page)


def _go_through_the_steps(page: Page) -> None:
    """By keyboard and by Play: no node leaves its height, and the link keeps the step."""
    page.emulate_media(reduced_motion="no-preference")
    before = graph(page, "renderedPositions()")
    control = page.get_by_role("slider", name="Step of the story")
    control.press("ArrowRight")
    until(lambda: graph(page, "step()") == "after")
    until(lambda: "step=after" in page.evaluate("location.search"))
    after = graph(page, "renderedPositions()")
    assert {node: at["y"] for node, at in after.items()} == pytest.approx(
        {node: at["y"] for node, at in before.items()}, abs=0.1
    )
    middle = graph(page, "axis()")["0"]
    cow = [abs(at["c:cow"]["x"] - middle) for at in (before, after)]
    assert cow[1] < cow[0] / 2
    control.press("Home")
    until(
        lambda: (
            graph(page, "step()") == "dataset" and "step=" not in page.evaluate("location.search")
        )
    )
    assert graph(page, "renderedPositions()") == before
    page.emulate_media(reduced_motion="reduce")
    page.get_by_role("button", name="Play the steps").click()
    until(
        lambda: (
            graph(page, "step()") == "after" and "step=after" in page.evaluate("location.search")
        )
    )
    assert graph(page, "renderedPositions()") == after
    page.reload()
    settle(page)
    assert graph(page, "step()") == "after"
    assert graph(page, "renderedPositions()")["c:cow"] == pytest.approx(after["c:cow"], abs=0.5)


def test_the_answer_of_a_saved_query_as_a_graph(pages: Pages) -> None:
    page = pages.open("/cypher?dataset=urbancars&cypher_saved=imbalances&cypher_view=Graph")
    page.get_by_text("50 rows").wait_for()
    settle(page)
    screenshot(page, "cypher-graph")


def test_what_columns_hold_is_chosen_by_keyboard(pages: Pages) -> None:
    page = pages.open("/datasets?dataset=urbancars&ds_view=Load+annotations", width=1680)
    rows = "".join(f"{i}.jpg,{'in' if i % 2 else 'out'},{'abc'[i % 3]},x|y\n" for i in range(60))
    content = f"photo,place,kind,shown\n{rows}".encode()
    table = {"name": "pets.csv", "mimeType": "text/csv", "buffer": content}
    page.locator("input[type=file]").set_input_files(table)
    heads = {name: page.get_by_role("combobox", name=name) for name in ("photo", "place", "kind")}
    heads["kind"].wait_for()
    settle(page)
    assert barriers(page) == []
    tops = {round(head.bounding_box()["y"]) for head in heads.values()}
    assert len(tops) == 1
    for name, value in (("place", "out"), ("kind", "a")):  # values stand below their own head
        left = page.get_by_text(name, exact=True).first.bounding_box()["x"]
        below = page.locator("[data-testid=stText]").filter(has_text=value).first
        assert abs(below.bounding_box()["x"] - left) <= 1, name
    heads["kind"].focus()
    page.keyboard.type("Class")
    page.keyboard.press("Enter")
    page.get_by_text("It is in the column kind").wait_for()
    settle(page)
    screenshot(page, "import-heads")


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


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_a_page_of_hostile_names(pages: Pages, hostile: str, path: str) -> None:
    page = pages.open(f"/{path}?dataset={quote(hostile)}")
    assert page.get_by_test_id("stException").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    screenshot(page, f"hostile-{path or 'diagnose'}")
