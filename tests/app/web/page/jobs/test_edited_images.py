"""Images that a job edits: side by side, and reviewed one after the other, with a real job's."""

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.page.jobs import page as views
from cobalance.app.web.state import tasks
from cobalance.generation.export.job_images import compose_job
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.read import read_annotations, read_classes
from cobalance.graph.dataset.state import find_dataset
from cobalance.graph.jobs.candidate_pages import (
    EditedGroup,
    EditedImage,
    count_reviewed,
    read_edited,
)
from cobalance.graph.jobs.candidates import NewCandidate, decide, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.rounds import begin_round
from cobalance.graph.jobs.status import read_job
from cobalance.workflows.settings import Settings
from tests.app.conftest import Login, OpenPage, shown_text
from tests.conftest import HOSTILE
from tests.support.edited_job import BEST_OF, GROUPS, make, order, write_pictures

IDS = ["first", "second", "third"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pictures = tmp_path / "pictures"
    monkeypatch.setenv("COBALANCE_IMAGES", str(pictures))
    monkeypatch.setenv("COBALANCE_OUTPUT", str(pictures / "made"))
    monkeypatch.setenv("COBALANCE_CACHE", str(tmp_path / "cache"))
    return pictures


@pytest.fixture
def job(store: GraphStore, settings: Settings, dataset: str, folder: Path) -> str:
    """Three images in two groups, the best of four candidates each."""
    write_pictures(store, dataset, folder, IDS)
    found = order(store, dataset, folder, IDS)
    make(settings, found, folder)
    return found


def image(store: GraphStore, job: str, position: int = 0) -> EditedImage:
    (found,) = read_edited(store, job, [position])
    return found


def chosen(group: EditedGroup) -> str:
    (one,) = group.chosen
    return one.id


def keys(app: AppTest) -> list[str]:
    return [str(button.key) for button in app.button]


def progress(app: AppTest) -> list[str]:
    texts = [element.proto.text for element in app.get("progress")]
    return [text for text in texts if text.endswith("reviewed")]


def grids(app: AppTest) -> list[dict[str, Any]]:
    """What the page's grids of images are sent."""
    sent = [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.json]
    return [data for data in sent if "images" in data]


def review(open_page: OpenPage, dataset: str, **parameters: str) -> AppTest:
    app = open_page("jobs", dataset=dataset, images_view=views.REVIEW, **parameters)
    assert not app.exception
    return app


def test_twins_are_side_by_side_with_the_original_and_what_was_chosen(
    open_page: OpenPage, dataset: str, job: str
) -> None:
    app = open_page("jobs", dataset=dataset)
    assert not app.exception
    said = shown_text(app).replace("\\", "")
    pictures = [image for data in grids(app) for image in data["images"]]
    assert len(pictures) == len(IDS) * (1 + len(GROUPS))
    assert [one["alt"] for one in pictures[:2]] == [
        "Original: first",
        "Candidate for dog and field in man: accepted",
    ]
    assert [data["opened"] for data in grids(app)] == [None] * len(pictures)
    link = open_page("jobs", dataset=dataset, image=pictures[1]["id"])
    (opened,) = [data["opened"] for data in grids(link) if data["opened"]]
    assert opened["id"] == pictures[1]["id"]
    assert opened["caption"].startswith(f"Rank 1 of {BEST_OF} · nothing looked for man · ")
    assert said.count("Original, what is painted outlined") == len(IDS)
    for name in IDS:
        assert f"**{name}** · dog + field" in said
    assert said.count(f"Rank 1 of {BEST_OF} · ") == len(IDS) * len(GROUPS)
    assert said.count("by its rank") == len(IDS) * len(GROUPS)
    assert "Likeness to its source's colours: 0." in said
    assert f"{len(IDS)} images edited" in said


def test_another_candidate_is_accepted_and_the_winner_rejected(
    open_page: OpenPage, store: GraphStore, dataset: str, job: str
) -> None:
    group = image(store, job).groups[0]
    app = open_page("jobs", dataset=dataset)
    assert not [key for key in keys(app) if key.startswith("_accept")]  # until it is opened
    app.session_state[f"_others {group.query}"] = True
    app.run()
    assert not app.exception
    said = shown_text(app).replace("\\", "")
    assert f"Rank 3 of {BEST_OF}: the sum of its ranks is" in said
    third = group.candidates[2]
    app.button(key=f"_accept {third.id}").click().run()
    after = image(store, job).groups[0]
    assert chosen(after) == third.id
    assert [one.verdict for one in after.candidates] == [
        *("rejected", "rejected", "accepted", "rejected")
    ]
    assert "by hand" in shown_text(app)


def test_the_winner_is_rejected_and_the_next_promoted_until_none_is_left(
    open_page: OpenPage, store: GraphStore, dataset: str, job: str
) -> None:
    group = image(store, job).groups[1]
    app = open_page("jobs", dataset=dataset)
    for candidate in group.candidates:
        assert chosen(image(store, job).groups[1]) == candidate.id
        app.button(key=f"_reject {candidate.id}").click().run()
        assert not app.exception
    said = shown_text(app)
    assert "None is chosen." in said
    assert "no other candidate is left to choose" in said


def test_pending_candidates_are_being_compared(
    open_page: OpenPage, store: GraphStore, dataset: str, folder: Path
) -> None:
    write_pictures(store, dataset, folder, IDS)
    found = order(store, dataset, folder, IDS)
    begin_round(store, found, 0, [], best_of=BEST_OF)
    query = query_id(found, 0)
    record_made(store, found, {query: [NewCandidate(f"{query}/000000", "0.png", "accepted")]})
    app = open_page("jobs", dataset=dataset)
    assert not app.exception
    said = shown_text(app)
    assert "being compared" in said
    assert "1 candidate so far. The best is chosen once all are made." in said
    assert said.count("None was made yet.") == len(IDS) * 2 - 1
    app = open_page("jobs", dataset=dataset, images_view=views.ALL)
    (data,) = grids(app)
    assert ["being compared" in note for note in data["notes"].values()] == [True]


def test_losers_that_were_dropped_are_told(
    open_page: OpenPage, store: GraphStore, settings: Settings, dataset: str, folder: Path
) -> None:
    write_pictures(store, dataset, folder, IDS)
    make(settings, order(store, dataset, folder, IDS, keep_losers=False), folder)
    said = shown_text(open_page("jobs", dataset=dataset))
    expected = f"{BEST_OF - 1} other candidates were not kept; the manifest of the job has"
    assert said.count(expected) == len(IDS) * len(GROUPS)


def test_pages_of_images_and_a_link_to_one_of_them(
    open_page: OpenPage, store: GraphStore, dataset: str, folder: Path
) -> None:
    ids = [f"image {at}" for at in range(9)]
    write_pictures(store, dataset, folder, ids)
    order(store, dataset, folder, ids)

    def shown(app: AppTest) -> list[str]:
        assert not app.exception
        return [name for name in ids if f"**{name}**" in shown_text(app).replace("\\", "")]

    app = open_page("jobs", dataset=dataset)
    assert shown(app) == ids[:4]
    assert app.button(key="_twins_back").disabled
    app.button(key="_twins_on").click().run()
    assert shown(app) == ids[4:8]
    app.button(key="_twins_on").click().run()
    assert shown(app) == ids[8:]
    assert app.button(key="_twins_on").disabled
    app.button(key="_twins_back").click().run()
    assert shown(app) == ids[4:8]
    assert shown(open_page("jobs", dataset=dataset, from_query="6")) == ids[3:7]
    assert shown(open_page("jobs", dataset=dataset, from_query="18")) == ids[8:]
    assert shown(open_page("jobs", dataset=dataset, from_query="999")) == ids[:4]


def test_review_goes_on_from_image_to_image(
    open_page: OpenPage, store: GraphStore, dataset: str, job: str
) -> None:
    app = review(open_page, dataset)
    assert progress(app) == ["0 of 3 reviewed"]
    app.button(key="_review_a").click().run()
    assert progress(app) == ["1 of 3 reviewed"]
    assert app.number_input(key="from_query").value == 3
    app.button(key="_review_k").click().run()
    assert app.number_input(key="from_query").value == 1
    assert app.button(key="_review_k").disabled
    app.button(key="_review_j").click().run()
    app.button(key="_review_j").click().run()
    assert app.number_input(key="from_query").value == 5
    assert app.button(key="_review_j").disabled
    app.button(key="_review_a").click().run()  # the last one: it stays
    assert app.number_input(key="from_query").value == 5
    assert progress(app) == ["2 of 3 reviewed"]
    assert count_reviewed(store, job) == 2
    assert not app.exception


def test_review_goes_to_the_next_image_that_nobody_has_reviewed(
    open_page: OpenPage, store: GraphStore, dataset: str, job: str
) -> None:
    for group in image(store, job, 2).groups:
        decide(store, group.candidates[0].id, "accepted", "bob")
    app = review(open_page, dataset)
    assert progress(app) == ["1 of 3 reviewed"]
    app.button(key="_review_n").click().run()
    assert app.number_input(key="from_query").value == 5
    app.button(key="_review_a").click().run()
    app.button(key="_review_n").click().run()  # none behind the last: from the first on
    assert app.number_input(key="from_query").value == 1
    app.button(key="_review_right").click().run()
    assert app.number_input(key="from_query").value == 3
    app.button(key="_review_left").click().run()
    assert app.number_input(key="from_query").value == 1
    assert not app.button(key="_review_n").disabled
    app.button(key="_review_a").click().run()
    assert app.button(key="_review_n").disabled
    assert not app.exception


def test_review_chooses_rejects_and_undoes(
    open_page: OpenPage, store: GraphStore, dataset: str, job: str
) -> None:
    before = image(store, job)
    man, woman = before.groups
    app = review(open_page, dataset)
    assert app.button(key="_review_u").disabled
    app.button(key="_review_3").click().run()
    assert chosen(image(store, job).groups[0]) == man.candidates[2].id
    app.button(key="_review_x").click().run()  # the first is chosen again, the best of the others
    assert chosen(image(store, job).groups[0]) == man.candidates[0].id
    app.button(key="_review_g").click().run()
    app.button(key="_review_2").click().run()
    assert chosen(image(store, job).groups[1]) == woman.candidates[1].id
    assert progress(app) == ["1 of 3 reviewed"]
    app.button(key="_review_j").click().run()
    for _ in range(3):
        app.button(key="_review_u").click().run()
    assert app.number_input(key="from_query").value == 1
    assert image(store, job) == before
    assert app.button(key="_review_u").disabled
    assert not app.exception


def test_undo_that_comes_too_late_says_so(
    open_page: OpenPage, store: GraphStore, dataset: str, job: str
) -> None:
    app = review(open_page, dataset)
    app.button(key="_review_2").click().run()
    other = image(store, job).groups[0].candidates[2].id
    decide(store, other, "accepted", "bob")
    app.button(key="_review_u").click().run()
    assert not app.exception
    assert "have changed since. Decide again." in shown_text(app)
    assert chosen(image(store, job).groups[0]) == other


def test_a_viewer_looks_and_changes_nothing(
    open_page: OpenPage, dataset: str, job: str, login: Login
) -> None:
    login(editors="ann@example.org")
    for view in (views.REVIEW, views.SIDE_BY_SIDE):
        app = open_page("jobs", dataset=dataset, images_view=view)
        app.user = {"is_logged_in": True, "email": "eve@example.org", "email_verified": True}
        app.run()
        assert not app.exception
        assert f"Rank 1 of {BEST_OF}" in shown_text(app)
        assert not [key for key in keys(app) if key.startswith(("_reject", "_accept", "_review"))]


@pytest.mark.parametrize("real", ["all", "none", "unedited"])
def test_the_dataset_of_the_job_has_the_images_that_are_chosen(
    open_page: OpenPage, store: GraphStore, dataset: str, job: str, real: str
) -> None:
    app = open_page("jobs", dataset=dataset)
    app.button_group(key="real").set_value(real).run()
    if real == "unedited":
        app.number_input(key="share").set_value(50).run()
    app.button_group(key="incomplete").set_value("keep").run()
    assert not app.exception
    (command,) = [code.value for code in app.code]
    words = {"all": "", "none": " --real none", "unedited": " --real unedited --share 0.5"}
    assert command.endswith(f" --as folder{words[real]} --incomplete keep")
    app.button(key="_merge_job").click().run()
    task = tasks.find(f"merge {job}")
    try:
        assert task is not None
        assert task.wait(300)
        found = compose_job(
            store,
            read_job(store, job),
            lambda: read_classes(store, dataset),
            {"real": real, "incomplete": "keep"} | ({"share": 0.5} if real == "unedited" else {}),
        )
        assert found is not None
        images = read_annotations(store, f"{dataset}-rebalanced").images
        assert len(images) == len(found.real) + len(found.generated)
        assert {"all": 6, "none": 6}.get(real, len(images)) == len(images)
        assert not app.run().exception
        noun = "image" if len(found.real) == 1 else "images"
        assert f"{len(found.real)} {noun} of" in str(task.result)
    finally:
        if find_dataset(store, f"{dataset}-rebalanced") is not None:
            drop_dataset(store, f"{dataset}-rebalanced")


def test_a_job_that_edits_nothing_has_its_candidates_one_by_one(
    open_page: OpenPage, store: GraphStore, dataset: str, folder: Path
) -> None:
    write_pictures(store, dataset, folder, IDS)
    create_job(store, dataset, "anew", [("man", ("dog",), 2)])
    app = open_page("jobs", dataset=dataset)
    assert not app.exception
    assert not [key for key in keys(app) if key.startswith("_twins")]
    assert "No candidate yet" in shown_text(app)


def test_addresses_that_no_page_wrote(open_page: OpenPage, dataset: str, job: str) -> None:
    names = ("images_view", "from_query", "real", "share", "incomplete")
    for value in ("", "-1", "9" * 400, "nan", "<script>", "a\0b"):
        app = open_page("jobs", dataset=dataset, **dict.fromkeys(names, value))
        assert not app.exception, value
        assert f"Rank 1 of {BEST_OF}" in shown_text(app), value


def test_hostile_names_are_shown_as_they_are(
    open_page: OpenPage, store: GraphStore, dataset: str, folder: Path
) -> None:
    ids = [*HOSTILE, "\u202eright to left"]
    write_pictures(store, dataset, folder, ids)
    order(store, dataset, folder, ids)
    for view in (views.SIDE_BY_SIDE, views.REVIEW, views.ALL):
        app = open_page("jobs", dataset=dataset, images_view=view)
        assert not app.exception
        assert "<script>" not in shown_text(app)
