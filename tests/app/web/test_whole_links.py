"""The address of a page shows in a new session what was chosen on it, whatever that was."""

import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.main import PAGES
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.lifecycle import create_job
from tests.app.conftest import OpenPage, shown_text

VIEWS = (
    "view",
    "ds_view",
    "find_view",
    "evaluate_view",
    "annotate_view",
    "cypher_ask",
    "near_kind",
)
PATHS = list(PAGES)
KINDS = (
    *("selectbox", "segmented_control", "multiselect", "checkbox", "toggle", "radio"),
    *("slider", "select_slider", "number_input", "text_input"),
)


def controls(app: AppTest) -> dict[str, Any]:
    """The widgets that stand for something that is seen: those of actions have keys with a `_`."""
    found = {one.key: one for kind in KINDS for one in getattr(app, kind)}
    return {key: one for key, one in found.items() if key and not key.startswith("_")}


def change(control: Any) -> None:
    """Choose something else, if there is anything else to choose."""
    kind = type(control).__name__
    if kind in ("Checkbox", "Toggle"):
        control.set_value(not control.value)
    elif kind in ("Selectbox", "Radio"):
        if len(control.options) > 1:
            control.select_index(len(control.options) - 1)
    elif kind == "ButtonGroup":
        control.set_value(control.options[-1])
    elif kind == "Multiselect" and control.options:
        control.set_value([control.options[0]])
    elif kind == "Slider":
        low = control.min
        control.set_value((low, low) if isinstance(control.value, (list, tuple)) else low)
    elif kind == "NumberInput":
        control.set_value(control.min + 1 if control.value is None else control.value + 1)
    elif kind == "TextInput":
        control.set_value("cow")


def link_of(app: AppTest) -> dict[str, Any]:
    """The address as the browser has it: what pages write into it, and the widgets bound to it."""
    link = dict(app.query_params)
    for key, one in controls(app).items():
        assert one.proto.query_param_key == key, f"{key} is in no link"
        value = one.value
        if value not in (None, []) and getattr(one, "options", None):
            at = one.indices if hasattr(one, "indices") else [one.index]
            value = [one.options[place] for place in at]
        if value is not None:
            many = isinstance(value, (list, tuple))
            link[key] = [text_of(item) for item in value] if many else text_of(value)
    return link


def text_of(value: object) -> str:
    """A value as Streamlit writes it into the address."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@pytest.fixture
def job(cars: str, store: GraphStore) -> str:
    create_job(store, cars, "cows", [("urban", ("cow",), 3)])
    return cars


@pytest.mark.parametrize("path", PATHS)
def test_a_link_shows_all_that_was_chosen(open_page: OpenPage, job: str, path: str) -> None:
    first = controls(open_page(path, dataset=job))
    views = {key: first[key].options for key in VIEWS if key in first} or {"dataset": [job]}
    for name, view in [(name, view) for name, options in views.items() for view in options]:
        app = open_page(path, **{"dataset": job, name: view})
        changed = {"dataset", *VIEWS}
        while left := [one for key, one in controls(app).items() if key not in changed]:
            changed.add(left[0].key)
            if not left[0].disabled:
                change(left[0])
                app.run()
                assert not app.exception, left[0].key
        for button in app.button:
            if button.label == "Run" and view == "Saved query":  # a link runs it by itself
                button.click().run()
        again = open_page(path, **link_of(app))
        assert not again.exception
        for one in (app, again):
            while any(button.key == "_cypher_stop" for button in one.button):  # a query runs
                one.run()
        chosen, shown = ({k: c.value for k, c in controls(one).items()} for one in (app, again))
        assert shown == chosen
        said, expected = (re.sub(r"in \d+\.\d+ s", "", shown_text(one)) for one in (again, app))
        assert said == expected
