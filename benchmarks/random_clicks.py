"""Random clicks and keys on every page: `python -m benchmarks.random_clicks`.

On the dataset `digits` of the store, with a job and evaluations after `cobalance demo --full`, in a
real Chromium. For some seconds a page's visible parts are clicked and keys pressed, by a seed, as
fast as the page takes them; links lead on. Prints a line a page: how many clicks, and what no page
should do (console errors, uncaught exceptions, requests to other hosts, a traceback of the server,
a page that is blank or shows a defect), and exits with 1 if there is any.
"""

import argparse
import random
import sys
import time

from playwright.sync_api import Error, Page

from tests.browser.demos import demo_pages
from tests.browser.pages import Pages, settle

VIEWS = ("Around", "Similar", "Matrix")
PATHS = ("datasets", "", "plan", "jobs", "compare", "evaluate", "annotate", "study", "cypher")
KEYS = ("Enter", "Escape", "Tab", "ArrowDown", "ArrowRight", "Space", "Backspace", "a", "1")
KEY_SHARE = 0.15
# What can be clicked; canvases are tables and graphs.
_TARGETS = "button, a, input, canvas, [role=option], [role=tab], [role=button], summary, label, img"
# What would end the clicks: downloads and what deletes the data that they are on.
_LEFT_ALONE = ("Download", "Drop", "Rename", "Delete", "Log out")
# Boxes of the targets that a person sees, and could hit in the middle.
_IN_SIGHT = """([targets, leftAlone]) => [...document.querySelectorAll(targets)]
  .filter(element => !leftAlone.some(word => element.textContent.includes(word)))
  .map(element => [element, element.getBoundingClientRect()])
  .filter(([element, box]) => box.width && box.height && element.contains(
    document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)))
  .map(([, box]) => [box.x, box.y, box.width, box.height])"""


def main() -> None:
    """Click on all pages, and print what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="for each page")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    addresses = [f"/{path}?dataset=digits" for path in PATHS]
    addresses += [f"/?dataset=digits&view={view}" for view in VIEWS]
    n_problems = 0
    with demo_pages() as pages:
        print(f"{'page':<32} {'clicks':>6}  problems")
        for number, address in enumerate(addresses):
            chance = random.Random(options.seed + number)
            clicks, problems = click_around(pages, address, options.seconds, chance)
            n_problems += len(problems)
            print(f"{address:<32} {clicks:>6}  {'; '.join(problems) or '-'}", flush=True)
        crashes = pages.app.crashes()
        print(*crashes, sep="\n")
    sys.exit(int(n_problems + len(crashes) > 0))


def click_around(
    pages: Pages, address: str, seconds: float, chance: random.Random
) -> tuple[int, list[str]]:
    """Click on a page for some seconds; return how many clicks, and what went wrong."""
    page = pages.open(address, height=900)
    clicks, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        if chance.random() < KEY_SHARE:
            page.keyboard.press(chance.choice(KEYS))
        elif click_something(page, chance):
            clicks += 1

    settle(page)
    problems = [*pages.problems]
    pages.problems.clear()
    if page.get_by_test_id("stException").count():
        problems.append("a defect is shown")
    if not page.locator("[data-testid=stMain]").inner_text().strip():
        problems.append("blank")
    page.close()
    return clicks, problems


def click_something(page: Page, chance: random.Random) -> bool:
    """Click a random place of a random target in sight; False if there is none."""
    try:
        targets = page.evaluate(_IN_SIGHT, [_TARGETS, _LEFT_ALONE])
    except Error:
        # A link has just led to another page.
        return False
    if not targets:
        return False

    # A canvas is a table or a graph: each place of it is another target.
    left, top, width, height = chance.choice(targets)
    page.mouse.click(left + width * chance.random(), top + height * chance.random())
    return True


if __name__ == "__main__":
    main()
