"""Images behind a count: a grid for each class, and a lightbox that a link opens, too."""

from collections.abc import Iterator

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import MiningOptions, mine_dataset
from cobalance.workflows.load.dataset import load_dataset
from cobalance.workflows.settings import Settings
from tests.browser.pages import Pages, barriers, screenshot, settle
from tests.browser.server import running

N, WIDTH_PX, HEIGHT_PX = 30, 900, 600
DATASET = "pictures"


@pytest.fixture(scope="module")
def opened(
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
    settings: Settings,
    store: GraphStore,
    app_environment: dict[str, str],
) -> Iterator[Pages]:
    folder = tmp_path_factory.mktemp("pictures")
    records = []
    for at in range(2 * N):
        class_name = ("cat", "dog")[at % 2]
        color = (4 * at, 80, 200 - 3 * at)
        Image.new("RGB", (WIDTH_PX, HEIGHT_PX), color).save(folder / f"{at}.png")
        lawn = Mention("lawn", box=(100, 300, 400, 200))
        shows = (lawn, Mention("sky"), Mention(("sofa", "tree", "car")[at % 3]))
        records.append(ImageRecord(f"{at:02}", class_name, shows, None, f"{at}.png"))
    load_dataset(
        store, settings.folders(), DATASET, Annotations.from_records(records), source="a test"
    )
    mine_dataset(store, DATASET, MiningOptions(max_size=2), max_cliques=100)
    with running(folder, app_environment | {"COBALANCE_IMAGES": str(folder)}) as app:
        pages = Pages(browser, app)
        yield pages
        pages.close()
        assert pages.problems == []


def shown(page: Page) -> tuple[int, str]:
    """The width of what the lightbox shows, and its address, when it is loaded."""
    picture = page.locator("dialog.lightbox[open] img")
    expect(picture).not_to_have_js_property("naturalWidth", 0)
    return picture.evaluate("img => [img.naturalWidth, new URL(img.src).pathname]")


def test_from_a_grid_to_the_own_pixels_and_back_by_keyboard(opened: Pages) -> None:
    page = opened.open(f'/?dataset={DATASET}&images=["lawn"]', height=1600)
    grids = page.get_by_role("dialog", name="lawn").get_by_test_id("image-grid")
    expect(grids).to_have_count(2)
    cells = grids.first.get_by_role("button")
    expect(cells).to_have_count(24)
    assert {box["height"] for cell in cells.all() if (box := cell.bounding_box())} == {120}
    screenshot(page, "images-grid")
    assert barriers(page) == []
    first, second = (cells.nth(at).get_attribute("title") for at in range(2))
    cells.first.focus()
    page.keyboard.press("Enter")
    box = page.locator("dialog.lightbox[open]")
    expect(box.get_by_text("1 of 24")).to_be_visible()
    expect(box.get_by_text("lawn, ")).to_be_visible()
    expect(box.locator("img")).to_have_js_property("naturalWidth", WIDTH_PX)
    assert f"image={first}" in page.url
    page.keyboard.press("ArrowRight")
    expect(box.get_by_text("2 of 24")).to_be_visible()
    expect(box.get_by_text("lawn, ")).to_be_visible()
    with_boxes = shown(page)
    page.keyboard.press("b")
    page.wait_for_url("**boxes=false**")
    settle(page)
    without = shown(page)
    assert without[0] == with_boxes[0] == WIDTH_PX
    assert without != with_boxes
    screenshot(page, "images-lightbox")

    link = page.url
    again = opened.open(link[link.index("/", 8) :])
    expect(again.locator("dialog.lightbox[open]").get_by_text("2 of 24")).to_be_visible()
    expect(again.locator("dialog.lightbox[open] img")).to_have_js_property("naturalWidth", WIDTH_PX)
    assert shown(again) == without

    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    page.wait_for_url(lambda url: "image=" not in url)
    expect(cells.nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(cells.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    assert page.evaluate(
        "() => { let on = document.activeElement;"
        " while (on.shadowRoot) on = on.shadowRoot.activeElement; return on.title; }"
    ) not in (first, second)


def test_all_images_fit_one_page(opened: Pages) -> None:
    page = opened.open(f'/?dataset={DATASET}&images=["lawn"]&images_per_page=100&images_px=80')
    grids = page.get_by_role("dialog").get_by_test_id("image-grid")
    cells = grids.first.get_by_role("button")
    expect(cells).to_have_count(N)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    settle(page)
    page.get_by_test_id("stDataFrame").first.click(position={"x": 530, "y": 50})
    expect(cells).to_have_count(N // 3)  # of car and lawn
    page.wait_for_url("**images_px=80**")  # what was chosen holds for the next images


def test_the_strongest_pairs_show_their_images_without_a_click(opened: Pages) -> None:
    """Below the finding's own strips; a click opens one of them."""
    page = opened.open(f"/?dataset={DATASET}")
    expect(page.get_by_role("heading", name="Strongest pairs")).to_be_visible()
    strips = page.locator("[class*=st-key-_pair]")
    grids = strips.get_by_test_id("image-grid")
    expect(grids).to_have_count(2 * 3)
    for grid in grids.all():
        expect(grid.get_by_role("button")).not_to_have_count(0)
        grid.scroll_into_view_if_needed()  # its pictures are loaded once they are near
        expect(grid.locator(".cells img").first).not_to_have_js_property("naturalWidth", 0)
    screenshot(page, "diagnose-strips")
    grids.nth(1).get_by_role("button").first.click()
    expect(page.locator("dialog.lightbox[open] img")).to_have_js_property("naturalWidth", WIDTH_PX)
    expect(page.get_by_role("dialog", name="lawn")).to_have_count(1)


def test_ones_own_images_come_first_and_are_found_by_class(opened: Pages) -> None:
    page = opened.open(f"/datasets?dataset={DATASET}")
    cells = page.get_by_test_id("image-grid").get_by_role("button")
    expect(cells).to_have_count(48)
    assert cells.first.bounding_box()["y"] <= 300
    assert barriers(page) == []
    page.get_by_role("combobox", name="Class").click()
    page.get_by_role("option", name="dog").click()
    settle(page)
    expect(cells).to_have_count(N)
    expect(page.get_by_text(f"{N} of {2 * N} images")).to_be_visible()
    page.wait_for_url("**ds_class=dog**")
    cells.first.click()
    lightbox = page.locator("dialog.lightbox[open]")
    expect(lightbox.get_by_text("dog: lawn, sky, tree")).to_be_visible()
