"""Jobs in the browser: live without a reload, real pictures, decisions by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, expect

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidate_pages import list_candidates
from cobalance.graph.jobs.candidates import NewCandidate, decide, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.reports import finish_queries, start_queries
from tests.browser.pages import Pages, barriers, screenshot, settle
from tests.browser.server import WebApp, running
from tests.support.waiting import until


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("images")


@pytest.fixture(scope="module")
def app(
    tmp_path_factory: pytest.TempPathFactory, app_environment: dict[str, str], images: Path
) -> Iterator[WebApp]:
    """An app that may show the images."""
    environment = {**app_environment, "COBALANCE_IMAGES": str(images)}
    with running(tmp_path_factory.mktemp("app"), environment) as started:
        yield started
    assert started.crashes() == []


@pytest.fixture
def job(store: GraphStore, dataset: str) -> str:
    records = [
        ImageRecord(f"{i}", "urban" if i % 4 == 0 else "country", (Mention("cow"), Mention("road")))
        for i in range(40)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(2), max_cliques=100)
    queries = [("urban", ("cow", "road"), 20), ("urban", ("cow",), 6)]
    return create_job(store, dataset, "cows in cities", queries)


def candidate(images: Path, query: str, index: int, verdict: str) -> NewCandidate:
    """A candidate with pictures: an ellipse that stands on another background."""

    def draw(kind: str, background: str, ellipse: str) -> str:
        picture = Image.new("RGB", (160, 120), background)
        left = 20 + 10 * (index % 7)
        ImageDraw.Draw(picture).ellipse((left, 40, left + 60, 90), fill=ellipse)
        name = f"{kind}-{index}.png"
        picture.save(images / name)
        return name

    return NewCandidate(
        f"{query}/{index:06d}",
        draw("made", f"hsl({40 * index}, 40%, 55%)", "saddlebrown"),
        verdict,
        {"clip": 0.62 + index / 100},
        "" if verdict == "accepted" else "clip: 0.41 is below 0.6",
        str(index),
        draw("original", "olivedrab", "saddlebrown"),
        draw("mask", "black", "white"),
        index,
        1.5,
    )


def test_a_job_is_live_and_decided_upon(
    browser: Browser, pages: Pages, store: GraphStore, dataset: str, job: str, images: Path
) -> None:
    page = pages.open(f"/jobs?dataset={dataset}")
    expect(page.get_by_text("0 of 26 images")).to_be_visible()
    page.evaluate("window.sameDocument = true")
    query = query_id(job, 0)
    start_queries(store, job, 0, [query])
    verdicts = ["rejected" if index in (1, 4) else "accepted" for index in range(6)]
    made = [candidate(images, query, index, verdict) for index, verdict in enumerate(verdicts)]
    record_made(store, job, {query: made})
    expect(page.get_by_text("4 of 26 images, about 50 s left for one worker")).to_be_visible()
    grid = page.get_by_test_id("image-grid")
    accepted = grid.locator("[data-verdict=accepted]")
    expect(accepted).to_have_count(4)
    settle(page)
    assert barriers(page) == []
    screenshot(page, "jobs")
    expect(accepted.first.get_by_role("img")).to_have_attribute(
        "alt", "Candidate for cow and road in urban: accepted"
    )
    accepted.first.focus()
    grid.get_by_role("button", name="Reject", exact=True).click()
    expect(accepted).to_have_count(3)
    expect(page.get_by_text("3 of 26 images")).to_be_visible()
    assert list_candidates(store, job, verdict="rejected").total == 3
    _look_closely(page)
    finish_queries(store, job, {query: "the cap of 6 candidates was reached"})
    expect(page.get_by_role("button", name="Fill up")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert page.evaluate("window.sameDocument")


def _look_closely(page: Page) -> None:
    """Decide on what the lightbox shows, in its own pixels, and ask for all that is known of it."""
    grid = page.get_by_test_id("image-grid")
    grid.locator("[data-verdict]").nth(2).click()
    lightbox = page.get_by_role("dialog", name="Image")
    expect(lightbox.get_by_text("urban: cow + road · accepted by the filters")).to_be_visible()
    screenshot(page, "jobs-lightbox")
    lightbox.get_by_role("button", name="Reject").click()
    expect(lightbox.get_by_text("4 of 6")).to_be_visible()
    lightbox.get_by_role("button", name="Previous image").click()
    expect(lightbox.get_by_role("button", name="Reject")).to_have_attribute("aria-pressed", "true")
    lightbox.get_by_role("button", name="Details").click()
    expect(lightbox).to_be_hidden()
    expect(page.get_by_role("cell", name="urban: cow + road", exact=True)).to_be_visible()
    expect(page.get_by_role("cell", name="rejected by hand")).to_be_visible()
    expect(page.get_by_role("button", name="Download all as JSON")).to_be_visible()
    settle(page)
    assert barriers(page) == []
    screenshot(page, "jobs-details")
    page.get_by_role("button", name="Close", exact=True).click()


def test_a_dataset_without_jobs_leads_to_the_plan(
    pages: Pages, store: GraphStore, dataset: str
) -> None:
    records = [ImageRecord("1", "a", (Mention("x"),)), ImageRecord("2", "b", (Mention("x"),))]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(1), max_cliques=100)
    page = pages.open(f"/jobs?dataset={dataset}")
    expect(page.get_by_text("No job yet")).to_be_visible()
    screenshot(page, "jobs-none")
    page.get_by_role("button", name="Go to Plan").click()
    page.wait_for_url("**/plan**")


def test_keys_decide_faster_than_the_server_answers(
    browser: Browser, pages: Pages, store: GraphStore, dataset: str, job: str, images: Path
) -> None:
    """Across two pages, with nothing lost: one key an image, some undone, some selected first.

    Streamlit draws the grid anew as the page turns, as it may whenever a run is interrupted.
    """
    query, n = query_id(job, 0), 46
    start_queries(store, job, 0, [query])
    made = [candidate(images, query, index, "accepted") for index in range(n)]
    record_made(store, job, {query: made})
    finish_queries(store, job, {query: ""})
    page = pages.open(f"/jobs?dataset={dataset}")
    cells = page.get_by_test_id("image-grid").locator("[data-verdict]")
    expect(page.get_by_text(f"0 of {n} decided by hand")).to_be_visible()
    expect(cells).to_have_count(40)
    settle(page)
    assert barriers(page) == []
    cells.first.focus()
    expected = ["ar"[index % 3 == 0] for index in range(n)]
    for key in expected:
        page.keyboard.press(key)
    page.get_by_test_id("image-grid").evaluate("grid => grid.remove()")
    expect(page.get_by_text(f"{n} of {n} decided by hand")).to_be_visible()
    expect(cells).to_have_count(n - 40)
    screenshot(page, "jobs-review-grid")

    def decided() -> dict[int, str]:
        found = list_candidates(store, job, per_page=n).candidates
        by_hand = [one for one in found if one.decided_by is not None]
        return {int(one.id.rpartition("/")[2]): one.verdict for one in by_hand}

    verdicts = {"a": "accepted", "r": "rejected"}
    assert decided() == {index: verdicts[key] for index, key in enumerate(expected)}
    page.get_by_test_id("image-grid").evaluate("grid => grid.remove()")
    page.keyboard.press("u")
    page.keyboard.press("u")
    decide(store, f"{query}/{42:06d}", "accepted", "ann")  # upon which the grid is drawn anew
    expect(page.get_by_text(f"{n - 2} of {n} decided by hand")).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("u")
    cells.nth(1).focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("x")
    expect(page.locator("[data-verdict=rejected]")).to_have_count(3)
    changed = {index: verdicts[key] for index, key in enumerate(expected[:-2])}
    changed |= dict.fromkeys((41, 42, 43), "rejected")
    until(lambda: decided() == changed)
