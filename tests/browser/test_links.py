"""Links and the browser's Back: what is seen is in the address, and a step back undoes one step."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.pages import Pages, settle, walk
from tests.support.waiting import until

ROW_PX = 33  # of a table's header and rows
FIRST = '["cow","forest_road"]'  # the pair with the largest difference, in rates and in counts


def address(page: Page) -> tuple[str, dict[str, list[str]]]:
    parts = urlsplit(page.evaluate("location.href"))
    return parts.path, parse_qs(parts.query)


def length(page: Page) -> int:
    steps: int = page.evaluate("history.length")
    return steps


def test_back_undoes_the_last_step_and_a_link_shows_the_same_images(pages: Pages) -> None:
    page = pages.open("/?dataset=urbancars")
    begun = address(page), length(page)

    def step(does: Callable[[], object], key: str, values: list[str]) -> None:
        before = length(page)
        does()
        until(lambda: address(page)[1].get(key) == values)
        settle(page)
        assert length(page) == before + 1

    table = page.get_by_test_id("stDataFrame").first
    step(lambda: page.get_by_role("radio", name="2", exact=True).click(), "size", ["2"])
    step(lambda: table.click(position={"x": 16, "y": 1.5 * ROW_PX}), "clique", [FIRST])
    step(lambda: table.click(position={"x": 530, "y": 1.5 * ROW_PX}), "images", [FIRST])
    shown = page.get_by_role("dialog", name="cow + forest_road")
    expect(shown).to_be_visible()
    seen = address(page)
    again = pages.open(page.evaluate("location.pathname + location.search"))
    expect(again.get_by_role("dialog", name="cow + forest_road")).to_be_visible()
    assert address(again) == seen
    again.close()
    page.keyboard.press("Escape")
    expect(shown).to_have_count(0)
    until(lambda: "images" not in address(page)[1])
    settle(page)

    scrolled = page.get_by_test_id("stMain")
    scrolled.evaluate("main => main.scrollTo(0, 400)")
    before = length(page)
    page.get_by_role("link", name="Plan").click()
    page.wait_for_url("**/plan**")
    until(lambda: address(page)[1].get("clique") == [FIRST])
    settle(page)
    assert length(page) == before + 1
    assert scrolled.evaluate("main => main.scrollTop") == 0

    page.go_back()
    until(lambda: address(page)[0] == "/")
    settle(page)
    page.go_back()
    expect(shown).to_be_visible()
    settle(page)
    assert address(page) == seen
    page.go_back()
    expect(shown).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("button", name="Clear", exact=True)).to_have_count(0)
    settle(page)
    assert "clique" not in address(page)[1]
    page.go_back()
    until(lambda: "size" not in address(page)[1])
    settle(page)
    assert address(page) == begun[0]
    page.go_forward()
    expect(page.get_by_role("radio", name="2", exact=True)).to_be_checked()


def test_tabbing_through_a_page_shows_no_images(pages: Pages) -> None:
    page = pages.open("/?dataset=urbancars")
    table = page.get_by_test_id("stDataFrame").first
    tools = table.get_by_role("button").last
    tools.focus()
    page.keyboard.press("Tab")
    expect(table.get_by_test_id("glide-cell-1-0")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(table.get_by_test_id("glide-cell-1-1")).to_be_focused()
    walk(page, page.get_by_role("radio", name="Graph"))
    walk(page, tools, "Shift+Tab")
    settle(page)
    assert "images" not in address(page)[1]
