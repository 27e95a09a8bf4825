"""Take the README's pictures of the web app on the demo datasets: `python -m docs.screenshots`.

The app runs on a local Neo4j of the settings in the environment, in a real Chromium.
"""

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.demos import demo_pages
from tests.browser.pages import settle

HERE = Path(__file__).parent
SHOWN = "images=%5B%22stars%22%5D"


def main() -> None:
    """Start the app, take the pictures, stop it."""
    with demo_pages() as pages:
        _save(pages.open("/?dataset=digits", height=920), "app-diagnose")
        _save(pages.open(f"/?dataset=digits&{SHOWN}", height=640), "app-details")
        _save(pages.open("/plan?dataset=digits", scheme="dark", height=1280), "app-plan")


def _save(page: Page, name: str) -> None:
    settle(page)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=HERE / f"{name}.png")


if __name__ == "__main__":
    main()
