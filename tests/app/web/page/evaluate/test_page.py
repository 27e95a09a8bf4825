"""The Evaluate page: runs side by side, images behind a number, orders, and others' tables."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from cobalance.app.web.page.evaluate import order
from cobalance.app.web.page.evaluate.charts import cells_of
from cobalance.app.web.state import access
from cobalance.evaluation.metrics.metric import Inputs, score_metrics
from cobalance.evaluation.predictions import check_predictions
from cobalance.evaluation.shortcuts import Shortcuts
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.read import read_image_concepts
from cobalance.graph.evaluations.reading import Evaluation, list_evaluations
from cobalance.graph.evaluations.writing import (
    NewEvaluation,
    create_evaluations,
    save_predictions_uri,
    save_scores,
)
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.evaluate.order import EvaluationOrder, Ordered
from cobalance.workflows.evaluate.results import name_rows
from cobalance.workflows.evaluate.stored import write_maps, write_predictions
from cobalance.workflows.settings import Settings
from tests.app.conftest import OpenPage, WriteDataset, shown_text


@pytest.fixture
def output(settings: Settings, tmp_path, monkeypatch: pytest.MonkeyPatch) -> OutputFolder:
    monkeypatch.setenv("COBALANCE_OUTPUT", str(tmp_path))
    return OutputFolder(str(tmp_path))


def predict(store: GraphStore, dataset: str, wrong: int) -> pd.DataFrame:
    """Predictions for all images, the first few of country wrong; where cows are is common."""
    images = read_image_concepts(store, dataset)
    frame = pd.DataFrame({"image": images["id"], "class_name": images["class_name"]})
    frame["predicted"] = frame["class_name"]
    rows = frame.index[frame["class_name"] == "country"][:wrong]
    frame.loc[rows, "predicted"] = "urban"
    cow = [("cow" in concepts) for concepts in images["concepts"]]
    at_home = np.array(cow) == (frame["class_name"] == "country")
    frame["concepts"] = np.where(at_home, "common", "uncommon")
    frame["p_country"] = (frame["predicted"] == "country") * 0.8 + 0.1
    frame["p_urban"] = 1 - frame["p_country"]
    return frame


def evaluate(
    store: GraphStore,
    output: OutputFolder,
    dataset: str,
    method: str,
    seed: int,
    wrong: int,
    test: str | None = None,
    *,
    sure: bool = True,
) -> str:
    new = NewEvaluation(method, seed)
    (one,) = create_evaluations(store, [new], train=dataset, test=test or dataset, extra=None)
    predicted = predict(store, test or dataset, wrong)
    if not sure:
        predicted = predicted.drop(columns=["p_country", "p_urban"])
    predictions = check_predictions(predicted)
    names = ("group_accuracy", "balanced_accuracy", "worst_group")
    scored = score_metrics(Inputs(predictions), {name: {} for name in names})
    save_predictions_uri(store, one, write_predictions(output, one, predictions))
    save_scores(store, one, scored.frame)
    return one


@pytest.fixture
def evaluated(store: GraphStore, cars: str, output: OutputFolder) -> dict[str, str]:
    """Two seeds of one method and one of another: 2, 4 and 0 of 10 country images wrong."""
    return {
        "erm 0": evaluate(store, output, cars, "erm", 0, 2),
        "erm 1": evaluate(store, output, cars, "erm", 1, 4),
        "upweight 0": evaluate(store, output, cars, "upweight", 0, 0),
    }


def table(app: AppTest, column: str) -> pd.DataFrame:
    """The first table with a column."""
    return next(one.value for one in app.dataframe if column in one.value)


def test_without_evaluations_it_says_how_to_get_some(open_page: OpenPage, cars: str) -> None:
    app = open_page("evaluate", dataset=cars)
    assert not app.exception
    assert "No result yet" in shown_text(app)


def test_runs_side_by_side_with_the_images_behind_them(
    open_page: OpenPage, cars: str, evaluated: dict[str, str]
) -> None:
    app = open_page("evaluate", dataset=cars, evaluate_metric="group accuracy")
    assert not app.exception
    overview = table(app, "seeds").set_index("run")
    assert overview["seeds"].to_dict() == {"erm": 2, "upweight": 1}
    assert overview.loc["upweight", "worst_group"] == "100.0"
    # The best on its worst group is the first, and the sentence tells of it.
    assert overview.index.tolist() == ["upweight", "erm"]
    worst = 100 * (7 / 9 + 5 / 9) / 2
    assert app.header[0].value.replace("\\", "") == (
        f"upweight is right on 100.0% of its worst group, {100 - worst:.1f} points above the next "
        "best, erm. Tested on 20 images."
    )
    cells = table(app, "images").set_index("group")
    # 9 of the country images show a cow; 2 and 4 of them are wrong: 77.8 and 55.6.
    expected = np.array([7 / 9, 5 / 9]) * 100
    text = f"{expected.mean():.1f} ± {expected.std(ddof=1):.1f}"
    assert cells.loc["country, concepts common", "run 1"] == text
    assert cells.loc["country, concepts common", "images"] == 9
    assert "0 of 20 images are predicted wrong." in shown_text(app)
    # The link names the model, as the first one may be another when more are trained.
    assert app.query_params["evaluate_model"] in ("upweight, seed 0", ["upweight, seed 0"])
    app.selectbox(key="evaluate_model").select(evaluated["erm 0"]).run()
    assert "2 of 20 images are predicted wrong; the surest first." in shown_text(app)
    linked = open_page(
        "evaluate",
        dataset=cars,
        evaluate_model="erm, seed 1",  # as the page calls it
        evaluate_group="country, concepts common",
        evaluate_verdict="Right",
    )
    assert not linked.exception
    assert "5 of 9 images are predicted right" in shown_text(linked)


def test_a_link_names_the_test_images(
    open_page: OpenPage,
    cars: str,
    store: GraphStore,
    output: OutputFolder,
    evaluated: dict[str, str],
    write_dataset: WriteDataset,
) -> None:
    rows = [("country", ("cow",), 3), ("urban", ("cow",), 3)]
    other = write_dataset(f"{cars} renamed", rows, mine=False)
    evaluate(store, output, cars, "erm", 0, 1, test=other)
    app = open_page("evaluate", dataset=cars)
    assert not app.exception
    choice = app.selectbox(key="evaluate_test")
    assert app.query_params["evaluate_test"] in (choice.options[0], [choice.options[0]])
    linked = open_page("evaluate", dataset=cars, evaluate_test=other)
    assert not linked.exception
    assert linked.selectbox(key="evaluate_test").value == other
    assert "1 of 6 images are predicted wrong" in shown_text(linked)
    again = open_page("evaluate", dataset=cars, evaluate_test="none of them")
    assert again.selectbox(key="evaluate_test").value == choice.options[0]


def test_without_scores_no_image_is_surer_than_another(
    open_page: OpenPage, store: GraphStore, cars: str, output: OutputFolder
) -> None:
    evaluate(store, output, cars, "erm", 0, 2, sure=False)
    app = open_page("evaluate", dataset=cars)
    assert not app.exception
    assert "2 of 20 images are predicted wrong." in shown_text(app)


def test_where_a_model_fails_stands_in_the_imbalance_table(
    open_page: OpenPage, cars: str, evaluated: dict[str, str]
) -> None:
    app = open_page("diagnose", dataset=cars, model=f"erm ({cars}, augmented), seed 1")
    assert not app.exception
    shown = table(app, "accuracy")
    of = dict(zip(shown["concepts"].map(" + ".join), shown["accuracy"], strict=True))
    tested = dict(zip(shown["concepts"].map(" + ".join), shown["test images"], strict=True))
    # All 4 wrong images show a cow in a field: of 6 in the country and 1 in town, 3 are right.
    assert (of["cow + field"].split()[0], tested["cow + field"]) == ("42.9", 7)
    assert (of["sign"].split()[0], tested["sign"]) == ("100.0", 10)


def test_a_changed_dataset_marks_results_as_outdated(
    open_page: OpenPage, cars: str, evaluated: dict[str, str], write_dataset: WriteDataset
) -> None:
    write_dataset(cars, [("country", ("cow",), 3)])
    app = open_page("evaluate", dataset=cars)
    assert not app.exception
    assert "3 results of 3 are outdated" in shown_text(app)
    assert table(app, "seeds")["outdated"].all()


def test_predictions_in_another_folder_leave_the_scores(
    open_page: OpenPage, cars: str, evaluated: dict[str, str], monkeypatch, tmp_path_factory
) -> None:
    monkeypatch.setenv("COBALANCE_OUTPUT", str(tmp_path_factory.mktemp("elsewhere")))
    app = open_page("evaluate", dataset=cars)
    assert not app.exception
    assert "COBALANCE_OUTPUT" in shown_text(app)
    assert table(app, "seeds")["seeds"].tolist() == [1, 2]


def test_a_run_is_ordered_and_cancelled(open_page: OpenPage, cars: str, store: GraphStore) -> None:
    app = open_page(
        "evaluate",
        dataset=cars,
        evaluate_view="Train models",
        evaluate_shortcuts="None",
    )
    app.button(key="_train").click().run()
    assert "nothing to test on" in shown_text(app)  # no split, and no other dataset
    assert "“Test split”" in shown_text(app)
    new = NewEvaluation("erm", 0)
    create_evaluations(store, [new], train=cars, test=cars, extra="evaluate")
    app.run()
    assert table(app, "stage")["state"].tolist() == ["queued"]
    app.button(key="_cancel_evaluations").click().run()
    assert not app.exception
    assert [one.state for one in list_evaluations(store, cars)] == ["cancelled"]


def test_options_validation_and_a_file_of_shortcuts_are_part_of_an_order(
    open_page: OpenPage,
    store: GraphStore,
    write_dataset: WriteDataset,
    cars: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(access, "accept_uploads", lambda: None)
    app = open_page(
        "evaluate",
        dataset=cars,
        evaluate_view="Train models",
        evaluate_methods=["dfr", "upweight"],
        evaluate_seeds="1",
        evaluate_shortcuts="A file",
        small_c="0.1, 1",
        small_features="dinov2",
        small_select="loss",
        dfr_refits="3",
        upweight_by="class",
    )
    assert app.button(key="_train").disabled
    app.file_uploader[0].upload("s.toml", b"[place]\nurban = 3\n", "text/plain").run()
    assert "place.urban is 3" in shown_text(app)
    assert app.button(key="_train").disabled
    content = b'[place]\nurban = ["road"]\ncountry = ["cow", "field"]\n'
    app.file_uploader[0].upload("s.toml", content, "text/plain").run()
    assert "cow, field" in shown_text(app)
    seen: list[EvaluationOrder] = []

    def take(_store: GraphStore, wanted: EvaluationOrder, **_: str) -> Ordered:
        seen.append(wanted)
        return Ordered((), (), ())

    monkeypatch.setattr(order, "order_evaluations", take)
    app.button(key="_train").click().run()
    assert not app.exception
    (ordered,) = seen
    assert isinstance(ordered.shortcuts, Shortcuts)
    assert ordered.shortcuts.concepts["place"]["country"] == ("cow", "field")
    assert ordered.learner_options == {"features": "dinov2", "c": ("0.1", "1"), "select": "loss"}
    assert app.button_group(key="small_features").value == "dinov2"  # one of those there are
    assert ordered.method_options == {"refits": 3, "by": "class"}


def test_evaluations_are_deleted_with_their_files(
    open_page: OpenPage, cars: str, evaluated: dict[str, str], tmp_path: Path, store: GraphStore
) -> None:
    app = open_page("evaluate", dataset=cars)
    app.button(key="_evaluate_delete").click().run()
    chosen = app.multiselect(key="_evaluate_to_delete")
    assert chosen.value == []
    chosen.set_value([evaluated["erm 1"]]).run()
    app.button(key="_evaluate_delete_now").click().run()
    assert not app.exception
    left = {evaluated["erm 0"], evaluated["upweight 0"]}
    assert {one.id for one in list_evaluations(store, cars)} == left
    assert {one.name for one in (tmp_path / "evaluations").iterdir()} == left


def test_a_viewer_neither_trains_nor_sends_tables(
    open_page: OpenPage, cars: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("order", "uploaded", "page"):
        monkeypatch.setattr(f"cobalance.app.web.page.evaluate.{name}.may_edit", lambda: False)
    assert (
        open_page("evaluate", dataset=cars, evaluate_view="Train models")
        .button(key="_train")
        .disabled
    )
    app = open_page("evaluate", dataset=cars, evaluate_view="Score a table")
    assert not app.exception
    assert not app.get("file_uploader")


def test_anybodys_table_is_scored(
    open_page: OpenPage,
    cars: str,
    store: GraphStore,
    output: OutputFolder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(access, "accept_uploads", lambda: None)
    content = predict(store, cars, 5).drop(columns="concepts").to_csv(index=False).encode()
    app = open_page("evaluate", dataset=cars, evaluate_view="Score a table")
    app.file_uploader[0].upload("../mine.csv", content, "text/csv").run()
    assert not app.exception
    scores = table(app, "value").set_index(["metric", "group"])["value"]
    assert scores["accuracy", "all images"] == pytest.approx(0.75)
    assert not any("_" in name for names in scores.index for name in names)
    (folded,) = [one for one in app.expander if one.label.endswith("left out")]
    assert not folded.proto.expanded
    app.button(key="_scored_keep").click().run()
    assert not app.exception
    (kept,) = list_evaluations(store, cars)
    assert (kept.train, kept.test, kept.state) == (None, cars, "done")
    assert "_scored_keep" not in [button.key for button in app.button]
    app.button(key="_scored_see").click().run()
    assert not app.exception
    assert app.selectbox(key="evaluate_model").value == kept.id
    app.button_group(key="evaluate_view").set_value("Score a table").run()
    app.file_uploader[0].upload("bad.csv", b"image\n1\n", "text/csv").run()
    assert "has no column class_name" in shown_text(app)
    images = read_image_concepts(store, cars)["id"].tolist()
    box = {"category_id": 1, "bbox": [1, 2, 3, 4]}
    objects = {
        "images": [{"id": image} for image in images],
        "annotations": [box | {"image_id": image} for image in images],
        "categories": [{"id": 1, "name": "car"}],
    }
    found = [box | {"image_id": image, "score": 0.5} for image in images[::2]]
    sent = [
        (name, json.dumps(content).encode(), "application/json")
        for name, content in (("instances.json", objects), ("results.json", found))
    ]
    app.file_uploader[0].set_value(sent).run()
    assert not app.exception
    scores = table(app, "value").set_index(["metric", "group"])["value"]
    assert scores["detection precision", "car"] == pytest.approx(51 / 101)
    assert not [one for one in app.button if one.key == "_scored_keep"]


def test_maps_stand_beside_the_images(
    open_page: OpenPage,
    cars: str,
    evaluated: dict[str, str],
    output: OutputFolder,
    store: GraphStore,
    tmp_path,
) -> None:
    buffer = io.BytesIO()
    Image.fromarray(np.full((4, 4), 200, np.uint8)).save(buffer, "PNG")
    rows = predict(store, cars, 2).query("class_name != predicted")[
        ["image", "class_name", "predicted"]
    ]
    maps = rows.assign(cam_energy=0.5, mask_share=0.2, map=buffer.getvalue())
    write_maps(output, evaluated["erm 0"], maps)
    store.write(
        "MATCH (i:Image {dataset: $dataset}) SET i.uri = 'one.png'",
        dataset=cars,
    )
    Image.new("RGB", (8, 8), "white").save(tmp_path / "one.png")
    app = open_page("evaluate", dataset=cars, evaluate_model="erm, seed 0")
    assert not app.exception
    assert "where the model sees its class" in shown_text(app)


def evaluation(id_: str, **changes) -> Evaluation:
    usual = dict.fromkeys(Evaluation.__dataclass_fields__)
    return Evaluation(
        **usual
        | {"id": id_, "method": "erm", "train": "d", "training_set": "real", "test": "d"}
        | {"settings_list": ["linear"]}
        | changes
    )


def test_runs_are_called_by_what_tells_them_apart():
    same = [evaluation("1"), evaluation("2", method="jtt")]
    assert name_rows(same, brief=True) == {"1": "erm", "2": "jtt"}
    other = [evaluation("1"), evaluation("2", train="d2")]
    assert name_rows(other, brief=True) == {"1": "erm (d)", "2": "erm (d2)"}
    tests = [evaluation("1"), evaluation("2", test="d2")]
    assert name_rows(tests)["2"] == "erm (d, real, linear, tested on d2)"


def test_bars_keep_empty_groups():
    scores = pd.DataFrame(
        {
            "run": ["a", "a", "a", "a"],
            "group": ["x", "x", "y", "y"],
            "seed": [0, 1, 0, 1],
            "value": [0.2, 0.4, np.nan, np.nan],
            "low": [0.1, 0.3, np.nan, np.nan],
            "high": [0.3, 0.5, np.nan, np.nan],
            "n": [10, 10, 0, 0],
            "outdated": False,
        }
    )
    assert cells_of(scores, "worst_group")["a"].to_dict() == {"x": "30.0 ± 14.1", "y": "-"}
