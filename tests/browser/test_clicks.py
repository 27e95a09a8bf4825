"""A click counts, however busy the server is and whatever refreshes meanwhile."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from graph.database.store import GraphStore
from graph.dataset.mining import MiningOptions, mine_dataset
from graph.dataset.write import write_annotations
from graph.records import Annotations, ImageRecord, Mention
from tests.browser.pages import Pages
from tests.browser.server import WebApp, running

SLOW_APP = Path(__file__).with_name("slow_app.py")
CLICKS = 2
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
    for _ in range(CLICKS):
        wait_for_refresh(page)
        page.get_by_role("button", name="Go to Plan").click()
        page.wait_for_url("**/plan**", timeout=20_000)
        expect(page.get_by_role("heading", name="Plan", level=1)).to_be_visible()
        page.get_by_role("link", name="Jobs").click()
        expect(page.get_by_text("No job yet")).to_be_visible()
