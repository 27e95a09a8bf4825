"""The app in a real Chromium: one browser and one server for all tests here, pages for each."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from cobalance.graph.database.store import GraphStore
from cobalance.workflows.settings import Settings
from tests.browser import chromium
from tests.browser.pages import LONGEST_MS, Pages
from tests.browser.server import WebApp, environment_of, running

expect.set_options(timeout=LONGEST_MS)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            started = chromium.launch(playwright)
        except chromium.NoChromiumError as error:
            pytest.fail(str(error), pytrace=False)
        yield started
        started.close()


@pytest.fixture(scope="session")
def app_environment(settings: Settings, store: GraphStore) -> dict[str, str]:
    """For a process that shall use the store of the tests, which runs."""
    return environment_of(settings)


@pytest.fixture
def run_app(
    tmp_path: Path, app_environment: dict[str, str]
) -> Callable[..., AbstractContextManager[WebApp]]:
    """Run an app of this test's own: `with run_app("--demo") as app`."""
    return partial(running, tmp_path, app_environment)


@pytest.fixture(scope="package")
def app(
    tmp_path_factory: pytest.TempPathFactory, app_environment: dict[str, str]
) -> Iterator[WebApp]:
    """The app on the store of the tests, with the demo dataset; nothing that it logs is a crash."""
    with running(tmp_path_factory.mktemp("app"), app_environment, "--demo") as started:
        yield started
    assert started.crashes() == []


@pytest.fixture
def pages(browser: Browser, app: WebApp) -> Iterator[Pages]:
    """Opens pages; a console error, an exception or a request to another host fails the test."""
    opened = Pages(browser, app)
    yield opened
    opened.close()
    assert opened.problems == []
