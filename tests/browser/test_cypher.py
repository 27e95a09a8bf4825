"""The Cypher page in the browser: a link runs nothing, and a plan's steps are set in."""

from urllib.parse import urlencode

from playwright.sync_api import expect

from app.demo import NAME
from tests.browser.pages import Pages, screenshot, settle


def link(text: str) -> str:
    """The address that any page of the web can link to."""
    asked = {"dataset": NAME, "cypher_ask": "Your own", "cypher_text": text}
    return f"/cypher?{urlencode(asked)}"


def test_a_link_fills_the_editor_and_a_person_runs_it(pages: Pages) -> None:
    page = pages.open(link("UNWIND range(1, 7) AS n RETURN n"))
    expect(page.get_by_label("Cypher that only reads")).to_have_value(
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
