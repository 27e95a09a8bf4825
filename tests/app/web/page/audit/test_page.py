"""The Audit page: blind, one image after the other, by several people."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.components import panel as people
from cobalance.app.web.state import tasks
from cobalance.app.web.state.access import User
from cobalance.graph.annotations.runs import NewRun, create_run
from cobalance.graph.database.store import GraphStore
from cobalance.graph.panels.audits import Audit
from cobalance.graph.panels.panel import list_panels, read_answers
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.panel.audit import AuditSample, draw_audit
from tests.app.conftest import OpenPage, press, progress, shown_text
from tests.support.audited_run import CLASSES, CONCEPTS, write_audited_run


@pytest.fixture
def audit(
    store: GraphStore, dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Audit:
    """One image of each class and verdict that there is, for two people."""
    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path / "pictures"))
    monkeypatch.setenv("COBALANCE_CACHE", str(tmp_path / "cache"))
    folder = OutputFolder(str(tmp_path / "output"))
    run = write_audited_run(store, dataset, folder, tmp_path / "pictures", 12)
    sample = AuditSample(("ann@example.org", "bob"), n=1, concepts=CONCEPTS[:1])
    return draw_audit(store, folder, run, sample)


def test_two_people_answer_blind_resume_and_change_answers(
    open_page: OpenPage, store: GraphStore, dataset: str, audit: Audit
) -> None:
    total = len(audit.labels)
    assert total == 4
    app = open_page("annotate", annotate_view="Audit", dataset=dataset)
    assert not app.exception
    assert not app.image  # before somebody has said who they are
    app.selectbox(key="person").select("bob").run()
    labels = ["Yes", "No", "Cannot tell"]
    for at in range(total):
        assert progress(app) == f"{at} of {total} questions"
        said = shown_text(app).replace("\\", "")
        assert f"Does the image show **{CONCEPTS[0]}**?" in said
        assert len(app.image) == 1
        assert [one.label for one in app.button if one.label in labels] == labels
        drawn = said + str(app.image[0].proto)
        assert not [word for word in (*CLASSES, ".png", "labelled") if word in drawn]
        if at == 2:  # somebody comes back, and mends the last answer
            app = open_page(
                "annotate", annotate_view="Audit", dataset=dataset, audit=audit.id, person="bob"
            )
            assert progress(app) == f"2 of {total} questions"
            press(app, "Back")
            press(app, "Cannot tell")
        press(app, labels[at % 2])
    assert "Thank you, bob" in shown_text(app)
    found = read_answers(store, audit)
    assert set(found["person"]) == {"bob"}
    order = [
        found.set_index("image").loc[image, "answer"] for image in audit.labels_of("bob")["image"]
    ]
    assert order == ["shows", "unknown", "shows", "does not"]
    other = open_page("annotate", annotate_view="Audit", dataset=dataset, person="ann@example.org")
    assert progress(other) == f"0 of {total} questions"


def test_a_clique_is_asked_for_as_one(
    open_page: OpenPage, store: GraphStore, dataset: str, audit: Audit, tmp_path: Path
) -> None:
    folder = OutputFolder(str(tmp_path / "output"))
    for clique, asked in ((CONCEPTS, "both **{}** and **{}**?"), (("bird", *CONCEPTS),
        "all of **{}**, **{}** and **{}**?")):  # fmt: skip
        of = draw_audit(store, folder, audit.run, AuditSample(("bob",), n=1, cliques=(clique,)))
        app = open_page(
            "annotate", annotate_view="Audit", dataset=dataset, audit=of.id, person="bob"
        )
        said = shown_text(app).replace("\\", "")
        assert f"Does the image show {asked.format(*sorted(clique))}" in said


def test_where_people_log_in_nobody_answers_as_somebody_else(
    open_page: OpenPage, store: GraphStore, dataset: str, audit: Audit, monkeypatch
) -> None:
    def log_in(address: str) -> None:
        known = User("Ann", may_look=True, may_edit=False, address=address)
        monkeypatch.setattr(people, "user", lambda: known)

    log_in("Ann@Example.org")
    app = open_page("annotate", annotate_view="Audit", dataset=dataset, person="bob")
    press(app, "Yes")
    assert set(read_answers(store, audit)["person"]) == {"ann@example.org"}
    log_in("")
    press(app, "Yes")
    assert "not among the people of this audit" in shown_text(app)
    assert len(read_answers(store, audit)) == 1


def wait(app: AppTest, dataset: str) -> None:
    task = tasks.find(f"audit {dataset}")
    assert task is not None
    assert task.wait(300)
    app.run()
    assert not app.exception


def test_without_an_audit_one_is_drawn_for_some_people(
    open_page: OpenPage, store: GraphStore, dataset: str, tmp_path: Path, cars: str, monkeypatch
) -> None:
    app = open_page("annotate", annotate_view="Audit", dataset=cars)
    assert not app.exception
    assert "It takes a run of *Annotate*" in shown_text(app)
    assert "cobalance annotate" not in shown_text(app)
    assert not [button for button in app.button if button.label == "Draw one"]
    press(app, "Label images")
    assert [title.value for title in app.title] == ["Annotate"]

    monkeypatch.setenv("COBALANCE_OUTPUT", str(tmp_path / "output"))
    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path / "pictures"))
    folder = OutputFolder(str(tmp_path / "output"))
    run = write_audited_run(store, dataset, folder, tmp_path / "pictures", 2)
    create_run(store, dataset, NewRun("propose", "m", {}))
    app = open_page("annotate", annotate_view="Audit", dataset=dataset)
    assert app.selectbox(key="_audit_of").options == [run]
    press(app, "Draw one")  # for nobody
    wait(app, dataset)
    assert "Nobody is named" in shown_text(app)
    app.text_input(key="_audit_people").input(" ann, bob,")
    app.number_input(key="_audit_n").set_value(1)
    press(app, "Draw one")
    wait(app, dataset)
    assert "Drawn for ann, bob" in shown_text(app).replace("\\", "")
    (drawn,) = list_panels(store, Audit, dataset=dataset)
    assert drawn.people == ("ann", "bob")
    assert app.selectbox(key="person").options == ["ann", "bob"]


def test_who_may_only_look_is_told_whom_to_ask(
    open_page: OpenPage, store: GraphStore, dataset: str, tmp_path: Path, monkeypatch
) -> None:
    write_audited_run(
        store, dataset, OutputFolder(str(tmp_path / "output")), tmp_path / "pictures", 2
    )
    monkeypatch.setattr("cobalance.app.web.components.panel.may_edit", lambda: False)
    monkeypatch.setattr("cobalance.app.web.widgets.messages.may_edit", lambda: False)
    app = open_page("annotate", annotate_view="Audit", dataset=dataset)
    assert "only editors can draw one for this run" in shown_text(app)
    assert not [button for button in app.button if button.label == "Draw one"]
