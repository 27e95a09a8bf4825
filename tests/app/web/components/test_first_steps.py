"""What an empty store offers, and that it leads to the example's diagnosis."""

import threading

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.components import first_steps
from cobalance.app.web.state import session, tasks
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.state import list_datasets
from cobalance.workflows.demo.urbancars import NAME
from tests.app.conftest import Login, OpenPage, shown_text


@pytest.fixture
def loaded(store: GraphStore, cars: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The datasets that the page finds; the example is loaded as one that is there."""
    names: list[str] = []

    def found() -> pd.DataFrame:
        listed = list_datasets(store)
        return listed[listed["dataset"].isin(names)]

    monkeypatch.setattr(session, "datasets", found)
    example = first_steps.Example("Cars", "Cars.", lambda *_: names.append(cars))
    monkeypatch.setattr(first_steps, "EXAMPLES", {cars: example})
    return names


def button(app: AppTest, key: str) -> bool:
    return key in {one.key for one in app.button}


def examples(app: AppTest) -> list[str]:
    """The examples that can be loaded."""
    keys = (one.key or "" for one in app.button)
    return [key.removeprefix("_load_demo ") for key in keys if key.startswith("_load_demo ")]


def test_the_example_is_loaded_in_the_page(
    open_page: OpenPage, loaded: list[str], cars: str
) -> None:
    app = open_page("diagnose")
    assert not app.exception
    assert button(app, "_load_own")
    app.button(key=f"_load_demo {cars}").click().run()
    task = tasks.find(first_steps.TASK)
    assert task is None or task.wait(300)
    app.run()
    assert not app.exception
    assert loaded == [cars]
    assert app.selectbox(key="dataset").value == cars
    assert "combinations" in str([one.value for one in app.header])


def test_whoever_may_only_look_is_offered_nothing(
    open_page: OpenPage, loaded: list[str], login: Login
) -> None:
    login(editors="somebody@example.org")
    app = open_page("jobs")
    assert not app.exception
    assert not examples(app)
    assert NAME not in shown_text(app)


def test_the_page_with_the_form_offers_the_example_and_leads_to_it(
    open_page: OpenPage, loaded: list[str], cars: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()

    def load(*_: object) -> None:
        assert goes_on.wait(300)
        loaded.append(cars)

    monkeypatch.setattr(first_steps, "EXAMPLES", {cars: first_steps.Example("Cars", "", load)})
    app = open_page("datasets")
    assert not app.exception
    assert examples(app) == [cars]
    assert not button(app, "_load_own")
    app.button(key=f"_load_demo {cars}").click().run()
    goes_on.set()
    task = tasks.find(first_steps.TASK)
    assert task is not None
    assert task.wait(300)
    assert [title.value for title in app.run().title] == ["Diagnose"]


def test_what_is_not_there_is_offered_beside_the_form(open_page, loaded, cars, monkeypatch) -> None:
    loaded.append(cars)
    other = first_steps.Example("Others", "Others.", lambda *_: None)
    monkeypatch.setattr(first_steps, "EXAMPLES", {**first_steps.EXAMPLES, f"{cars} other": other})
    app = open_page("datasets", dataset=cars, ds_view="Load annotations")
    assert examples(app) == [f"{cars} other"]
