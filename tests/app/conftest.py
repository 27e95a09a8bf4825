"""The web app's pages, run by Streamlit's own test runner on a real database."""

import json
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from cobalance.app.web.state import session, tasks
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.status import Job, list_jobs
from cobalance.workflows.settings import Settings

MAIN = Path(__file__).parents[2] / "cobalance" / "app" / "web" / "main.py"

OpenPage = Callable[..., AppTest]
WriteDataset = Callable[..., str]
Login = Callable[..., None]

AUTH = """
[auth]
redirect_uri = "https://data.example.org/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
client_id = "cobalance"
client_secret = "hush"
server_metadata_url = "https://login.example.org/.well-known/openid-configuration"
"""


@pytest.fixture(autouse=True)
def main_module_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo what the test runner leaves in place of ``__main__``: spawned processes import it."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(scope="session", autouse=True)
def components_found_once() -> Iterator[None]:
    """Let the test runner look through all installed packages for components once, not each run."""
    with pytest.MonkeyPatch.context() as patch:
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture
def open_page(
    settings: Settings, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> Iterator[OpenPage]:
    """Open a page of the app by its path in the address; what else is given are parameters."""
    if settings.neo4j_uri is None:
        monkeypatch.setenv("COBALANCE_HOME", str(settings.cobalance_home))
    session.forget_store()

    def open_(path: str, **parameters: str | list[str]) -> AppTest:
        app = AppTest.from_file(MAIN, default_timeout=300)
        # `AppTest.switch_page` knows files only; ours are functions, known by the path's hash.
        app._page_hash = calc_hash(path)
        for name, value in parameters.items():
            app.query_params[name] = value
        return app.run()

    try:
        yield open_
    finally:
        session.store().close()
        session.forget_store()


@pytest.fixture
def cars(dataset: str, write_dataset: WriteDataset) -> str:
    """Cows and fields lean to country, signs to urban; roads to neither."""
    return write_dataset(
        dataset,
        [
            ("country", ("cow", "field"), 6),
            ("country", ("cow", "road"), 3),
            ("country", ("sign", "road"), 1),
            ("urban", ("sign", "road"), 5),
            ("urban", ("cow", "field"), 1),
            ("urban", ("alley", "sign"), 4),
        ],
    )


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Login:
    """Have everybody log in; what is given says who may do what: ``editors="ann@..."``."""

    def configure(**people: str) -> None:
        file = tmp_path / "auth.toml"
        file.write_text(AUTH)
        monkeypatch.setenv("COBALANCE_AUTH_FILE", str(file))
        for name, value in people.items():
            monkeypatch.setenv(f"COBALANCE_{name.upper()}", value)

    return configure


def shown_text(app: AppTest) -> str:
    """All texts of a page, for a look whether something stands somewhere."""
    kinds = (app.text, app.markdown, app.caption, app.info, app.warning, app.success, app.error)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def press(app: AppTest, label: str) -> None:
    """Press the only button with this label."""
    (button,) = [button for button in app.button if button.label == label]
    button.click().run()
    assert not app.exception


def progress(app: AppTest) -> str:
    """The text of the page's only progress bar."""
    (bar,) = app.get("progress")
    return str(bar.proto.text)


def stories(app: AppTest) -> list[dict[str, Any]]:
    """The data of the page's graphs that have steps."""
    found = app.get("bidi_component")
    sent = [json.loads(one.proto.json) for one in found if one.proto.json]
    return [data for data in sent if data.get("steps")]


def created(app: AppTest, store: GraphStore, dataset: str) -> Job:
    """Create the job that the page shows, and give it."""
    app.checkbox(key="_without_images").check()
    app.button(key="_plan_create").click().run()
    task = tasks.find(f"job {dataset}")
    assert task is not None
    assert task.wait(300)
    assert task.error is None
    return list_jobs(store, dataset)[0]
