"""A job from its form to a comparison: made by a real worker, live, with its own pictures."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import FloatRect, Locator, Page, expect

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidate_pages import list_candidates
from cobalance.graph.jobs.status import list_jobs
from tests.browser.pages import Pages, screenshot, settle, unfold, walk
from tests.browser.server import WebApp, running
from tests.support.waiting import until

PICTURE = "road.png"
FIRST_CONTENT_PX = 300  # from the top, where a page is 1280 wide


@pytest.fixture(scope="module")
def environment(
    tmp_path_factory: pytest.TempPathFactory, app_environment: dict[str, str]
) -> dict[str, str]:
    """Of an app and a worker that share a folder, which is not there before the first image."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "images").mkdir()
    Image.new("RGB", (64, 64), "gray").save(folder / "images" / PICTURE)
    return {
        **app_environment,
        "COBALANCE_IMAGES": str(folder / "images"),
        "COBALANCE_OUTPUT": str(folder / "made"),
        "COBALANCE_QUEUE": f"sqlite:///{folder}/queue.sqlite",
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Iterator[WebApp]:
    with running(tmp_path_factory.mktemp("app"), environment) as started:
        yield started
    assert started.crashes() == []


@pytest.fixture
def cows(store: GraphStore, dataset: str) -> Iterator[str]:
    """Cows are on roads in the country, and hardly ever in the city."""
    name = "cows"
    both = (Mention("cow"), Mention("road"))
    records = [
        ImageRecord(f"{i}", "country" if i % 4 else "urban", both, uri=PICTURE) for i in range(24)
    ]
    write_annotations(store, name, Annotations.from_records(records), source="a test")
    mine_dataset(store, name, MiningOptions(2), max_cliques=100)
    yield name
    for left in (name, f"{name}-rebalanced"):
        if find_dataset(store, left) is not None:
            drop_dataset(store, left)


@pytest.fixture
def herd(store: GraphStore, dataset: str) -> str:
    """Many cows, nearly all of them in the country: 560 images are missing."""
    both = (Mention("cow"), Mention("road"))
    records = [
        ImageRecord(f"{i}", "urban" if i < 20 else "country", both, uri=PICTURE) for i in range(600)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(2), max_cliques=100)
    return dataset


_COUNT_CLICKS = """() => {
  window.clicks = 0;
  addEventListener("pointerdown", () => { window.clicks += 1; }, true);
}"""


def test_a_plan_of_500_images_runs_after_four_clicks_and_no_terminal(
    pages: Pages, store: GraphStore, herd: str
) -> None:
    page = pages.open(f"/plan?dataset={herd}&planner=conbias", height=800)
    page.evaluate(_COUNT_CLICKS)
    page.get_by_role("spinbutton", name="Budget").click()
    page.keyboard.type("500")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stMetric").filter(has_text="Images to make")).to_contain_text("500")
    settle(page)
    create = page.get_by_role("button", name="Create job")
    expect(create).to_be_in_viewport(ratio=1)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, main.scrollHeight)")
    expect(create).to_be_in_viewport(ratio=1)  # on top of all else
    create.click()
    page.get_by_role("button", name="See the jobs").click()
    start = page.get_by_role("button", name="Start worker")
    pressed_at = start.bounding_box()
    start.click()
    expect(page.get_by_text("Worker 1 of this app runs")).to_be_visible(timeout=240_000)
    # A late second press hits no button that ends what the first began.
    ending = page.get_by_role("button", name="Stop worker").bounding_box()
    assert pressed_at is not None
    assert ending is not None
    assert not _overlap(pressed_at, ending)
    expect(page.get_by_text("of 500 images")).to_be_visible()
    until(lambda: list_jobs(store, herd)[0].state in ("running", "done"))
    assert page.evaluate("window.clicks") == 4
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Log").click()
    expect(page.get_by_text("writes to")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the log").click()
    assert "writes to" in download.value.path().read_text()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop worker").click()
    expect(page.get_by_text("Worker 1 of this app was stopped.")).to_be_visible()
    page.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("button", name="Start worker")).to_be_visible()


def _top(content: Locator) -> float:
    box = content.bounding_box()
    assert box is not None
    return box["y"]


def _overlap(first: FloatRect, second: FloatRect) -> bool:
    """Whether two boxes share a point."""
    return all(
        first[start] < second[start] + second[size] and second[start] < first[start] + first[size]
        for start, size in (("x", "width"), ("y", "height"))
    )


