"""The Annotate page: what is done in the background, and what a run is worth."""

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from cobalance.annotation.proposing.cost import chat_cost
from cobalance.annotation.proposing.options import read_preset
from cobalance.app.web.state import access, tasks
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.graph.annotations.attributes import list_attributes
from cobalance.graph.annotations.runs import list_runs, read_run
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.read import load_incidence
from cobalance.graph.dataset.write import write_annotations
from cobalance.ingest.captions.image_texts import write_image_texts
from cobalance.workflows.settings import Settings
from tests.app.conftest import OpenPage, shown_text
from tests.app.web.page.annotate.test_page import labels, press
from tests.support.audited_run import CONCEPTS, labelled, shows
from tests.support.scripted_endpoint import Answer, scripted_endpoint

KEY = "sk-never-to-be-seen"
END_S = 60


def ended(key: str) -> None:
    """Wait for a task's end."""
    task = tasks.find(key)
    assert task is not None
    assert task.wait(END_S)


def text_of(app: AppTest) -> str:
    return shown_text(app) + "".join(str(one.value) for one in app.code)


def test_runs_are_accepted_rejected_and_deleted(
    open_page: OpenPage, store: GraphStore, dataset: str, run: str
) -> None:
    before = load_incidence(store, dataset).concepts
    app = open_page("annotate", dataset=dataset)
    press(app, "Accept")
    ended(f"annotate {dataset}")
    assert read_run(store, run).state == "accepted"
    assert set(load_incidence(store, dataset).concepts) == {*before, *CONCEPTS}
    app.run()
    assert "Mine the dataset" in shown_text(app)
    assert not labels(app) & {"Accept", "Delete"}
    press(app, "Reject")
    ended(f"annotate {dataset}")
    assert read_run(store, run).state == "rejected"
    assert load_incidence(store, dataset).concepts == before
    app = open_page("annotate", dataset=dataset)
    (delete,) = [one for one in app.button if one.label == "Delete"]
    assert delete.disabled
    app.checkbox(key=f"_annotate_sure {run}").check().run()
    press(app, "Delete")
    assert list_runs(store, dataset) == []


