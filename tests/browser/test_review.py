"""Images that people judge: twins side by side; reviews, studies and audits by keyboard alone."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from cobalance.app.web.components.workers import REFRESH_S
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.candidate_pages import EditedGroup, count_reviewed, read_edited
from cobalance.graph.panels.panel import read_answers
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.panel.audit import AuditSample, draw_audit
from cobalance.workflows.panel.study import Sample, draw_study
from cobalance.workflows.settings import Settings
from tests.browser.pages import Pages, barriers, screenshot, settle
from tests.browser.server import WebApp, running
from tests.support.audited_run import CONCEPTS, write_audited_run
from tests.support.edited_job import make, order, write_pictures
from tests.support.studied_job import write_studied_job
from tests.support.waiting import until

IDS = ["first", "second", "third"]
_BE_BUSY = """ms => setTimeout(() => {
  const end = performance.now() + ms;
  while (performance.now() < end);
}, 0)"""


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
    assert started.crashes() == []


@pytest.fixture
def job(store: GraphStore, settings: Settings, dataset: str, folder: Path) -> str:
    write_pictures(store, dataset, folder, IDS)
    found = order(store, dataset, folder, IDS)
    with ThreadPoolExecutor(1) as thread:  # the browser's own event loop runs in this one
        thread.submit(make, settings, found, folder).result()
    return found


def group(store: GraphStore, job: str, position: int, number: int) -> EditedGroup:
    (image,) = read_edited(store, job, [position])
    return image.groups[number]


def chosen(store: GraphStore, job: str, position: int, number: int = 0) -> int | None:
    """The rank of what is chosen."""
    (one,) = group(store, job, position, number).chosen
    return one.rank


def test_a_review_with_the_keyboard_alone(
    browser: Browser, pages: Pages, store: GraphStore, dataset: str, job: str
) -> None:
    page = pages.open(f"/jobs?dataset={dataset}")
    expect(page.get_by_text("Original, what is painted outlined")).to_have_count(3)
    screenshot(page, "jobs-twins")
    assert barriers(page) == []
    page.get_by_role("button", name="Candidate for dog and field in man: accepted").first.click()
    lightbox = page.get_by_role("dialog", name="Image")
    expect(lightbox.get_by_text("Rank 1 of 4 · ")).to_be_visible()
    page.keyboard.press("Escape")
    expect(lightbox).to_be_hidden()
    page.get_by_role("button", name="3 more").first.click()
    expect(page.get_by_text("Rank 3 of 4: the sum of its ranks is")).to_be_visible()
    screenshot(page, "jobs-twins-others")
    page.keyboard.press("Escape")
    page.goto(page.url + "&images_view=Review+by+keyboard")
    expect(page.get_by_text("0 of 3 reviewed")).to_be_visible()
    settle(page)
    screenshot(page, "jobs-review")
    expect(page.get_by_role("button", name="Next", exact=False)).to_have_count(2)  # and unreviewed
    keyboard = page.keyboard
    keyboard.press("3")
    expect(page.get_by_text("by hand", exact=True)).to_have_count(1)
    assert chosen(store, job, 0) == 3
    keyboard.press("g")
    expect(page.get_by_text("Candidates: woman")).to_be_visible()
    keyboard.press("x")
    expect(page.get_by_text("1 of 3 reviewed")).to_be_visible()
    assert chosen(store, job, 0, 1) == 2
    keyboard.press("u")
    expect(page.get_by_text("0 of 3 reviewed")).to_be_visible()
    assert chosen(store, job, 0, 1) == 1
    keyboard.press("a")
    expect(page.get_by_text("1 of 3 reviewed")).to_be_visible()
    expect(page.get_by_text("second", exact=True)).to_be_visible()
    page.wait_for_url("**from_query=3*")
    page.reload()  # the place is in the address
    expect(page.get_by_text("second", exact=True)).to_be_visible()
    settle(page)
    keyboard.press("j")
    expect(page.get_by_text("third", exact=True)).to_be_visible()
    keyboard.press("k")
    expect(page.get_by_text("second", exact=True)).to_be_visible()
    keyboard.press("ArrowRight")
    expect(page.get_by_text("third", exact=True)).to_be_visible()
    keyboard.press("ArrowLeft")
    expect(page.get_by_text("second", exact=True)).to_be_visible()
    keyboard.press("n")  # it is not reviewed, and there is one behind it
    expect(page.get_by_text("third", exact=True)).to_be_visible()
    keyboard.press("n")  # the first is reviewed
    expect(page.get_by_text("second", exact=True)).to_be_visible()
    keyboard.press("k")
    expect(page.get_by_text("first", exact=True)).to_be_visible()
    settle(page)
    assert chosen(store, job, 0) == 3
    assert count_reviewed(store, job) == 1


def test_a_key_just_before_the_page_refreshes_counts_once(
    pages: Pages, store: GraphStore, dataset: str, job: str
) -> None:
    page = pages.open(f"/jobs?dataset={dataset}&images_view=Review+by+keyboard")
    expect(page.get_by_text("0 of 3 reviewed")).to_be_visible()
    for key in "32":
        settle(page)
        page.keyboard.press(key)
        # A busy browser may be at rest before it has sent the key.
        until(lambda wanted=int(key): chosen(store, job, 0) == wanted)
    settle(page)
    page.evaluate(_BE_BUSY, 1000 * REFRESH_S)  # meanwhile a refresh is due: keys come before timers
    page.keyboard.press("u")
    page.keyboard.press("g")  # sent after it
    expect(page.get_by_text("Candidates: woman")).to_be_visible()
    assert chosen(store, job, 0) == 3


def test_a_study_with_the_keyboard_alone(
    pages: Pages, store: GraphStore, dataset: str, folder: Path
) -> None:
    job = write_studied_job(store, dataset, folder, 1)
    study = draw_study(store, job, Sample(("ann",)))
    page = pages.open(f"/study?dataset={dataset}&study={study.id}&person=ann")
    seen = ["man", "man", "same", "different"]
    for at, answer in enumerate(seen):
        expect(page.get_by_text(f"{at} of 4 questions")).to_be_visible()
        settle(page)
        if at in (0, 2):
            screenshot(page, f"study-{at}")
        page.keyboard.press("2" if answer == "different" else "1")
    expect(page.get_by_text("Thank you, ann")).to_be_visible()
    settle(page)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("the same colours?")).to_be_visible()
    settle(page)
    page.keyboard.press("1")
    expect(page.get_by_text("Thank you, ann")).to_be_visible()
    settle(page)
    given = read_answers(store, study).set_index("question")["answer"].to_dict()
    assert given == {
        "group_original": "man",
        "group_edited": "man",
        "objects": "same",
        "colours": "same",
    }


def test_an_audit_with_the_keyboard_alone(
    pages: Pages, store: GraphStore, dataset: str, folder: Path
) -> None:
    output = OutputFolder(str(folder / "made"))
    run = write_audited_run(store, dataset, output, folder, 12)
    audit = draw_audit(store, output, run, AuditSample(("ann",), n=1, concepts=CONCEPTS[:1]))
    page = pages.open(f"/audit?dataset={dataset}&audit={audit.id}&person=ann")
    for answered, key in enumerate("ynu"):
        expect(page.get_by_text(f"{answered} of 4 questions")).to_be_visible()
        settle(page)
        page.keyboard.press(key)
    expect(page.get_by_text("3 of 4 questions")).to_be_visible()
    settle(page)
    page.keyboard.press("ArrowLeft")
    said_before = page.get_by_test_id("stBaseButton-primary")
    expect(said_before).to_contain_text("Cannot tell")
    settle(page)
    page.keyboard.press("n")
    expect(said_before).to_have_count(0)
    settle(page)
    page.keyboard.press("y")
    expect(page.get_by_text("Thank you, ann")).to_be_visible()
    given = read_answers(store, audit).set_index("image")["answer"]
    said = [given[image] for image in audit.labels_of("ann")["image"]]
    assert said == ["shows", "does not", "does not", "shows"]
