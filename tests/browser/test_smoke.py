"""The harness itself: the app answers, a page comes to rest, and what is wrong is seen."""

from tests.browser.pages import settle
from tests.support.waiting import until


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


def test_what_no_page_should_do_is_seen(pages):
    page = pages.open()
    for script, seen in (
        ("console.error('spilt')", "console: spilt"),
        ("setTimeout(() => { throw new Error('thrown') })", "uncaught: thrown"),
        ("fetch('http://127.0.0.1:9/').catch(() => {})", "'http://127.0.0.1:9/'"),
        (
            "new Image().src = 'https://example.org/beacon.png'",
            "asked another host: https://example.org/",
        ),
        ("new WebSocket('ws://127.0.0.1:9/')", "'ws://127.0.0.1:9/'"),
    ):
        page.evaluate(f"() => {{ {script} }}")
        until(lambda: page.evaluate("true") and seen in " ".join(pages.problems))  # noqa: B023
    pages.problems.clear()
