"""The app when the database goes away and comes back, and with ten people at once."""

from urllib.parse import urlsplit

from playwright.sync_api import FilePayload, expect

from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.browser.pages import Pages, settle
from tests.browser.server import running

USERS = 5
CARS: FilePayload = {
    "name": "cars.csv",
    "mimeType": "text/csv",
    "buffer": b"id,class,concepts\n1,urban,sign\n2,country,sign\n3,country,cow\n",
}


def test_the_database_stops_and_returns(browser, tmp_path, app_environment, way):
    with running(tmp_path, app_environment | way.variables, "--demo") as app:
        pages = Pages(browser, app)
        page = pages.open("/?dataset=urbancars")
        page.locator(".concept-graph[data-ready]").wait_for()
        way.cut()
        page.reload()
        settle(page)
        page.get_by_text("No Neo4j server answers").wait_for()
        assert page.get_by_test_id("stException").count() == 0
        way.restore()
        page.get_by_role("button", name="Try again").click()
        page.locator(".concept-graph[data-ready]").wait_for()
        pages.close()
        assert pages.problems == []


def test_the_local_server_is_stopped_under_an_open_page(
    browser, tmp_path, app_environment, settings, random_annotations
):
    own = settings.model_copy(update={"neo4j_uri": None, "cobalance_home": tmp_path / "data"})
    environment = {
        name: value for name, value in app_environment.items() if not name.startswith("NEO4J_")
    }
    environment["COBALANCE_HOME"] = str(own.cobalance_home)
    try:
        with open_store(own) as store:
            write_annotations(store, "small", random_annotations(60), source="a file")
        with running(tmp_path, environment) as app:
            pages = Pages(browser, app)
            page = pages.open("/jobs?dataset=small")  # it asks every two seconds
            page.get_by_text("No job yet").wait_for()
            assert local_server.stop(own.local_server())
            page.get_by_text("No Neo4j server answers").wait_for()
            page.get_by_text("the next try starts it").wait_for()
            settle(page)
            assert local_server.status(own.local_server()) is None  # no page starts it by itself
            page.get_by_role("button", name="Try again").click()
            page.get_by_text("No job yet").wait_for(timeout=150_000)
            assert page.get_by_test_id("stException").count() == 0
            pages.close()
            assert pages.problems == []
    finally:
        local_server.stop(own.local_server())


def test_several_people_at_once(pages: Pages, settings: Settings):
    paths = [f"/?dataset=urbancars&size={1 + i % 2}" for i in range(USERS)]
    opened = [pages.open(path, settled=False) for path in paths]
    for page in opened:
        page.locator(".concept-graph[data-ready]").wait_for()
        assert page.get_by_test_id("stException").count() == 0
    with open_store(settings) as store:
        assert store.read("RETURN 1 AS x") == [{"x": 1}]


def test_a_restarted_server_asks_for_the_file_again(browser, tmp_path, app_environment):
    """A browser keeps showing a file that it has sent, which the new server does not have."""
    with running(tmp_path, app_environment, "--demo") as app:
        pages = Pages(browser, app)
        page = pages.open("/datasets?dataset=urbancars&ds_view=Load+annotations")
        uploader = page.locator("input[type=file]")
        uploader.set_input_files(CARS)
        load = page.get_by_role("button", name="Load and diagnose", exact=True)
        expect(load).to_be_visible()
        port = urlsplit(app.url).port

    assert port is not None
    with running(tmp_path, app_environment, "--demo", port=port):
        expect(page.get_by_test_id("stFileUploaderFile")).to_have_count(0)
        settle(page)
        uploader.set_input_files(CARS)
        expect(load).to_be_visible()
        assert page.get_by_test_id("stException").count() == 0
        pages.close()
