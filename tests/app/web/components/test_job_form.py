"""The form of a job's settings asks for consent where people are painted."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.state import session
from cobalance.generation.recipes import RECIPES
from cobalance.graph.database.store import GraphStore
from cobalance.workflows.settings import Settings
from tests.app.conftest import shown_text


def form() -> None:
    import streamlit as st

    from cobalance.app.web.components import job_form
    from cobalance.app.web.state import session

    edits = st.query_params.get("edits") == "yes"
    st.json(job_form.choose(session.current(), edits=edits) or {"refused": True})


def opened(dataset: str, **parameters: str) -> AppTest:
    app = AppTest.from_function(form, default_timeout=300)
    app.session_state["dataset"] = dataset
    for name, value in parameters.items():
        app.query_params[name] = value
    return app.run()


@pytest.fixture
def cars_in_app(
    cars: str, settings: Settings, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    if settings.neo4j_uri is None:
        monkeypatch.setenv("COBALANCE_HOME", str(settings.cobalance_home))
    session.forget_store()
    try:
        yield cars
    finally:
        session.store().close()
        session.forget_store()


def test_recipes_that_paint_people_ask_for_consent(cars_in_app: str) -> None:
    app = opened(cars_in_app, edits="yes", recipe="resampled")
    assert not app.exception
    assert '"refused"' in app.json[0].value
    assert "Say on what basis" in shown_text(app)
    assert "“Basis on which people are painted”" in shown_text(app)
    app.text_input(key="_consent resampled").input("  All have agreed.  ").run()
    assert '"consent": "All have agreed."' in app.json[0].value.replace('":"', '": "')
    assert not [box for box in app.checkbox if "real people" in box.label]
    assert "consent" not in str(app.query_params)


def test_what_stays_of_real_people_is_confirmed(cars_in_app: str) -> None:
    app = opened(cars_in_app, edits="yes", recipe="pinpoint")
    app.text_input(key="_consent pinpoint").input("All have agreed.").run()
    assert '"refused"' in app.json[0].value
    assert "“A part of real people stays in the images”" in shown_text(app)
    app.checkbox(key="_alters pinpoint").check().run()
    assert "alters_real_people" in app.json[0].value
    assert "for research and evaluation alone" in shown_text(app)


def test_candidates_are_as_many_as_the_recipe_makes(cars_in_app: str) -> None:
    app = opened(cars_in_app, edits="yes", recipe="resampled", object="cow")
    (field,) = [one for one in app.number_input if "andidates" in one.label]
    assert (field.label, field.value) == ("Candidates for an image", 30)
    assert json.loads(app.json[0].value)["best_of"] == 30
    field.set_value(6).run()
    assert json.loads(app.json[0].value)["best_of"] == 6
    app = opened(cars_in_app, edits="yes", recipe="pinpoint", object="cow")
    (field,) = [one for one in app.number_input if "andidates" in one.label]
    assert (field.label, field.value) == ("Most candidates for an image", 1)
    assert json.loads(app.json[0].value)["candidates_per_image"] == 1


def test_other_objects_need_no_consent(cars_in_app: str) -> None:
    app = opened(cars_in_app, edits="yes", recipe="resampled", object="cow")
    assert '"refused"' not in app.json[0].value
    assert "cow" in app.json[0].value


def test_a_planner_s_plan_is_made_by_the_other_recipes(cars_in_app: str) -> None:
    app = opened(cars_in_app, recipe="resampled")
    assert set(app.selectbox(key="recipe").options).isdisjoint({"resampled", "pinpoint"})
    assert '"recipe": "procedural"' in app.json[0].value.replace('":"', '": "')
    assert not [field for field in app.text_input if "Basis" in field.label]


def test_a_recipe_that_names_no_fields_has_those_of_its_backend(
    cars_in_app: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain_recipe.py").write_text(
        "from cobalance.generation.recipes.recipe import Recipe\n"
        "PLUGIN = Recipe('plain', 'Paints by rule.', backend='procedural', prompt='', filters={}, "
        "reference='none')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(RECIPES._entries, "plain", "plain_recipe")
    app = opened(cars_in_app, recipe="plain")
    assert not app.exception
    assert [field.label for field in app.number_input][:2] == [
        "Width in pixels",
        "Height in pixels",
    ]
