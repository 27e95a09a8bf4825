"""Addresses that no page wrote: each page draws itself, or says what it leaves out."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.main import PAGES
from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.lifecycle import create_job
from tests.app.conftest import OpenPage, WriteDataset, shown_text

PATHS = list(PAGES)
HOSTILE = {
    "nested": "[" * 20_000,
    "nested-and-closed": "[" * 900 + "]" * 900,
    "many-digits": "9" * 400,
    "more-digits-than-python-reads": "9" * 5_000,
    "beyond-64-bits": str(2**63),
    "beyond-a-browsers-numbers": str(2**53 + 1),
    "infinite": "inf",
    "no-number": "nan",
    "below-all": "-1",
    "a-fraction": "1.5",
    "a-null": "a\0b",
    "control-characters": "\x1b[31m\x07\u202e",
    "empty": "",
    "markup": "<script>alert(1)</script> :red[x] $y$ `z`",
    "an-object": '{"a": 1}',
    "numbers-in-a-list": '["a", 1]',
    "a-list-in-a-list": '[["a"]]',
    "a-surrogate": '["\\ud800"]',
    "a-null-in-a-list": '["a\\u0000b"]',
    "a-long-text": "x" * 50_000,
}
MANY = {
    "many-texts": [f"x{i}" for i in range(900)],
    "many-numbers": [str(i) for i in range(900)],
    "many-cliques": [json.dumps([f"x{i}", "cow"]) for i in range(900)],
    "mixed": ["1", "x", "inf", "", "[", "9" * 400],
}
ALSO = (
    "clique",
    "dataset",
    "compare_after",
    "backend",
    "width",
    "height",
    "job",
    "query",
    "cypher_text",
)


def bound(app: AppTest) -> list[str]:
    """The parameters of a page: widgets that are not in the address have keys with a `_`."""
    kinds = (app.selectbox, app.multiselect, app.number_input, app.text_input, app.text_area)
    more = (app.segmented_control, app.pills, app.slider, app.checkbox, app.toggle, app.expander)
    keys = {getattr(one, "key", None) or "_" for kind in (*kinds, *more) for one in kind}
    return sorted({name for name in keys if not name.startswith("_")}.union(ALSO))


def broken(app: AppTest) -> list[str]:
    """What a page says in place of a traceback, or that its whole drawing failed."""
    told = [error.value for error in app.exception]
    return told + [error.value for error in app.error if "went wrong" in str(error.value)]


@pytest.fixture
def job(cars: str, store: GraphStore) -> str:
    """The dataset, with a job."""
    create_job(store, cars, "cows", [("urban", ("cow",), 3)])
    return cars


@pytest.mark.parametrize("path", PATHS)
def test_any_value_of_any_parameter(open_page: OpenPage, job: str, path: str) -> None:
    given = {"cypher_ask": "Your own"} if path == "cypher" else {}
    names = bound(open_page(path, dataset=job, **given))
    wrong = {}
    for value_name, value in {**HOSTILE, **MANY}.items():
        app = open_page(path, **{**dict.fromkeys(names, value), "dataset": job, **given})
        if told := broken(app):
            wrong[value_name] = told
    assert wrong == {}


def test_a_concept_without_neighbours(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("alone",), 2), ("b", ("alone",), 1)])
    assert broken(open_page("diagnose", view="Around", dataset=dataset)) == []


def test_what_is_left_out_is_said_once(open_page: OpenPage, cars: str) -> None:
    cliques = ["[" * 20_000, '["cow"]', '["\\ud800"]', '["a\\u0000b"]', json.dumps(["x"] * 101)]
    app = open_page("plan", dataset=cars, clique=cliques, budget="9" * 400, min_gap="nan")
    assert not app.exception
    (said,) = [warning.value for warning in app.warning if "left out" in warning.value]
    assert "`clique`" in said
    assert app.query_params["clique"] in ('["cow"]', ['["cow"]'])
    assert "left out" not in shown_text(app.run())


def test_a_name_that_reads_as_a_number_is_a_name(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("inf", "nan"), 2), ("b", ("nan",), 1)])
    app = open_page("diagnose", view="Around", dataset=dataset, near_concept="inf", near_most="inf")
    assert not app.exception
    assert app.selectbox(key="near_concept").value == "inf"
    assert "`near_most`" in shown_text(app)
