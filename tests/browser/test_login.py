"""Logging in for real: a provider, a browser, and people who may do different things."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from cobalance.workflows.demo.urbancars import NAME
from tests.browser.oidc_provider import Provider, providing
from tests.browser.pages import Pages, settle
from tests.browser.server import WebApp, running

PEOPLE = {
    "the editor": {"email": "ann@example.org", "email_verified": True, "name": "Ann"},
    "the viewer": {"email": "bob@example.org", "email_verified": True, "name": "Bob"},
    "the impostor": {"email": "ann@example.org", "email_verified": False, "name": "Eve"},
    "the unknown": {"email": "ann@example.org", "name": "Mallory"},
    "the stranger": {"email": "ann@example.com", "email_verified": True, "name": "Ann"},
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with providing(PEOPLE) as started:
        yield started


@pytest.fixture(scope="module")
def app(tmp_path_factory, app_environment, provider) -> Iterator[WebApp]:
    folder = tmp_path_factory.mktemp("login")
    file = folder / "auth.toml"
    file.write_text(provider.auth_file())
    environment = {
        **app_environment,
        "COBALANCE_AUTH_FILE": str(file),
        "COBALANCE_EDITORS": "ann@example.org",
        "COBALANCE_VIEWERS": "@example.org",
    }
    with running(folder, environment, "--demo") as started:
        yield started
    assert started.crashes() == []


@pytest.fixture
def door(pages: Pages, provider: Provider) -> Page:
    return pages.open(f"/?dataset={NAME}", also_hosts=[provider.netloc], settled=False)


def log_in(door: Page, person: str) -> None:
    door.get_by_role("button", name="Log in").click()
    door.get_by_role("link", name=person).click()
    door.wait_for_url(lambda url: "oauth2callback" not in url)
    settle(door)


def test_nobody_sees_anything_before(door):
    expect(door.get_by_role("button", name="Log in")).to_be_visible()
    assert NAME not in door.content()
    assert Axe().run(door).response["violations"] == []


@pytest.mark.parametrize(
    ("person", "address", "right"),
    [
        ("the editor", "ann@example.org", "Editor."),
        ("the viewer", "bob@example.org", "Viewer: read only."),
    ],
)
def test_people_come_in_and_leave(door, person, address, right):
    log_in(door, person)
    expect(door.get_by_role("heading", level=1)).to_be_visible()
    door.get_by_role("button", name="account_circle icon").click()
    expect(door.get_by_text(address)).to_be_visible()
    expect(door.get_by_text(right)).to_be_visible()
    with door.expect_event("load"):  # the app is empty at once; the cookie goes with the page
        door.get_by_role("button", name="Log out").click()
    expect(door.get_by_role("button", name="Log in")).to_be_visible()
    door.reload()
    expect(door.get_by_role("button", name="Log in")).to_be_visible()


@pytest.mark.parametrize("person", ["the impostor", "the unknown", "the stranger"])
def test_who_is_not_listed_stays_outside(door, person):
    log_in(door, person)
    expect(door.get_by_text("may not see this app")).to_be_visible()
    expect(door.get_by_role("button", name="Log out")).to_be_visible()
    assert NAME not in door.locator("[data-testid=stApp]").inner_text()


def test_a_forged_cookie_opens_nothing(door):
    log_in(door, "the viewer")
    expect(door.get_by_role("heading", level=1)).to_be_visible()
    cookies = door.context.cookies()
    user = next(cookie for cookie in cookies if cookie["name"] == "_streamlit_user")
    assert user["httpOnly"]
    assert user["sameSite"] == "Lax"
    middle = len(user["value"]) // 2
    other = "A" if user["value"][middle] != "A" else "B"
    user["value"] = user["value"][:middle] + other + user["value"][middle + 1 :]

    # Away from the page, which would ask for pictures with it.
    address = door.url
    door.goto("about:blank")
    door.context.add_cookies([user])
    door.goto(address)

    expect(door.get_by_role("button", name="Log in")).to_be_visible()
