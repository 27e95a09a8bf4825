"""Diagnose in the browser: table, graph and URL follow one another."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Browser, Page, expect

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.queries.overview import read_overview
from tests.browser.pages import Pages, barriers, graph, screenshot, settle
from tests.support.waiting import until

ROW_PX = 33  # of a table's header and rows


def tick(page: Page, row: int) -> None:
    """Tick the box of a row of the table, which is drawn on a canvas."""
    table = page.get_by_test_id("stDataFrame").first
    table.click(position={"x": 16, "y": ROW_PX * (row + 1.5)})
    settle(page)


def click_node(page: Page, node: str, **options: object) -> None:
    at = graph(page, "renderedPositions()")[node]
    page.mouse.click(at["x"], at["y"])
    settle(page)


def parameters(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.evaluate("location.href")).query)


def selected_in_url(page: Page) -> list[str]:
    return parameters(page).get("clique", [])


def test_the_axis_is_the_same_and_balanced_concepts_stand_on_its_middle(
    pages: Pages, store: GraphStore, dataset: str
) -> None:
    """UrbanCars' concepts at their skews; those of a balanced dataset, all on one line."""
    records = [
        ImageRecord(f"{name} {row}", name, tuple(Mention(f"c{code}") for code in range(row % 7)))
        for name in ("left", "right")
        for row in range(40)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(max_size=2), max_cliques=1000)
    axes = []
    for name in ("urbancars", dataset):
        page = pages.open(f"/?{urlencode({'dataset': name})}")
        axis = graph(page, "axis()")
        axes.append(axis)
        left, middle, right = (axis[skew] for skew in ("-1", "0", "1"))
        assert abs(middle - (left + right) / 2) < 0.2
        at = graph(page, "renderedPositions()")
        overview = read_overview(store, name)
        counts = overview.concepts.set_index("concept")[
            [f"count_{y}" for y in overview.class_sizes]
        ]
        rates = counts / [*overview.class_sizes.values()]
        for concept, first, second in rates.itertuples():
            expected = middle + (second - first) / (second + first) * (right - left) / 2
            assert abs(at[f"c:{concept}"]["x"] - expected) < 0.5, concept
        if name == dataset:
            assert len({at[f"c:{concept}"]["x"] for concept in counts.index}) == 1
    assert axes[0] == axes[1]


def test_a_row_highlights_its_clique(pages: Pages) -> None:
    page = pages.open("/?dataset=urbancars&size=2")
    zoom = graph(page, "zoom()")
    graph(page, "identity.mark = 'the same'")
    tick(page, 0)
    # The largest gap of all pairs of UrbanCars: 530 of country, 1 of urban.
    until(lambda: graph(page, "highlighted()") == ["c:cow", "c:forest_road"])
    assert graph(page, "identity.mark") == "the same", "the graph was made anew"
    assert graph(page, "zoom()") == zoom, "the graph was laid out anew"
    until(lambda: selected_in_url(page) == ['["cow","forest_road"]'])
    assert graph(page, "hulls()") == [["selected", "c:cow", "c:forest_road"]]
    screenshot(page, "diagnose-selected")
    # Of what is pointed at, the strongest cliques that the table lists, and not the selected one.
    at = graph(page, "renderedPositions()")["c:forest_road"]
    page.mouse.move(at["x"], at["y"])
    until(lambda: len(graph(page, "hulls()")) == 4)
    assert all("c:forest_road" in hull for hull in graph(page, "hulls()"))
    assert [hull[0] for hull in graph(page, "hulls()")] == ["selected"] + ["pointed"] * 3


def test_a_node_filters_the_table_and_a_link_reproduces_it(pages: Pages) -> None:
    page = pages.open("/?dataset=urbancars")
    click_node(page, "c:sheep")
    until(lambda: parameters(page).get("concept") == ["sheep"])
    assert graph(page, "selected()") == ["c:sheep"]
    again = pages.open(page.evaluate("location.pathname + location.search"))
    until(lambda: graph(again, "selected()") == ["c:sheep"])
    tick(again, 1)
    until(lambda: selected_in_url(again))
    (clique,) = selected_in_url(again)
    assert "sheep" in json.loads(clique)


def test_clearing_a_selection_unticks_the_rows(pages: Pages) -> None:
    page = pages.open("/?dataset=urbancars&size=2")
    tick(page, 0)
    until(lambda: len(selected_in_url(page)) == 1)
    tick(page, 2)
    until(lambda: len(selected_in_url(page)) == 2)
    page.get_by_role("button", name="Clear", exact=True).click()
    until(lambda: not selected_in_url(page))
    until(lambda: graph(page, "highlighted()") == [])


def test_selected_cliques_go_along_to_the_plan_and_back(pages: Pages) -> None:
    page = pages.open("/?dataset=urbancars&size=2")
    tick(page, 0)
    page.get_by_role("button", name="Plan the missing images").click()
    page.wait_for_url("**/plan**")
    until(lambda: selected_in_url(page) == ['["cow","forest_road"]'])
    page.get_by_role("link", name="Diagnose").click()
    until(lambda: graph(page, "highlighted()") == ["c:cow", "c:forest_road"])


