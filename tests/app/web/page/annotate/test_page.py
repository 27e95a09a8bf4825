"""The Annotate page: runs, thresholds, review and orders, on scores that no model made."""

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from cobalance.annotation.labelling.settings import LabelSettings
from cobalance.app.web.state import access
from cobalance.graph.annotations.attributes import (
    ProposedAttribute,
    list_attributes,
    save_attributes,
)
from cobalance.graph.annotations.runs import NewRun, create_run, end_run, list_runs, read_run
from cobalance.graph.database.store import GraphStore
from tests.app.conftest import OpenPage, press, shown_text
from tests.support.audited_run import BOX, CONCEPTS

HOSTILE = "<b>o'x</b> :red[y] " + "z" * 150


def labels(app: AppTest) -> set[str]:
    return {one.label for one in app.button}


def test_thresholds_are_tried_before_they_are_kept_and_in_links(
    open_page: OpenPage, store: GraphStore, dataset: str, run: str, drawn: list[pd.DataFrame]
) -> None:
    app = open_page("annotate", dataset=dataset)
    assert not app.exception
    counts = {row["concept"]: row["images"] for row in app.dataframe[-1].value.to_dict("records")}
    assert set(counts) == set(CONCEPTS)
    assert all(counts.values())
    assert "1 image could not be read" in shown_text(app)
    (score,) = [one for one in app.number_input if one.label == "Lowest score that counts"]
    score.set_value(0.95).run()
    assert app.dataframe[-1].value["images"].tolist() == [0, 0]
    assert LabelSettings.read(read_run(store, run).settings).threshold == 0.5
    press(app, "Keep these thresholds")
    assert LabelSettings.read(read_run(store, run).settings).threshold == 0.95
    assert {"Accept", "Reject", "Delete"} <= labels(app)
    drawn.clear()
    link = {"annotate_of": CONCEPTS[1], f"annotate_score_{run[:6]}_1": "0.3"}
    app = open_page("annotate", dataset=dataset, **link)
    assert not app.exception
    none, some = app.dataframe[-1].value["images"]
    assert none == 0 < some
    (score,) = [one for one in app.number_input if one.label == "Lowest score that counts"]
    assert score.value == 0.3
    boxes = pd.concat(drawn)[["concept", "x_px", "y_px", "w_px", "h_px"]].to_numpy().tolist()
    assert boxes
    assert all(box == [CONCEPTS[1], *BOX] for box in boxes)


def test_attributes_are_reviewed_one_by_one_and_by_editors_alone(
    open_page: OpenPage,
    store: GraphStore,
    dataset: str,
    run: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proposal = create_run(store, dataset, NewRun("propose", HOSTILE, {}))
    save_attributes(
        store,
        proposal,
        [
            ProposedAttribute("scene", "sea", "image", "a photo of sea"),
            ProposedAttribute("scene", HOSTILE, "image", HOSTILE, flags=("names a class",)),
            ProposedAttribute("thing", "rock", "object", "a rock"),
        ],
    )
    end_run(store, proposal)
    app = open_page("annotate", dataset=dataset, annotate_view="Review")
    assert not app.exception
    grids = [
        one for one in app.get("bidi_component") if one.proto.component_name.endswith("_mount")
    ]
    assert len(grids) == 6  # 11 images have scores
    press(app, "Reject")
    press(app, "Accept all unflagged (1)")
    found = list_attributes(store, dataset).set_index("proposed")["state"].to_dict()
    assert found == {"sea": "rejected", HOSTILE: "proposed", "rock": "accepted"}
    link = {"annotate_view": "Review", "annotate_into": "thing / rock"}
    app = open_page("annotate", dataset=dataset, **link)
    press(app, "Merge")
    assert list_attributes(store, dataset).set_index("proposed").loc[HOSTILE, "merged_into"] == (
        "thing",
        "rock",
    )
    assert "All attributes are decided" in shown_text(app)
    monkeypatch.setattr(access, "user", lambda: access.User("eve", True, False))
    for view in ("Runs", "Review"):
        app = open_page("annotate", dataset=dataset, annotate_view=view)
        assert not app.exception
        assert not labels(app) & {"Accept", "Reject", "Delete", "Run again", "Merge"}
        assert "COBALANCE_EDITORS" in shown_text(app)


def test_orders_name_the_fields_that_they_lack(
    open_page: OpenPage, store: GraphStore, dataset: str, run: str
) -> None:
    app = open_page("annotate", dataset=dataset, annotate_view="Label", annotate_level="image")
    press(app, "Order the run")
    assert "no accepted attributes" in shown_text(app)
    app.text_area(key="annotate_concepts").set_value(f"{HOSTILE}\nsea").run()
    press(app, "Order the run")
    assert "“Base caption”" in shown_text(app)
    app.text_input(key="annotate_base").set_value("a photo").run()
    press(app, "Order the run")
    ordered = [one for one in list_runs(store, dataset) if one.state == "queued"]
    assert [len(LabelSettings.read(one.settings).attributes) for one in ordered] == [2]
    app = open_page("annotate", dataset=dataset, annotate_run=ordered[0].id)
    press(app, "Cancel")
    assert read_run(store, ordered[0].id).state == "cancelled"
    assert {"Run again", "Delete"} <= labels(app)
    press(app, "Run again")
    assert read_run(store, ordered[0].id).state == "queued"


def test_links_name_runs_by_id(
    open_page: OpenPage, store: GraphStore, dataset: str, run: str
) -> None:
    newer = create_run(store, dataset, NewRun("propose", "m", {}))
    app = open_page("annotate", dataset=dataset, annotate_run=run)
    (choice,) = [one for one in app.selectbox if one.label == "Run"]
    assert choice.value == run
    choice.set_value(newer).run()
    assert app.query_params["annotate_run"] in (newer, [newer])
    app.query_params["annotate_run"] = run  # the browser's Back
    app.run()
    assert next(one for one in app.selectbox if one.label == "Run").value == run
    app = open_page("annotate", dataset=dataset, annotate_run="of another dataset")
    assert not app.exception
    assert next(one for one in app.selectbox if one.label == "Run").value == newer
    assert app.query_params["annotate_run"] in (newer, [newer])
    app = open_page("annotate", dataset=dataset)  # it holds when there is a newer one
    assert app.query_params["annotate_run"] in (newer, [newer])


def test_without_runs_it_says_what_to_do(open_page: OpenPage, cars: str) -> None:
    for view in ("Runs", "Review"):
        app = open_page("annotate", dataset=cars, annotate_view=view)
        assert not app.exception
        assert "yet" in shown_text(app)
    app = open_page("annotate", dataset=cars, annotate_view="Propose")
    assert "cobalance annotate propose" in app.code[0].value
