"""How long a page takes to answer a click: `python -m benchmarks.clicks`.

On the dataset `digits` of the store, in a real Chromium on this machine. From the press of the
mouse to the end of the last run that it asks for: median and 95th percentile of ticks, cells and
views of Diagnose, in milliseconds.
"""

import argparse
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Page

from benchmarks.figures import report
from tests.browser.demos import demo_pages
from tests.browser.pages import ANSWERED, answered, settle

ROW_PX = 33  # of the table's header and rows
# From the press to the first frame in which the page has answered.
_WATCH_CLICKS = f"""() => {{
  addEventListener("pointerdown", () => {{
    const pressed = performance.now();
    let began = false;
    const look = () => {{
      const is_answered = ({ANSWERED})();
      began ||= !is_answered;
      if (began && is_answered) window.took = performance.now() - pressed;
      else requestAnimationFrame(look);
    }};
    window.took = undefined;
    look();
  }}, true);
}}"""


def main() -> None:
    """Print a line for each kind of click."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clicks", type=int, default=30)
    n_clicks = parser.parse_args().clicks

    print(f"{'click':<24} {'median ms':>9} {'p95 ms':>7}")
    with demo_pages() as pages:
        for name, click, most_ms in CLICKS:
            page = pages.open("/?dataset=digits", height=900)
            page.evaluate(_WATCH_CLICKS)
            runs = [time_click(page, click, number) for number in range(n_clicks)]
            p95_ms = float(np.percentile(runs, 95))
            print(f"{name:<24} {np.median(runs):9.0f} {p95_ms:7.0f}", flush=True)
            report(f"clicks: 95th percentile, {name}", p95_ms, "ms", at_most=most_ms)


def time_click(page: Page, click: Callable[[Page, int], None], number: int) -> float:
    """Milliseconds until the page has answered a click."""
    settle(page)
    click(page, number)
    answered(page)
    page.wait_for_function("() => window.took !== undefined")
    return float(page.evaluate("window.took"))


def _in_table(page: Page, x: float, row: int) -> None:
    place = page.get_by_test_id("stDataFrame").first.bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + x, place["y"] + ROW_PX * (row + 1.5))


def tick(page: Page, number: int) -> None:
    """Tick a row, or take its tick away."""
    _in_table(page, 16, number % 8)


def click_cell(page: Page, number: int) -> None:
    """Click a cell of a row."""
    _in_table(page, 120, number % 8)


def choose_view(page: Page, number: int) -> None:
    """Choose another picture."""
    views = page.get_by_test_id("stButtonGroup").last.locator("button")
    names = ["Matrix", "Combinations", "Graph"]
    views.filter(has_text=names[number % len(names)]).first.click()


CLICKS = (
    ("tick a row", tick, 150),
    ("a row's cell", click_cell, 300),
    ("another view", choose_view, 150),
)
"""Kinds of clicks, with the most milliseconds that are aimed at."""


if __name__ == "__main__":
    main()
