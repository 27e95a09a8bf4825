"""Edited images in the browser: twins side by side, and a review with the keyboard alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.settings import Settings
from graph.database.store import GraphStore
from graph.jobs.edited_images import EditedGroup, count_reviewed, read_edited
from tests.browser.pages import Pages, screenshot, settle
from tests.browser.server import WebApp, running
from tests.edited_job import make, order, write_pictures

IDS = ["first", "second", "third"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("edited") / "pictures"


@pytest.fixture(scope="module")
def app(
    tmp_path_factory: pytest.TempPathFactory, app_environment: dict[str, str], folder: Path
) -> Iterator[WebApp]:
    """An app that may show the pictures and what is made of them."""
    shown = {"COBALANCE_IMAGES": str(folder), "COBALANCE_OUTPUT": str(folder / "made")}
    with running(tmp_path_factory.mktemp("app"), app_environment | shown) as started:
        yield started
    assert "Traceback" not in started.log.read_text(encoding="utf-8")


@pytest.fixture
def job(store: GraphStore, settings: Settings, dataset: str, folder: Path) -> str:
    write_pictures(store, dataset, folder, IDS)
    found = order(store, dataset, folder, IDS)
    make(settings, found, folder)
    return found


def group(store: GraphStore, job: str, position: int, number: int) -> EditedGroup:
    (image,) = read_edited(store, job, [position])
    return image.groups[number]


def chosen(store: GraphStore, job: str, position: int, number: int = 0) -> int | None:
    """The rank of what is chosen."""
    (one,) = group(store, job, position, number).chosen
    return one.rank


def press(page: Page, key: str) -> None:
    page.keyboard.press(key)
    settle(page)


def test_a_review_with_the_keyboard_alone(
    browser: Browser, pages: Pages, store: GraphStore, dataset: str, job: str
) -> None:
    page = pages.open(f"/jobs?dataset={dataset}")
    expect(page.get_by_text("Original, what is painted outlined")).to_have_count(3)
    screenshot(page, "jobs-twins")
    page.get_by_role("button", name="3 more").first.click()
    expect(page.get_by_text("Rank 3 of 4: the sum of its ranks is")).to_be_visible()
    screenshot(page, "jobs-twins-others")
    page.keyboard.press("Escape")
    page.goto(page.url + "&images_view=Review+by+keyboard")
    expect(page.get_by_text("0 of 3 reviewed")).to_be_visible()
    settle(page)
    screenshot(page, "jobs-review")
    press(page, "3")
    assert chosen(store, job, 0) == 3
    press(page, "g")
    press(page, "x")
    assert chosen(store, job, 0, 1) == 2
    expect(page.get_by_text("1 of 3 reviewed")).to_be_visible()
    press(page, "u")
    assert chosen(store, job, 0, 1) == 1
    expect(page.get_by_text("0 of 3 reviewed")).to_be_visible()
    press(page, "a")
    expect(page.get_by_text("1 of 3 reviewed")).to_be_visible()
    expect(page.get_by_text("second", exact=True)).to_be_visible()
    assert "from_query=3" in page.url
    page.reload()  # the place is in the address
    expect(page.get_by_text("second", exact=True)).to_be_visible()
    settle(page)
    press(page, "j")
    expect(page.get_by_text("third", exact=True)).to_be_visible()
    press(page, "k")
    press(page, "k")
    expect(page.get_by_text("first", exact=True)).to_be_visible()
    assert chosen(store, job, 0) == 3
    assert count_reviewed(store, job) == 1
