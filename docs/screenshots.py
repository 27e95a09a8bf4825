"""Take the README's two pictures of the web app on the demo dataset: `python -m docs.screenshots`.

The app runs on a local Neo4j of the settings in the environment, in a real Chromium.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from app.settings import Settings
from tests.browser import chromium
from tests.browser.pages import Pages, settle
from tests.browser.server import environment_of, running

HERE = Path(__file__).parent
SELECTED = "clique=%5B%22cow%22%2C%22forest_road%22%5D"


def main() -> None:
    """Start the app, take the pictures, stop it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        running(Path(folder), environment_of(Settings.from_environment()), "--demo") as app,
    ):
        pages = Pages(chromium.launch(playwright), app)
        _save(pages.open(f"/?dataset=urbancars&{SELECTED}", height=920), "app-diagnose")
        _save(pages.open("/plan?dataset=urbancars", scheme="dark", height=920), "app-plan")
        pages.close()


def _save(page: Page, name: str) -> None:
    settle(page)
    page.screenshot(path=HERE / f"{name}.png")


if __name__ == "__main__":
    main()
