"""Take the README's pictures of the web app on the demo datasets: `python -m docs.screenshots`.

The app runs on a local Neo4j of the settings in the environment, in a real Chromium.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from cobalance.base.progress import silent
from cobalance.workflows.demo.loading import ensure_digits
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.browser import chromium
from tests.browser.pages import Pages, settle
from tests.browser.server import environment_of, running

HERE = Path(__file__).parent
SHOWN = "images=%5B%22stars%22%5D"


def main() -> None:
    """Start the app, take the pictures, stop it."""
    settings = Settings.from_environment()
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        open_store(settings) as store,
        running(Path(folder), environment_of(settings), "--demo") as app,
    ):
        ensure_digits(store, settings, silent)
        pages = Pages(chromium.launch(playwright), app)
        _save(pages.open("/?dataset=digits", height=920), "app-diagnose")
        _save(pages.open(f"/?dataset=digits&{SHOWN}", height=640), "app-details")
        _save(pages.open("/plan?dataset=digits", scheme="dark", height=1280), "app-plan")
        pages.close()


def _save(page: Page, name: str) -> None:
    settle(page)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=HERE / f"{name}.png")


if __name__ == "__main__":
    main()