def test_a_finger_scrolls_the_page_and_pans_the_graph(pages: Pages) -> None:
    page = pages.open("/?dataset=urbancars", width=1024, height=700, touch=True)
    screen = page.context.new_cdp_session(page)
    box = page.locator(".concept-graph").bounding_box()
    assert box is not None
    start = {"x": box["x"] + box["width"] / 2, "y": box["y"] + 200}

    def swipe(x_px: float, y_px: float) -> None:
        points = [
            {"x": start["x"] + x_px * i / 10, "y": start["y"] + y_px * i / 10} for i in range(11)
        ]
        for kind, touched in (
            ("touchStart", points[:1]),
            *(("touchMove", [point]) for point in points[1:]),
            ("touchEnd", []),
        ):
            screen.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})

    swipe(120, 10)
    until(lambda: graph(page, "pan()")["x"] > 100)
    pan = graph(page, "pan()")
    swipe(0, -200)
    until(lambda: page.get_by_test_id("stMain").evaluate("main => main.scrollTop") > 0)
    settle(page)
    assert graph(page, "pan()") == pan
    assert graph(page, "selected()") == [], "the swipe was taken for a tap"


def test_every_picture_and_the_images_behind_a_count(pages: Pages) -> None:
    for view in ("Graph", "Matrix", "Combinations"):
        page = pages.open(f"/?dataset=urbancars&view={view}")
        screenshot(page, f"diagnose-{view.lower()}")
    table = page.get_by_test_id("stDataFrame").first
    number = {"x": 450, "y": ROW_PX * 1.5}  # of the first class
    table.click(position=number)
    drawer = page.get_by_role("dialog", name="cow")
    expect(drawer.get_by_text("Log odds ratio")).to_be_visible()
    screenshot(page, "diagnose-details")
    drawer.get_by_role("button", name="Add to plan").click()
    expect(drawer.get_by_role("button", name="Take out of the plan")).to_be_focused()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(page.get_by_role("button", name="Plan the missing images")).to_be_visible()
    settle(page)
    table.click(position=number)
    expect(drawer.get_by_role("button", name="Take out of the plan")).to_be_visible()


def test_marks_of_the_charts_and_nodes_of_the_graph_lead_to_details(pages: Pages) -> None:
    drawer = '[role="dialog"]'
    for view, mark in (("Matrix", "rect mark"), ("Combinations", "bar")):
        page = pages.open(f"/?dataset=urbancars&view={view}")
        marks = page.get_by_test_id("stVegaLiteChart").first.locator(
            f"path[aria-roledescription='{mark}']"
        )
        for _ in range(2):  # the same one again, after it was closed
            marks.first.click()
            expect(page.locator(drawer).get_by_text("Log odds ratio")).to_be_visible()
            page.keyboard.press("Escape")
            expect(page.locator(drawer)).to_have_count(0)
            until(lambda page=page: "images" not in parameters(page))
            settle(page)
    page = pages.open("/?dataset=urbancars&concept=cow")
    page.get_by_role("button", name="Details of cow").click()
    expect(page.locator(drawer).get_by_text("Log odds ratio")).to_be_visible()
    assert json.loads(parameters(page)["images"][0]) == ["cow"]


def test_the_report_is_one_file_that_phones_and_dark_rooms_can_read(
    pages: Pages, browser: Browser, tmp_path: Path
) -> None:
    page = pages.open("/?dataset=urbancars")
    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Download report").click()
    assert downloaded.value.suggested_filename == "urbancars-report.html"
    file = tmp_path / "report.html"
    downloaded.value.save_as(file)
    phone = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    read = phone.new_page()
    asked, said = [], []
    read.on("request", lambda request: asked.append(request.url))
    read.on("console", lambda message: said.append(message.text))
    read.goto(file.as_uri())
    assert (asked, said) == ([file.as_uri()], [])
    assert read.evaluate("document.documentElement.scrollWidth") == 390
    shown = read.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shown == "rgb(13, 17, 23)"  # the dark scheme's
    assert "images of country" in read.locator("p.lead").inner_text()
    phone.close()


def test_a_cell_of_the_heat_map_filters_and_shows_its_images(
    pages: Pages, store: GraphStore, dataset: str
) -> None:
    groups = [("ant", "sand", 30), ("ant", "leaf", 10), ("bee", "leaf", 40), ("cow", "leaf", 20)]
    records = [
        ImageRecord(f"{name} {concept} {row}", name, (Mention(concept),))
        for name, concept, images in [*groups, ("cow", "sand", 20)]
        for row in range(images)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    mine_dataset(store, dataset, MiningOptions(max_size=2, common=()), max_cliques=1000)
    page = pages.open(f"/?{urlencode({'dataset': dataset, 'view': 'Heat map'})}")
    cells = page.get_by_test_id("stVegaLiteChart").locator("path[aria-roledescription='rect mark']")
    assert cells.count() == 6
    cells.nth(0).click(position={"x": 5, "y": 5})
    until(lambda: {"images", "concept"} <= {*parameters(page)})
    chosen = json.loads(parameters(page)["images"][0])
    assert parameters(page)["concept"] == chosen
    assert parameters(page)["images_of"] == ["ant"]
    settle(page)
    expect(page.get_by_role("dialog", name=chosen[0])).to_be_visible()
    assert barriers(page) == []
