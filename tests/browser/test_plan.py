"""Plan in the browser: edits, the file, and from selected cliques to a job."""

from pathlib import Path

from playwright.sync_api import Page, expect

from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.plan_file import plan_to_json
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.status import list_jobs, read_queries
from cobalance.workflows.plan.planners import plan_dataset
from tests.browser.pages import Pages, screenshot, settle, unfold
from tests.support.waiting import until

ROW_PX = 33  # of a table's header and rows
QUERY_IMAGES_X, EFFECT_X, TICK_X = 800, 380, 16  # places of columns in the tables


def metric(page: Page, label: str) -> str:
    found = page.get_by_test_id("stMetric").filter(has_text=label)
    return found.get_by_test_id("stMetricValue").inner_text().strip()


def test_the_file_is_the_command_line_s_byte_for_byte(
    pages: Pages, store: GraphStore, tmp_path: Path
) -> None:
    page = pages.open("/plan?dataset=urbancars&planner=conbias&plan_sizes=1&plan_sizes=2")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as JSON").click()
    download.value.save_as(tmp_path / "plan.json")
    assert download.value.suggested_filename == "urbancars-conbias.json"
    plan = plan_dataset(store, "urbancars", "conbias", PlanOptions(1, 2)).plan
    assert plan.images == 7308
    assert (tmp_path / "plan.json").read_bytes() == plan_to_json(plan)


def test_numbers_are_changed_and_rows_dropped_by_hand(pages: Pages) -> None:
    page = pages.open("/plan?dataset=urbancars&planner=conbias&plan_sizes=2&plan_sizes=2")
    before = int(metric(page, "Images to make").replace(",", ""))
    unfold(page, "All 69 queries")
    table = page.get_by_test_id("stDataFrame").first
    table.dblclick(position={"x": QUERY_IMAGES_X, "y": ROW_PX * 1.5})
    editor = page.locator("input.gdg-input")
    editor.fill("29")
    editor.press("Enter")
    until(lambda: metric(page, "Images to make") == f"{before - 500:,}")  # 529 were planned
    settle(page)
    table.click(position={"x": TICK_X, "y": ROW_PX * 2.5})
    page.keyboard.press("Delete")
    until(lambda: metric(page, "Images to make") == f"{before - 500 - 506:,}")
    expect(page.get_by_text("1 changed, 1 dropped by hand")).to_be_visible()
    # They outlive a look at another page.
    page.get_by_role("link", name="Diagnose").click()
    page.get_by_role("heading", name="Diagnose").wait_for()
    page.get_by_role("link", name="Plan", exact=True).click()
    until(lambda: metric(page, "Images to make") == f"{before - 500 - 506:,}")
    settle(page)
    unfold(page, "All 69 queries")
    page.get_by_role("button", name="Undo").click()
    until(lambda: metric(page, "Images to make") == f"{before:,}")


def test_from_selected_cliques_to_a_job(pages: Pages, store: GraphStore) -> None:
    page = pages.open(
        '/plan?dataset=urbancars&planner=conbias&clique=["cow","forest_road"]&clique=["cow"]'
    )
    expect(page.get_by_text("All 2 queries")).to_be_visible()
    page.get_by_role("spinbutton", name="Budget").fill("100")
    page.keyboard.press("Enter")
    until(lambda: metric(page, "Images to make") == "100")
    page.get_by_role("textbox", name="Name of the plan").fill("cows")
    page.keyboard.press("Enter")
    settle(page)
    screenshot(page, "plan-selected")
    page.get_by_role("button", name="Create job").click()
    expect(page.get_by_text("no image of the class 'urban' names a file")).to_be_visible()
    settle(page)
    unfold(page, "How to make them")
    page.get_by_text("Order without images", exact=True).click()
    expect(page.get_by_role("checkbox", name="Order without images")).to_be_checked()
    settle(page)
    page.get_by_role("button", name="Create job").click()
    page.get_by_role("button", name="See the jobs").click()
    page.wait_for_url("**/jobs**")
    expect(page.get_by_text("0 of 100 images")).to_be_visible()
    job = next(job for job in list_jobs(store, "urbancars") if job.plan == "cows")
    assert read_queries(store, job.id)["n"].sum() == 100


def test_what_it_looks_like(pages: Pages) -> None:
    page = pages.open("/plan?dataset=urbancars&planner=published&plan_sizes=1&plan_sizes=2")
    screenshot(page, "plan")
    effects = page.get_by_test_id("stDataFrame").last  # a number leads to the images behind it
    effects.click(position={"x": EFFECT_X, "y": ROW_PX * 1.5})
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("button", name="Add to plan")).to_be_visible()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    page.get_by_text("Planners side by side").click()
    settle(page)
    page.get_by_text("Planners side by side").scroll_into_view_if_needed()
    screenshot(page, "plan-planners")
