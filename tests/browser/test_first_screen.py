"""What is seen of Diagnose without scrolling, the menu's marks, and where old links lead."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.workflows.load.dataset import load_dataset
from cobalance.workflows.settings import Settings
from tests.browser.pages import EVERY_IMPACT, Pages, barriers, graph, screenshot, settle
from tests.browser.server import running
from tests.support.waiting import until

DATASET = "first screen"
FIRST_PX = 300  # by then a picture or a row of a table is seen
ROW_PX = 33  # of a table's header and rows
VIEWS = ("Graph", "Heat map", "Together", "Rules", "Around", "Similar")
# Images of each class that show each concept; of three classes, `boat` is in one alone.
SHOWS = {
    "beach": {"boat": 18, "dog": 6, "tree": 3},
    "forest": {"boat": 0, "dog": 8, "tree": 19},
    "street": {"boat": 1, "dog": 10, "tree": 6},
}
N = 20  # images of each class


@pytest.fixture(scope="module")
def opened(
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
    settings: Settings,
    store: GraphStore,
    app_environment: dict[str, str],
) -> Iterator[Pages]:
    folder: Path = tmp_path_factory.mktemp("first screen")
    records = []
    for name, concepts in SHOWS.items():
        for at in range(N):
            file = f"{name} {at}.png"
            Image.new("RGB", (160, 120), (12 * at, 90, len(name) * 30)).save(folder / file)
            shows = tuple(Mention(concept) for concept, most in concepts.items() if at < most)
            records.append(ImageRecord(file, name, shows, None, file))
    load_dataset(
        store, settings.folders(), DATASET, Annotations.from_records(records), source="a test"
    )
    mine_dataset(store, DATASET, MiningOptions(max_size=2, common=()), max_cliques=100)
    with running(folder, app_environment | {"COBALANCE_IMAGES": str(folder)}) as app:
        pages = Pages(browser, app)
        yield pages
        pages.close()
        assert pages.problems == []
    drop_dataset(store, DATASET)


def diagnose(opened: Pages, query: str = "", **look: int) -> Page:
    return opened.open(f"/?dataset={quote(DATASET)}{query}", **look)


def strips(page: Page) -> list[str]:
    """The names of the finding's strips of images, which come before those of the pairs."""
    finding = page.locator("[class*=st-key-_finding]")
    groups = finding.get_by_test_id("image-grid").get_by_role("group")
    return [str(group.get_attribute("aria-label")) for group in groups.all()]


def test_pictures_and_rows_are_seen_at_once(opened: Pages) -> None:
    page = diagnose(opened)
    screenshot(page, "diagnose-first-screen")
    sentence = page.get_by_role("heading", level=2).first  # before that of the pairs
    expect(sentence).to_contain_text("boat is in 90.0% of beach, and in no image of forest.")
    assert strips(page) == ["First images of beach with boat"]
    expect(page.get_by_text("forest · none of 20 images").first).to_be_visible()
    table = page.get_by_test_id("stDataFrame").first
    for content in (page.get_by_test_id("image-grid").first, table):
        box = content.bounding_box()
        assert box is not None
        assert box["y"] <= FIRST_PX
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_row_changes_sentence_pictures_and_graph(opened: Pages) -> None:
    page = diagnose(opened)
    expect(
        page.get_by_text("Left: more often in images of beach; right: of forest")
    ).to_be_visible()
    table = page.get_by_test_id("stDataFrame").first
    table.click(position={"x": 90, "y": ROW_PX * 2.5})
    page.wait_for_url("**row=**")
    settle(page)
    expect(page.get_by_role("heading", level=2).first).to_contain_text(
        "tree is 6.3 times likelier in forest than in beach."
    )
    expected = ["First images of forest with tree", "First images of beach with tree"]
    assert strips(page) == expected
    expect(
        page.get_by_text("Left: more often in images of forest; right: of beach")
    ).to_be_visible()
    # A link shows the same.
    again = opened.open(page.evaluate("location.pathname + location.search"))
    assert strips(again) == expected
    assert graph(again, "axis()") == graph(page, "axis()")
    again.get_by_role("button", name="Details", exact=True).click()
    expect(again.get_by_role("dialog", name="tree")).to_be_visible()


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_keeps_nobody_out(opened: Pages, view: str) -> None:
    page = diagnose(opened, f"&view={quote(view)}")
    assert barriers(page, EVERY_IMPACT) == []


def test_a_phone_has_content_within_three_screens(opened: Pages) -> None:
    page = diagnose(opened, width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    boxes = (page.get_by_test_id("image-grid").first, page.get_by_test_id("stDataFrame").first)
    assert all(box.bounding_box()["y"] < 3 * 844 for box in boxes)


def test_old_links_lead_to_the_new_places(opened: Pages) -> None:
    moved = {
        "neighbourhood": ("/", {"view": ["Around"], "near_concept": ["tree"]}, "Around"),
        "find": ("/", {"view": ["Similar"], "find_view": ["Tags"]}, "Similar"),
        "audit": ("/annotate", {"annotate_view": ["Audit"]}, "Audit"),
    }
    for path, (place, expected, chosen) in moved.items():
        rest = "&".join(f"{key}={value}" for key, (value,) in expected.items() if key != "view")
        page = opened.open(f"/{path}?dataset={quote(DATASET)}&{rest}")
        address = urlsplit(page.url)
        assert address.path == place
        assert parse_qs(address.query).items() >= expected.items()
        # A view of the view Similar has its name.
        expect(page.get_by_role("radio", name=chosen, exact=True).first).to_be_checked()


def test_the_menu_says_what_is_done_and_what_comes_next(opened: Pages) -> None:
    page = diagnose(opened)
    menu = page.get_by_test_id("stTopNav")
    places = [*("Data", "Diagnose", "Plan", "Make", "Compare", "Evaluate")]
    assert [link.inner_text().split("\n")[-1] for link in menu.get_by_role("link").all()] == places
    for place, meaning in (("Data", "Done."), ("Diagnose", "Done."), ("Plan", "The next step.")):
        link = menu.get_by_role("link", name=place)
        expect(link).to_have_accessible_description(meaning)
    expect(menu.get_by_role("link", name="Make")).to_have_accessible_description("")
    menu.get_by_role("button", name="More").click()
    further = page.get_by_role("menu").get_by_role("menuitem")
    assert [item.inner_text().split("\n")[-1] for item in further.all()] == [
        *("Annotate", "Study", "Cypher")
    ]
    page.keyboard.press("Escape")
    menu.get_by_role("link", name="Plan").click()
    page.wait_for_url("**/plan?**")
    until(lambda: page.get_by_role("heading", name="Plan", level=1).count() == 1)
