"""The web app on the demonstration datasets, for pictures and measurements."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from cobalance.base.progress import silent
from cobalance.workflows.demo.loading import ensure_digits
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.browser import chromium
from tests.browser.pages import Pages
from tests.browser.server import environment_of, running


@contextmanager
def demo_pages() -> Iterator[Pages]:
    """Open pages of an app with the demonstrations, on the store of the environment's settings."""
    settings = Settings.from_environment()
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        open_store(settings) as store,
        running(Path(folder), environment_of(settings), "--demo") as app,
    ):
        ensure_digits(store, settings, silent)
        pages = Pages(chromium.launch(playwright), app)
        yield pages
        pages.close()
