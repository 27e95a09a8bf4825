"""The harness itself: the app answers, a page comes to rest, and what is wrong is seen."""

import pytest

from tests.browser.pages import settle
from tests.waiting import until


def test_the_health_endpoint_needs_no_page(browser, app):
    context = browser.new_context()
    answer = context.request.get(f"{app.url}/healthz")
    assert answer.status == 200
    assert answer.json()["database"] == "ok"
    context.close()


def test_a_page_opens_and_comes_to_rest(pages):
    page = pages.open("/?dataset=urbancars")
    assert page.locator("[data-testid=stApp]").is_visible()
    page.reload()
    settle(page)


@pytest.mark.parametrize(
    ("script", "seen"),
    [
        ("console.error('spilt')", "console: spilt"),
        ("setTimeout(() => { throw new Error('thrown') })", "uncaught: thrown"),
        ("fetch('http://127.0.0.1:9/').catch(() => {})", "127.0.0.1:9"),
        ("new Image().src = 'https://example.org/beacon.png'", "example.org"),
        ("new WebSocket('ws://127.0.0.1:9/')", "127.0.0.1:9"),
    ],
)
def test_what_no_page_should_do_is_seen(pages, script, seen):
    page = pages.open()
    page.evaluate(f"() => {{ {script} }}")
    until(lambda: page.evaluate("true") and pages.problems)
    assert any(seen in problem for problem in pages.problems)
    pages.problems.clear()
