"""Saved views: a page's link under a name, for everybody who looks at the dataset."""

import pytest

from cobalance.app.web.components import saved_views
from cobalance.base.errors import ConflictError, DataError, OptionError
from cobalance.graph.database.store import GraphStore
from cobalance.graph.tags.saved_views import list_views, rename_view, save_view
from tests.app.conftest import Login, OpenPage


def test_a_view_is_saved_renamed_and_deleted(
    open_page: OpenPage, cars: str, store: GraphStore
) -> None:
    hostile = "}) DETACH DELETE n // <b>"
    save_view(store, cars, hostile, "plan", "", by="ann")
    app = open_page("diagnose", dataset=cars, clique='["cow"]')
    app.session_state[saved_views.MENU] = True
    app.run()
    app.text_input(key="_view_name").set_value(" cows ").run()
    app.button(key="_view_save").click().run()
    assert not app.exception
    views = list_views(store, cars).set_index("view")
    assert views.loc["cows", "page"] == "diagnose"
    assert "clique=%5B%22cow%22%5D" in views.loc["cows", "query"].split("&")
    assert "dataset=" not in views.loc["cows", "query"]
    assert views.loc[hostile, "created_by"] == "ann"
    rename_view(store, cars, "cows", "more cows")
    with pytest.raises(ConflictError, match="already"):
        rename_view(store, cars, "more cows", hostile)
    app.run()
    app.selectbox(key="_view_chosen").set_value(hostile).run()
    app.button(key="_view_delete").click().run()
    assert not app.exception
    assert list_views(store, cars)["view"].tolist() == ["more cows"]


def test_viewers_open_views_and_change_none(
    open_page: OpenPage, cars: str, store: GraphStore, login: Login
) -> None:
    save_view(store, cars, "cows", "plan", "x=1")
    with pytest.raises(DataError, match="characters"):
        save_view(store, cars, "long", "plan", "x" * 30_000)
    with pytest.raises(OptionError, match="cannot name a view"):
        save_view(store, cars, " ", "plan", "")
    app = open_page("plan", dataset=cars)
    app.session_state[saved_views.MENU] = True
    app.run()
    assert [button.key for button in app.button if button.key == "_view_save"]
    login(viewers="ann@example.org")
    app.session_state[saved_views.MENU] = True
    app.run()
    assert not [button.key for button in app.button if button.key == "_view_save"]