_SCROLLED = """() => new Promise(resolve => {
  const main = document.querySelector('[data-testid="stMain"]');
  let [top, frames] = [main.scrollTop, 0];
  const look = () => {
    frames = main.scrollTop === top ? frames + 1 : 0;
    top = main.scrollTop;
    frames > 60 ? resolve() : requestAnimationFrame(look);
  };
  look();
})"""


def choose(page: Page, label: str, option: str) -> None:
    box = page.get_by_role("combobox", name=label)
    box.scroll_into_view_if_needed()
    page.evaluate(_SCROLLED)  # the list of options closes when the page scrolls
    box.click()
    page.get_by_role("option", name=option, exact=True).click()
    settle(page)


def test_a_model_s_form(pages: Pages, cows: str) -> None:
    page = pages.open(
        f"/plan?dataset={cows}&planner=conbias&recipe=inpaint&preset=fast&model=./models/sd"
    )
    expect(page.get_by_text("inpaint · model sd · preset fast")).to_be_visible()
    unfold(page, "How to make them")
    expect(page.get_by_text("Keeps the object, and paints everything around it")).to_be_visible()
    screenshot(page, "plan-making-model")
    choose(page, "Recipe", "instruct")
    expect(page.get_by_text("instruct · model sd · preset fast")).to_be_visible()
    expect(page.get_by_text("Edits the whole image")).to_be_visible()  # and it is still open
    screenshot(page, "plan-making-instruct")


def _widths(pictures: Locator) -> list[int]:
    """Of the files' own pixels."""
    widths: list[int] = pictures.evaluate_all("all => all.map(one => one.naturalWidth)")
    return widths


