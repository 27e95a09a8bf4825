"""The Study page: blind, one question after the other, by whom a study names alone."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.components import panel as people
from cobalance.app.web.state import tasks
from cobalance.app.web.state.access import User
from cobalance.graph.database.store import GraphStore
from cobalance.graph.panels.panel import list_panels, read_answers
from cobalance.graph.panels.studies import Study, close_study
from cobalance.workflows.panel.study import Sample, draw_study
from tests.app.conftest import OpenPage, press, progress, shown_text
from tests.support.edited_job import GROUPS
from tests.support.studied_job import SENTENCE, write_studied_job


@pytest.fixture
def study(
    store: GraphStore, dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Study:
    """Two pairs, judged by two people each."""
    folder = tmp_path / "pictures"
    monkeypatch.setenv("COBALANCE_IMAGES", str(folder))
    monkeypatch.setenv("COBALANCE_CACHE", str(tmp_path / "cache"))
    job = write_studied_job(store, dataset, folder, 2)
    return draw_study(store, job, Sample(("ann@example.org", "bob"), seed=1))


def answers(app: AppTest) -> dict[str, str]:
    """The labels of the answers, by key of the keyboard."""
    found = [one for one in app.button if str(one.key).startswith("_study_")]
    return {
        str(one.key).rsplit("_", 1)[1]: one.label
        for one in found
        if not str(one.key).startswith("_study_back")
    }


def answer(app: AppTest, key: str) -> None:
    (button,) = [
        one
        for one in app.button
        if str(one.key).endswith(f"_{key}") and str(one.key).startswith("_study_")
    ]
    button.click().run()
    assert not app.exception


def test_two_people_answer_blind_resume_and_change_answers(
    open_page: OpenPage, store: GraphStore, dataset: str, study: Study
) -> None:
    app = open_page("study", dataset=dataset)
    assert not app.exception
    assert not app.image  # before somebody has said who they are
    app.selectbox(key="person").select("bob").run()
    assert progress(app) == "0 of 8 questions"
    told = [*GROUPS, "andidate", "dited", "same_colours", "0.875", ".png"]
    for at in range(8):
        choices = answers(app)
        said = shown_text(app).replace("\\", "")
        if at < 4:
            assert choices == {"1": "man", "2": "woman", "3": "cannot tell"}
            assert len(app.image) == 1
            assert f"“{SENTENCE}”" in said
        else:
            assert choices == {"1": "same", "2": "different", "3": "cannot tell"}
            assert len(app.image) == 2
            assert "____" not in said
        drawn = said + " ".join(str(one.proto) for one in app.image)
        assert not [word for word in told if word in drawn]
        assert {one.proto.type for one in app.button if one.label in choices.values()} == {
            "secondary"
        }
        if at == 2:  # somebody comes back, and mends the last answer
            app = open_page("study", dataset=dataset, study=study.id, person="bob")
            assert progress(app) == "2 of 8 questions"
            press(app, "Back")
            (chosen,) = [one.label for one in app.button if one.proto.type == "primary"]
            assert chosen == "man"
            answer(app, "2")
            assert progress(app) == "2 of 8 questions"
        answer(app, "1")
    assert "Thank you, bob" in shown_text(app)
    found = read_answers(store, study)
    assert set(found["person"]) == {"bob"}
    assert found["answer"].value_counts().to_dict() == {"same": 4, "man": 3, "woman": 1}
    other = open_page("study", dataset=dataset, person="ann@example.org")
    assert progress(other) == "0 of 8 questions"
    close_study(store, study.id)
    answer(other, "1")
    assert "The study is closed" in shown_text(other)
    assert len(read_answers(store, study)) == 8


def test_an_image_that_is_gone_does_not_tell_its_name(
    open_page: OpenPage, dataset: str, study: Study, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path / "elsewhere"))
    app = open_page("study", dataset=dataset, person="bob")
    assert not app.exception
    assert not app.image
    assert "cannot be shown" in shown_text(app)
    assert ".png" not in shown_text(app)


def test_where_people_log_in_their_proven_address_says_who_they_are(
    open_page: OpenPage, store: GraphStore, dataset: str, study: Study, monkeypatch
) -> None:
    def log_in(address: str, name: str = "Ann@Example.org") -> None:
        known = User(name, may_look=True, may_edit=False, address=address)
        monkeypatch.setattr(people, "user", lambda: known)

    log_in("Ann@Example.org")
    app = open_page("study", dataset=dataset, person="bob")
    assert not app.exception
    assert not [one for one in app.selectbox if one.key == "person"]
    answer(app, "1")
    assert set(read_answers(store, study)["person"]) == {"ann@example.org"}
    log_in("")  # the address is not proven: nobody may answer in somebody else's name
    answer(app, "1")
    assert "not among the people of this study" in shown_text(app)
    assert len(read_answers(store, study)) == 1
    log_in("eve@example.org", "bob")
    app = open_page("study", dataset=dataset, person="bob")
    assert "logged in as bob" in shown_text(app)
    assert not answers(app)


def test_without_a_study_one_is_drawn_for_some_people(
    open_page: OpenPage, store: GraphStore, dataset: str, tmp_path: Path, cars: str, monkeypatch
) -> None:
    app = open_page("study", dataset=cars)
    assert not app.exception
    assert "It takes a job that edits images" in shown_text(app)
    assert "cobalance evaluate" not in shown_text(app)
    assert not [button for button in app.button if button.label == "Draw one"]

    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path / "pictures"))
    job = write_studied_job(store, dataset, tmp_path / "pictures", 2)
    app = open_page("study", dataset=dataset)
    assert app.selectbox(key="_study_of").options == [job]
    app.text_input(key="_study_people").input("ann, bob")
    press(app, "Draw one")
    task = tasks.find(f"study {dataset}")
    assert task is not None
    assert task.wait(300)
    app.run()
    assert not app.exception
    (drawn,) = list_panels(store, Study, dataset=dataset)
    assert drawn.people == ("ann", "bob")
    app.selectbox(key="person").select("bob").run()
    assert progress(app) == "0 of 8 questions"


def test_of_several_studies_the_address_names_one_and_no_other_value_breaks_the_page(
    open_page: OpenPage, store: GraphStore, dataset: str, study: Study
) -> None:
    draw_study(store, study.job, Sample(("eve",), 1))
    app = open_page("study", dataset=dataset, study=study.id, person="bob")
    assert not app.exception
    assert progress(app) == "0 of 8 questions"
    app = open_page("study", dataset=dataset, study=study.id, person="eve")
    assert not app.exception
    assert not app.image
    app = open_page("study", dataset=dataset, study="<script>\0", person="x" * 5_000)
    assert not app.exception
    assert app.selectbox(key="person").options == ["eve"]  # of the newest
