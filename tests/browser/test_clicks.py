"""A click counts, however busy the server is and whatever refreshes meanwhile."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import MiningOptions, mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job
from tests.browser.pages import Pages, answered, settle, unfold
from tests.browser.server import WebApp, running
from tests.support.waiting import until

SLOW_APP = Path(__file__).with_name("slow_app.py")
DELAYS_MS = (50, 800)  # of a second click after the first, whose run takes longer
ROW_PX = 33  # of a table's header and rows
START_MS = 120_000  # with a new connection to the database
STATE = "[data-testid=stApp][data-test-script-state=%s]"


@pytest.fixture(scope="module")
def app(
    tmp_path_factory: pytest.TempPathFactory, app_environment: dict[str, str]
) -> Iterator[WebApp]:
    folder = tmp_path_factory.mktemp("slow")
    with running(folder, app_environment, program=[sys.executable, str(SLOW_APP)]) as started:
        yield started
    assert started.crashes() == []


def wait_for_refresh(page: Page) -> None:
    """Wait until a fragment has just begun to draw itself anew."""
    page.locator(STATE % "notRunning").wait_for()
    page.locator(STATE % "running").wait_for()


@pytest.fixture
def leaning(store: GraphStore, dataset: str) -> list[str]:
    """Concepts that lean to a class, the strongest first."""
    concepts = [f"c{number}" for number in range(2 * len(DELAYS_MS))]
    records = [
        ImageRecord(
            f"{name} {row}",
            name,
            tuple(
                Mention(concept)
                for number, concept in enumerate(concepts)
                if row < (2 if name == "b" else 40 - 3 * number)
            ),
        )
        for name in "ab"
        for row in range(40)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(1), max_cliques=100)
    return concepts


def in_link(page: Page, key: str) -> list[str]:
    return parse_qs(urlsplit(page.evaluate("location.href")).query).get(key, [])


def test_a_second_tick_counts_however_soon(pages: Pages, dataset: str, leaning: list[str]) -> None:
    page = pages.open(f"/?dataset={dataset}", height=1200, settled=False)
    table = page.get_by_test_id("stDataFrame").first
    table.wait_for(timeout=START_MS)
    settle(page)
    place = table.bounding_box()
    assert place is not None
    for after, delay_ms in enumerate(DELAYS_MS):
        for row in (2 * after, 2 * after + 1):
            page.mouse.click(place["x"] + 16, place["y"] + ROW_PX * (row + 1.5))
            page.wait_for_timeout(delay_ms)
        ticked = leaning[: 2 * after + 2]
        expect(page.get_by_text(f"{len(ticked)} cliques selected")).to_be_visible()
        settle(page)
        assert table.bounding_box() == place
        assert in_link(page, "clique") == [json.dumps([name]) for name in ticked], delay_ms
        expect(table.locator("tr[aria-selected=true]")).to_have_count(len(ticked))


@pytest.mark.parametrize(
    "choice",
    [
        ("jobs", "query_state", "queued", "running", "No query is running."),
        ("neighbourhood", "near_kind", "Concept", "Class", "Links as CSV"),
        ("plan", "plan_view", "Concept graph", "Planners side by side", "List of images"),
    ],
)
def test_the_second_of_two_choices_counts_however_soon(
    pages: Pages, store: GraphStore, dataset: str, leaning: list[str], choice: tuple[str, ...]
) -> None:
    path, key, first, second, drawn = choice
    create_job(store, dataset, "two choices", [("b", (name,), 3) for name in leaning])
    page = pages.open(f"/{path}?dataset={dataset}", height=1200, settled=False)
    if path == "jobs":
        queries = f"All {len(leaning)} queries"
        page.get_by_text(queries).wait_for(timeout=START_MS)
        unfold(page, queries)
    choices = page.get_by_test_id("stButtonGroup").locator("button")
    choices.filter(has_text=second).wait_for(timeout=START_MS)
    for delay_ms in DELAYS_MS:
        choices.filter(has_text=first).click()
        page.wait_for_timeout(delay_ms)
        choices.filter(has_text=second).click()
        # The first run may end late and send the link without the choice, which the second mends.
        answered(page)
        until(lambda: in_link(page, key) == [second])
        expect(choices.filter(has_text=second)).to_have_attribute("data-selected", "true")
        expect(page.get_by_text(drawn).first).to_be_visible()
    assert page.get_by_test_id("stException").count() == 0


def test_a_drawer_closed_as_it_is_drawn_leaves_the_page_whole(
    pages: Pages, store: GraphStore, dataset: str
) -> None:
    records = [ImageRecord(f"{i}", "ab"[i > 3], (Mention("x"),)) for i in range(6)]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(1), max_cliques=100)
    page = pages.open(f'/?dataset={dataset}&images=["x"]', settled=False)
    drawer = page.get_by_role("dialog", name="x")
    drawer.get_by_role("button", name="Add to plan").click(timeout=START_MS)
    expect(drawer.get_by_role("button", name="Take out of the plan")).to_be_visible()
    page.keyboard.press("Escape")  # the run that drew the drawer has yet to say that it ended
    expect(drawer).to_have_count(0)
    expect(page.get_by_role("button", name="Plan the missing images")).to_be_visible()
    assert page.get_by_test_id("stException").count() == 0


def test_a_click_while_a_fragment_refreshes(pages: Pages, store: GraphStore, dataset: str) -> None:
    records = [ImageRecord("1", "a", (Mention("x"),)), ImageRecord("2", "b", (Mention("x"),))]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(1), max_cliques=100)
    page = pages.open(f"/jobs?dataset={dataset}", settled=False)
    expect(page.get_by_text("No job yet")).to_be_visible(timeout=START_MS)
    wait_for_refresh(page)
    page.get_by_role("button", name="Go to Plan").click()
    page.wait_for_url("**/plan**")
    expect(page.get_by_role("heading", name="Plan", level=1)).to_be_attached()
    page.get_by_role("link", name="Make").click()
    expect(page.get_by_text("No job yet")).to_be_visible()
