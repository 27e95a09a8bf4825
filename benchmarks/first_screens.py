"""What each page shows first at 1280 x 900: `python -m benchmarks.first_screens`.

On the dataset `digits` of the store, with a job and evaluations after `cobalance demo --full`, in a
real Chromium. Prints for each page where its first picture, graph or table begins, how far its
parts moved while they came (layout shift; below 0.10 is good), what axe finds of any impact, and
where that content begins on a phone.
"""

from playwright.sync_api import Page

from tests.browser.demos import demo_pages
from tests.browser.pages import EVERY_IMPACT, barriers, settle

PATHS = ("datasets", "", "plan", "jobs", "compare", "evaluate", "annotate", "study", "cypher")
PHONE = (390, 844)
# The shifts that no click caused are added up.
SHIFT = """() => new Promise(answer => {
    new PerformanceObserver(list => answer(
        list.getEntries().filter(entry => !entry.hadRecentInput)
            .reduce((sum, entry) => sum + entry.value, 0)
    )).observe({ type: "layout-shift", buffered: true });
    // A page without any shift has no entry.
    setTimeout(() => answer(0), 500);
})"""
_PARTS = ("image-grid", "stImage", "stDataFrame", "stVegaLiteChart", "stCode")
CONTENT = ", ".join([".concept-graph", *(f'[data-testid="{name}"]' for name in _PARTS)])


def main() -> None:
    """Measure all pages."""
    with demo_pages() as pages:
        print(f"{'page':<10} {'first px':>8} {'shift':>6} {'axe':>4} {'phone px':>8}")
        for path in PATHS:
            page = pages.open(f"/{path}?dataset=digits", height=900)
            shift, first = page.evaluate(SHIFT), first_content(page)
            found = len(barriers(page, EVERY_IMPACT))
            phone = pages.open(f"/{path}?dataset=digits", width=PHONE[0], height=PHONE[1])
            name = path or "diagnose"
            print(f"{name:<10} {first:>8} {shift:>6.2f} {found:>4} {first_content(phone):>8}")


def first_content(page: Page) -> str:
    """Where the first picture, table or chart begins, in pixels from the top; a dash without."""
    settle(page)
    tops = [
        box["y"]
        for element in page.locator(CONTENT).all()
        if (box := element.bounding_box()) is not None and box["height"] > 0
    ]
    return f"{min(tops):.0f}" if tops else "-"


if __name__ == "__main__":
    main()
