"""What a click costs in the web app: Streamlit's messages, and a grid of 100 thumbnails.

    python -m benchmarks.interactions

Writes 400 JPEG files of 640 x 480 pixels and a dataset of them. Prints, for some interactions in
Chromium, how long the page takes to come to rest and how many messages and kilobytes the server
sends; then how long after the click on a number all of 100 thumbnails are drawn, which are in
view at once, when they are in the cache.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, Position, WebSocket, sync_playwright

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.workflows.load.dataset import load_dataset
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.browser import chromium
from tests.browser.pages import Pages, settle
from tests.browser.server import environment_of, running

DATASET = "interactions"
IMAGES, SHOWN = 400, 100
NUMBER: Position = {"x": 330, "y": 50}  # of the table's first row
TALL_PX = 2900  # of a window in which 2 x 100 thumbnails of 80 px are in view

_DRAWN = """wanted => {
  const drawn = [...document.querySelectorAll("[data-testid=stDialog] *")]
    .flatMap(one => [...(one.shadowRoot?.querySelectorAll(".cells img") ?? [])])
    .filter(one => one.complete && one.naturalWidth);
  return drawn.length >= wanted;
}"""


def write_images(folder: Path) -> Annotations:
    """Write photographs' worth of noise, half of each class, all with a table and most a cup."""
    random = np.random.default_rng(0)
    records = []
    for at in range(IMAGES):
        pixels = random.integers(0, 256, (48, 64, 3), dtype=np.uint8)
        picture = Image.fromarray(pixels).resize((640, 480), Image.Resampling.BICUBIC)
        picture.save(folder / f"{at}.jpg", quality=90)
        shows = ("table", "cup") if at % 4 else ("table",)
        mentions = tuple(Mention(name, box=(100, 100, 200, 150)) for name in shows)
        records.append(
            ImageRecord(f"{at:03}", "home" if at % 2 else "office", mentions, None, f"{at}.jpg")
        )
    return Annotations.from_records(records)


class Wire:
    """What the server sends to a page."""

    def __init__(self, page: Page) -> None:
        self.messages = self.size = 0
        page.on("websocket", self._watch)

    def _watch(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._count)

    def _count(self, frame: str | bytes) -> None:
        self.messages += 1
        self.size += len(frame)


def measure(page: Page, wire: Wire, name: str, act: Callable[[], object]) -> None:
    """Do something, and print what it cost until the page is at rest."""
    page.evaluate("window.lastMessage = 0")
    messages, size, start = wire.messages, wire.size, time.perf_counter()
    act()
    page.wait_for_function("() => window.lastMessage > 0")
    settle(page)
    seconds = time.perf_counter() - start
    sent = (wire.size - size) / 1000
    print(f"  {name:<44} {wire.messages - messages:>3} messages {sent:>7.1f} kB {seconds:6.2f} s")


def time_thumbnails(page: Page, act: Callable[[], object]) -> float:
    """Seconds from a click until all thumbnails are drawn."""
    start = time.perf_counter()
    act()
    page.wait_for_function(_DRAWN, arg=2 * SHOWN, polling="raf")
    return time.perf_counter() - start


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    settings = Settings.from_environment()
    with (
        tempfile.TemporaryDirectory() as name,
        open_store(settings) as store,
        sync_playwright() as playwright,
    ):
        folder = Path(name)
        load_dataset(store, settings.folders(), DATASET, write_images(folder), source="a benchmark")
        mine_dataset(store, DATASET, MiningOptions(max_size=2), max_cliques=100)
        environment = environment_of(settings) | {"COBALANCE_IMAGES": str(folder)}
        try:
            with running(folder, environment) as app:
                browser = chromium.launch(playwright)
                pages = Pages(browser, app)
                page = pages.open(f"/?dataset={DATASET}")
                wire = Wire(page)
                table = page.get_by_test_id("stDataFrame").first
                measure(page, wire, "open Diagnose", page.reload)
                measure(page, wire, "a number: its details", lambda: table.click(position=NUMBER))
                cell = page.get_by_test_id("image-grid").first.get_by_role("button").first
                measure(page, wire, "an image in the lightbox", cell.click)
                measure(page, wire, "the next one", lambda: page.keyboard.press("ArrowRight"))
                measure(page, wire, "close it", lambda: page.keyboard.press("Escape"))
                measure(page, wire, "close the details", lambda: page.keyboard.press("Escape"))
                pairs = page.get_by_role("radio", name="2", exact=True)
                measure(page, wire, "pairs alone", pairs.click)
                strips = page.get_by_role("radio", name="Images", exact=True)
                measure(page, wire, "another picture: Images", strips.click)
                plan = page.get_by_role("link", name="Plan")
                measure(page, wire, "to the page Plan", plan.click)

                look = f"images_per_page={SHOWN}&images_px=80&images=%5B%22table%22%5D"
                page = pages.open(f"/?dataset={DATASET}&{look}", width=1280, height=TALL_PX)
                table = page.get_by_test_id("stDataFrame").first
                runs = []
                for _ in range(1 + repeats):
                    page.keyboard.press("Escape")
                    settle(page)
                    runs.append(time_thumbnails(page, lambda: table.click(position=NUMBER)))
                pages.close()
        finally:
            drop_dataset(store, DATASET)
    warm = np.array(runs[1:])
    print(
        f"  2 x {SHOWN} thumbnails in view after the click: first {runs[0]:.2f} s, then median "
        f"{np.median(warm):.2f} s, largest {warm.max():.2f} s of {repeats}"
    )


if __name__ == "__main__":
    main()