def test_proposing_asks_the_operator_s_endpoint_and_goes_on(
    open_page: OpenPage,
    store: GraphStore,
    dataset: str,
    run: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = {
        "dataset": dataset,
        "annotate_view": "Propose",
        "annotate_caption": "a photo of a bird",
        "propose_default_categories": "1",
        "propose_default_attributes": "2",
        "propose_default_rounds": "1",
        "annotate_model": "endpoint",
    }
    for name in ("URL", "MODEL", "KEY_FILE"):
        monkeypatch.delenv(f"COBALANCE_CHAT_{name}", raising=False)
    app = open_page("annotate", **form)
    assert "COBALANCE_CHAT_URL" in shown_text(app)
    assert "--categories 1 --attributes 2 --rounds 1" in app.code[0].value
    key = f"propose {dataset}"
    refusing = True

    def reply(body: dict[str, object]) -> Answer | str:
        text = str(body["messages"])
        if "attribute categories" in text:
            return '{"items": ["habitat"]}'
        if text.count("Are "):
            return '{"answer": "no", "explanation": "seen at once"}'
        return Answer("broken", 400) if refusing else '{"items": ["wetland", "forest"]}'

    with scripted_endpoint(reply) as served:
        (tmp_path / "key").write_text(KEY)
        monkeypatch.setenv("COBALANCE_CHAT_URL", served.url)
        monkeypatch.setenv("COBALANCE_CHAT_MODEL", "m")
        monkeypatch.setenv("COBALANCE_CHAT_KEY_FILE", str(tmp_path / "key"))
        app = open_page("annotate", **form)
        options = read_preset(changes={"categories": 1, "attributes": 2, "rounds": 1})
        cost = chat_cost(options, "a photo of a bird")
        assert cost.calls == 3
        assert f"**3 questions** at most, about {cost.tokens_in:,} tokens" in shown_text(app)
        press(app, "Propose attributes")
        ended(key)
        assert [one.state for one in list_runs(store, dataset)] == ["failed", "done"]
        app.run()
        assert "This did not work" in shown_text(app)
        refusing = False
        kept = len(served.requests)
        press(app, "Propose attributes")
        ended(key)
        assert "2 replies asked for, 1 kept from before" in str(tasks.find(key).result)  # type: ignore[union-attr]
        assert len(served.requests) == kept + 2
        assert {one["authorization"] for one in served.headers} == {f"Bearer {KEY}"}
    app.run()
    assert "2 attributes wait" in shown_text(app)
    assert KEY not in text_of(app)
    assert set(list_attributes(store, dataset)["name"]) == {"wetland", "forest"}
    monkeypatch.setattr(access, "user", lambda: access.User("eve", True, False))
    app = open_page("annotate", **form)
    (button,) = [one for one in app.button if one.label == "Propose attributes"]
    assert button.disabled
    assert "COBALANCE_EDITORS" in shown_text(app)


def test_runs_are_measured_and_compared(
    open_page: OpenPage, store: GraphStore, dataset: str, run: str
) -> None:
    truth = "image," + ",".join(CONCEPTS) + "\n"
    for at in range(12):
        truth += f"{at}," + ",".join(str(int(shows(at, name))) for name in CONCEPTS) + "\n"
    app = open_page("annotate", dataset=dataset, annotate_view="Measure", measure_run=run)
    app.file_uploader(key="_measure_file").upload("truth.csv", truth.encode(), "text/csv").run()
    assert not app.exception
    found = app.dataframe[-1].value.set_index("concept")
    for name in CONCEPTS:
        pairs = [(labelled(at, name), shows(at, name)) for at in range(1, 12)]
        hits = pairs.count((True, True))
        assert found.loc[name, "precision"] == hits / (hits + pairs.count((True, False)))
        assert found.loc[name, "recall"] == hits / (hits + pairs.count((False, True)))
    assert app.metric[0].label == "AUC"
    names = f"concept,truth,inverted\n{CONCEPTS[1]},{CONCEPTS[0]},1\n".encode()
    app.file_uploader(key="_measure_mapping").upload("names.csv", names, "text/csv").run()
    assert app.dataframe[-1].value.set_index("concept").loc[CONCEPTS[1], "truth"] == (
        f"not {CONCEPTS[0]}"
    )
    other = f"{dataset} made"
    records = [ImageRecord(str(at), "gull", (Mention("sea"),) * (at < 3)) for at in range(4)]
    write_annotations(store, other, Annotations.from_records(records), source="a test")
    try:
        link = {"annotate_view": "Compare", "compare_generated": other}
        app = open_page("annotate", dataset=dataset, **link)
        assert not app.exception
        shares = app.dataframe[-1].value.set_index("attribute")[["real", "generated"]]
        assert shares.loc["sea"].tolist() == [0, 75]
        assert shares.loc["bird"].tolist() == [100, 0]
        app.selectbox(key="_id_compare_real_run").set_value(run).run()
        assert "Name a run of each dataset" in shown_text(app)
    finally:
        drop_dataset(store, other)


def test_concepts_are_extracted_from_captions(
    open_page: OpenPage,
    store: GraphStore,
    dataset: str,
    run: str,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = open_page("annotate", dataset=dataset, annotate_view="Extract")
    assert "No captions to read" in shown_text(app)
    home = tmp_path if settings.neo4j_uri is not None else settings.cobalance_home
    monkeypatch.setenv("COBALANCE_HOME", str(home))
    other = f"{dataset} told"
    whole = Annotations.from_records([ImageRecord(str(at), "gull", ()) for at in range(3)])
    texts = pd.DataFrame({"image": range(3), "captions": [["a dog"], ["a dog", "a sea"], []]})
    texts[["license", "license_url", "attribution"]] = None
    write_annotations(store, other, whole, source="a test")
    write_image_texts(
        home / "captions", other, Annotations(whole.images, whole.mentions, texts=texts)
    )
    try:
        with scripted_endpoint(lambda _: '{"items": ["dog", "kennel"]}') as served:
            monkeypatch.setenv("COBALANCE_CHAT_URL", served.url)
            monkeypatch.setenv("COBALANCE_CHAT_MODEL", "m")
            app = open_page("annotate", dataset=other, annotate_view="Extract")
            assert "**2 questions**, one for each different caption of 2 images" in shown_text(app)
            press(app, "Find concepts")
            ended(f"extract {other}")
            assert len(served.requests) == 2
        app.run()
        assert "1 concept in captions of 2 images" in shown_text(app)
        assert [(one.kind, one.state) for one in list_runs(store, other)] == [("caption", "done")]
    finally:
        drop_dataset(store, other)
