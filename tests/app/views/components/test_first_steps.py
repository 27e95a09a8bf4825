"""What an empty store offers, and that it leads to the example's diagnosis."""

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.demo import NAME
from app.views.components import first_steps
from app.views.state import session, tasks
from graph.database.store import GraphStore
from graph.dataset.state import list_datasets
from tests.app.conftest import Login, OpenPage, shown_text


@pytest.fixture
def loaded(store: GraphStore, cars: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The datasets that the page finds; the example is loaded as one that is there."""
    names: list[str] = []

    def found() -> pd.DataFrame:
        listed = list_datasets(store)
        return listed[listed["dataset"].isin(names)]

    monkeypatch.setattr(session, "datasets", found)
    monkeypatch.setattr(first_steps, "NAME", cars)
    monkeypatch.setattr(first_steps, "ensure_demo", lambda *_: names.append(cars))
    return names


def button(app: AppTest, key: str) -> bool:
    return key in {one.key for one in app.button}


def test_the_example_is_loaded_in_the_page(
    open_page: OpenPage, loaded: list[str], cars: str
) -> None:
    app = open_page("diagnose")
    assert not app.exception
    assert button(app, "_load_own")
    app.button(key="_load_demo").click().run()
    task = tasks.find(first_steps.TASK)
    assert task is None or task.wait(60)
    app.run()
    assert not app.exception
    assert loaded == [cars]
    assert app.selectbox(key="dataset").value == cars
    assert "combinations" in str([one.value for one in app.subheader])


def test_whoever_may_only_look_is_offered_nothing(
    open_page: OpenPage, loaded: list[str], login: Login
) -> None:
    login(editors="somebody@example.org")
    app = open_page("jobs")
    assert not app.exception
    assert not button(app, "_load_demo")
    assert NAME not in shown_text(app)


def test_the_page_with_the_form_offers_the_example(open_page: OpenPage, loaded: list[str]) -> None:
    app = open_page("datasets")
    assert not app.exception
    assert button(app, "_load_demo")
    assert not button(app, "_load_own")