def test_from_the_form_to_the_candidates(
    pages: Pages, store: GraphStore, cows: str, environment: dict[str, str], tmp_path: Path
) -> None:
    page = pages.open(f"/plan?dataset={cows}&planner=conbias&plan_sizes=2&plan_sizes=2")
    expect(page.get_by_text("procedural · filters sanity, blank, duplicates")).to_be_visible()
    expect(page.get_by_role("combobox", name="Backend")).not_to_be_visible()
    unfold(page, "How to make them")
    for side in ("Width", "Height"):
        page.get_by_role("spinbutton", name=f"{side} in pixels").fill("100")
        page.keyboard.press("Enter")
        settle(page)
    expect(page.get_by_text("The backend procedural: width_px is 100")).to_be_visible()
    expect(page.get_by_role("button", name="Create job")).to_be_disabled()
    screenshot(page, "plan-making-wrong")
    for side in ("Width", "Height"):
        page.get_by_role("spinbutton", name=f"{side} in pixels").fill("128")
        page.keyboard.press("Enter")
        settle(page)
    expect(page.get_by_text("procedural · 128 x 128 px")).to_be_visible()
    screenshot(page, "plan-making")
    assert "width_px=128" in page.url  # a link has the form
    expect(page.get_by_text("Paints shapes: to see the steps, not to train on")).to_be_visible()
    page.get_by_role("button", name="Create job").click()
    created = page.get_by_text("Created a job for 12 images")
    expect(created).to_be_visible()
    # What is said of a plan is not said of another one, nor to anybody else.
    fresh = pages.open(f"/plan?dataset={cows}&planner=conbias&plan_sizes=2")
    expect(fresh.get_by_role("button", name="Create job")).to_be_visible()
    expect(fresh.get_by_text("Created a job")).to_have_count(0)
    fresh.close()
    budget = page.get_by_role("spinbutton", name="Budget")
    budget.fill("6")
    page.keyboard.press("Enter")
    expect(created).to_have_count(0)
    page = pages.open(f"/jobs?dataset={cows}", settled=False)
    expect(page.get_by_text("0 of 12 images")).to_be_visible()
    expect(page.get_by_text("No worker is running, so queued jobs wait")).to_be_visible()
    (job,) = list_jobs(store, cows)
    assert job.settings["making"] == {"width_px": 128, "height_px": 128}
    page.evaluate("window.sameDocument = true")
    made = subprocess.run(
        [sys.executable, "-m", "cobalance.app", "work", "--until-idle"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    # Nobody reloads the page.
    expect(page.get_by_text("12 of 12 images")).to_be_visible()
    expect(page.get_by_role("button", name="Add and compare")).to_be_visible()
    settle(page)
    first = page.get_by_test_id("image-grid").locator("img").first
    assert _top(first) <= FIRST_CONTENT_PX
    assert Axe().run(page).response["violations"] == []
    queries, counts = page.get_by_text(re.compile("^(The query|All .* queries)$")), "Queries done"
    expect(page.get_by_text(counts)).not_to_be_visible()
    queries.click()
    expect(page.get_by_text(counts)).to_be_visible()
    queries.click()
    expect(page.get_by_text(counts)).not_to_be_visible()
    assert list_candidates(store, job.id).total >= 12
    pictures = page.get_by_test_id("image-grid").locator("[data-verdict] img")
    until(lambda: pictures.count() >= 12)
    pictures.last.scroll_into_view_if_needed()
    until(lambda: set(_widths(pictures)) == {128})  # a placeholder is larger
    screenshot(page, "jobs-made")
    page.get_by_role("button", name="Details").first.click()
    expect(page.get_by_role("cell", name="procedural", exact=True).first).to_be_visible()
    settle(page)
    screenshot(page, "jobs-details-made")
    assert page.evaluate("window.sameDocument")


def test_from_a_file_to_a_comparison_with_the_keyboard_alone(
    pages: Pages, store: GraphStore, cows: str
) -> None:
    """But for the file itself, which the system's own dialog chooses."""
    drop_dataset(store, cows)  # it is loaded here
    page = pages.open("/datasets?ds_view=Load+annotations")

    def press(name: str, key: str = "Enter", *, within: Page | Locator = page) -> None:
        button = within.get_by_role("button", name=name, exact=True).first
        expect(button).to_be_enabled(timeout=240_000)
        settle(page)
        walk(page, button)
        page.keyboard.press(key)

    rows = "".join(
        f"{i},{'country' if i % 4 else 'urban'},{'cow|road' if i % 8 else 'cow'},{PICTURE}\n"
        for i in range(48)
    )
    content = b"id,class,concepts,uri\n" + rows.encode()
    table = {"name": f"{cows}.csv", "mimeType": "text/csv", "buffer": content}
    page.locator("input[type=file]").set_input_files(table)
    press("Load and diagnose")

    number = page.get_by_test_id("stDataFrame").first.locator("canvas").first
    expect(page.get_by_role("heading", name="Diagnose", exact=True)).to_be_visible()
    expect(number).to_be_visible()
    settle(page)
    walk(page, number)
    page.keyboard.press("ArrowRight")  # from the names to the bars: the page is about this row
    page.wait_for_url("**row=**")
    settle(page)
    press("Details")
    details = page.get_by_role("dialog")
    expect(details.get_by_text("Log odds ratio")).to_be_visible()
    press("Add to plan", within=details)
    expect(details.get_by_role("button", name="Take out of the plan")).to_be_visible()
    settle(page)
    page.keyboard.press("Escape")
    expect(details).to_have_count(0)
    press("Plan the missing images", "Space")

    press("Create job")
    press("See the jobs")
    press("Start worker")
    candidates = page.get_by_test_id("image-grid").get_by_role("button")
    expect(page.get_by_role("button", name="Add and compare")).to_be_visible(timeout=240_000)
    settle(page)
    walk(page, candidates.first)
    page.keyboard.press("r")
    expect(candidates.first).to_have_attribute("data-verdict", "rejected")
    page.keyboard.press("u")
    expect(candidates.first).to_have_attribute("data-verdict", "accepted")
    press("Add and compare")
    page.wait_for_url("**/compare**")
    expect(page.get_by_text("Largest difference", exact=True).first).to_be_visible()
    settle(page)
    slider = page.get_by_role("slider", name="Step of the story")
    assert _top(slider) <= FIRST_CONTENT_PX
    expect(page.get_by_role("heading", name="combinations lean to a class")).to_be_in_viewport()
    for step in ("Dataset", "With the plan", "As rebalanced"):
        expect(page.locator(".concept-graph").get_by_text(step)).to_contain_text("lean, most")
    assert Axe().run(page).response["violations"] == []
    page.get_by_role("link", name="Make").focus()
    page.keyboard.press("Enter")
    press("Stop worker")
    expect(page.get_by_role("button", name="Start worker")).to_be_visible()
