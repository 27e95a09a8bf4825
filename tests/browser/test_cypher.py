"""The Cypher page in the browser: a link runs nothing, and a plan's steps are set in."""

from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Page, expect

from cobalance.workflows.demo.urbancars import NAME
from tests.browser.pages import Pages, barriers, screenshot, settle
from tests.support.waiting import until


def link(text: str) -> str:
    """The address that any page of the web can link to."""
    asked = {"dataset": NAME, "cypher_ask": "Your own", "cypher_text": text}
    return f"/cypher?{urlencode(asked)}"


def test_a_link_fills_the_editor_and_a_person_runs_it(pages: Pages) -> None:
    page = pages.open(link("UNWIND range(1, 7) AS n RETURN n"))
    expect(page.get_by_label("Cypher that only reads")).to_have_text(
        "UNWIND range(1, 7) AS n RETURN n"
    )
    expect(page.get_by_text("Press Run for the result")).to_be_visible()
    page.reload()
    settle(page)
    expect(page.get_by_text("Press Run for the result")).to_be_visible()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("7 rows")).to_be_visible()


def test_a_plan_is_a_table(pages: Pages) -> None:
    product = "MATCH (y:Class {dataset: $dataset}), (c:Concept {dataset: $dataset}) RETURN y, c"
    page = pages.open(link(f"PROFILE {product}"))
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("region", name="Rows that the query returned")).to_be_visible()
    expect(page.get_by_role("radio", name="Graph")).to_have_count(0)
    settle(page)
    screenshot(page, "cypher-plan")


def completed(page: Page, name: str, key: str) -> bool:
    """Take the offered name by a key; the editor ignores keys just after its list has opened."""
    expect(page.get_by_role("option", name=name, exact=True)).to_be_visible()
    page.keyboard.press(key)
    if name in page.get_by_label("Cypher that only reads").inner_text():
        return True
    page.keyboard.press("Control+z")  # it has set in, or begun a line
    page.keyboard.press("Control+Space")
    return False


def test_a_query_is_written_by_keyboard_and_its_mistake_underlined(pages: Pages) -> None:
    page = pages.open("/cypher?dataset=urbancars&cypher_ask=Your+own")
    editor = page.get_by_label("Cypher that only reads")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.type("MATCH (c:Conc")
    expect(page.get_by_role("option", name="Concept")).to_be_visible()
    assert barriers(page) == []
    until(lambda: completed(page, "Concept", "Enter"))
    page.keyboard.press("End")  # behind the bracket that closed itself
    page.keyboard.type(" RETURN c.nam")
    until(lambda: completed(page, "name", "Tab"))
    page.keyboard.type(", missing")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".cm-lintRange-error")).to_have_text("missing")
    expect(page.get_by_text("Variable `missing` not defined").first).to_be_visible()
    for _ in ", missing":
        page.keyboard.press("Backspace")
    page.keyboard.type(" LIMIT 3")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("3 rows")).to_be_visible()
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)
    expect(editor).to_have_text("MATCH (c:Concept) RETURN c.name LIMIT 3")
    assert "c.name LIMIT 3" in parse_qs(urlsplit(page.url).query)["cypher_text"][0]
    page.keyboard.press("Tab")  # sets in
    expect(editor).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(editor).not_to_be_focused()
