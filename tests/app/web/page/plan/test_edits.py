"""The Plan page's edited images: chosen with a recipe, counted, and ordered with consent."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.page.plan.page import EDITED_IMAGES, KINDS
from cobalance.app.web.state import tasks
from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.recipes import RECIPES
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.plans import read_plan
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.status import Job, list_jobs, read_job
from cobalance.ingest.captions.image_texts import write_image_texts
from cobalance.workflows.plan.edits import choose_counterfactuals
from cobalance.workflows.settings import Settings
from tests.app.conftest import Login, OpenPage, shown_text
from tests.conftest import HOSTILE

CAPTIONS = {
    "1": ("A man and his dog.", "Snow"),
    "2": ("A woman with a dog",),
    "3": ("A man in a tie",),
    "4": ("A boy and a dog",),
    "5": ("A man and a woman",),
    "6": ("A woman",),
}
SPLITS = {"6": "test"}


@pytest.fixture
def people(
    store: GraphStore, settings: Settings, dataset: str, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Six images with captions, of which three can be edited; two of them show a dog."""
    records = [
        ImageRecord(
            image,
            ("woman", "man")[int(image) % 2],
            (Mention("tie" if image == "3" else "dog"), Mention("snow")),
            SPLITS.get(image, "train"),
        )
        for image in CAPTIONS
    ]
    unknown = [None] * len(CAPTIONS)
    texts = pd.DataFrame(
        {
            "image": range(len(CAPTIONS)),
            "captions": list(map(list, CAPTIONS.values())),
            "license": unknown,
            "license_url": unknown,
            "attribution": unknown,
        }
    )
    annotations = replace(Annotations.from_records(records), texts=texts)
    write_annotations(store, dataset, annotations, source="a test")
    if settings.neo4j_uri is not None:
        monkeypatch.setenv("COBALANCE_HOME", str(settings.cobalance_home))
    write_image_texts(settings.folders().captions, dataset, annotations)
    mine_dataset(store, dataset, MiningOptions(2), max_cliques=100)
    return dataset


def opened(open_page: OpenPage, dataset: str, **parameters: str | list[str]) -> AppTest:
    app = open_page("plan", dataset=dataset, plan_kind=EDITED_IMAGES, **parameters)
    assert not app.exception
    return app


def metrics(app: AppTest) -> dict[str, str]:
    return {one.label: one.value for one in app.metric}


def table(app: AppTest, column: str) -> dict[str, int]:
    (found,) = [one.value for one in app.dataframe if column in one.value]
    return dict(zip(found[column], found["images"], strict=True))


def create(app: AppTest, store: GraphStore, dataset: str) -> Job:
    app.checkbox(key="_without_images").check()
    app.button(key="_edits_create").click().run()
    assert not app.exception
    task = tasks.find(f"job {dataset}")
    assert task is not None
    assert task.wait(300)
    app.run()
    assert not app.exception
    (job,) = list_jobs(store, dataset)
    return read_job(store, job.id)


def test_sources_images_of_each_group_and_what_is_left_out_are_shown(
    open_page: OpenPage, people: str
) -> None:
    app = opened(open_page, people, recipe="resampled")
    assert metrics(app) == {"Images to edit": "3", "Images to make": "6"}
    assert table(app, "group") == {"man": 3, "woman": 3}
    left_out = table(app, "reason")
    assert sum(left_out.values()) == 3
    assert left_out["images whose captions name children"] == 1
    assert left_out["images of other splits"] == 1


def test_the_estimate_counts_all_candidates_of_an_image(
    open_page: OpenPage, store: GraphStore, people: str
) -> None:
    job = create_job(store, people, "timed", [("man", ("dog",), 1)], settings={"backend": "patch"})
    query = query_id(job, 0)
    made = NewCandidate(f"{query}/0", None, "accepted", seconds=9000.0)
    record_made(store, job, {query: [made]})
    app = opened(open_page, people, recipe="resampled")
    assert "so the numbers are assumed for the 30 candidates of an image" in shown_text(app)
    assumed = [30 * seconds for seconds in RECIPES["resampled"].seconds]
    fields = [app.number_input(key=key) for key in ("s_from", "s_to")]
    assert [float(field.placeholder or 0) for field in fields] == pytest.approx(assumed)
    app = opened(open_page, people, recipe="genswap")
    assert "of the backend patch took" in shown_text(app)
    assert float(app.number_input(key="s_to").placeholder or 0) >= 9000


def test_groups_others_and_a_limit_are_chosen(open_page: OpenPage, people: str) -> None:
    app = opened(open_page, people, recipe="resampled")
    app.button_group(key="made").set_value("others").run()
    assert metrics(app) == {"Images to edit": "3", "Images to make": "3"}
    assert table(app, "group") == {"man": 1, "woman": 2}
    app.number_input(key="most_images").set_value(2).run()
    assert metrics(app) == {"Images to edit": "2", "Images to make": "2"}
    assert table(app, "reason")["images beyond the limit"] == 1
    app.multiselect(key="groups").set_value(["woman"]).run()
    assert not app.exception
    assert "Name two or more" in shown_text(app)
    assert "_edits_create" not in [button.key for button in app.button]


def test_selected_cliques_choose_whole_images(open_page: OpenPage, people: str) -> None:
    app = opened(open_page, people, recipe="resampled", clique=json.dumps(["dog", "snow"]))
    assert metrics(app) == {"Images to edit": "2", "Images to make": "4"}
    assert table(app, "reason")["images without the concepts asked for"] >= 1
    app.button_group(key="edit_of").set_value("All images").run()
    assert metrics(app)["Images to edit"] == "3"


def test_nothing_selected_leads_to_the_cliques(open_page: OpenPage, people: str) -> None:
    app = opened(open_page, people, recipe="resampled", edit_of="Selected cliques")
    assert "No clique selected" in shown_text(app)
    app.button(key="_edits_to_diagnose").click().run()
    assert app.title[0].value == "Diagnose"


def test_a_job_is_created_once_people_have_consented(
    open_page: OpenPage, store: GraphStore, settings: Settings, people: str
) -> None:
    app = opened(open_page, people, recipe="resampled")
    assert app.button(key="_edits_create").disabled
    app.text_input(key="_consent resampled").input("All have agreed.").run()
    assert not app.button(key="_edits_create").disabled
    job = create(app, store, people)
    assert (job.plan, job.wanted, job.settings["consent"]) == ("resampled", 6, "All have agreed.")
    expected = choose_counterfactuals(store, settings.folders().captions, people, "resampled")
    assert read_plan(store, people, "resampled") == list(expected.plan.queries)
    said = shown_text(app).replace("\\", "")
    assert "Created a job for 6 images of 3 images to edit." in said
    app.button(key="_edits_to_jobs").click().run()
    assert app.title[0].value == "Make"


def test_that_real_people_are_altered_is_confirmed(
    open_page: OpenPage, store: GraphStore, people: str
) -> None:
    app = opened(open_page, people, recipe="pinpoint")
    app.text_input(key="_consent pinpoint").input("All have agreed.").run()
    assert app.button(key="_edits_create").disabled
    app.checkbox(key="_alters pinpoint").check().run()
    assert not app.button(key="_edits_create").disabled


def test_from_new_images_to_edited_ones_and_back(open_page: OpenPage, people: str) -> None:
    app = open_page("plan", planner="conbias", dataset=people)
    assert app.selectbox(key="recipe").value == "procedural"
    app.button_group(key="plan_kind").set_value(EDITED_IMAGES).run()
    assert not app.exception
    assert app.selectbox(key="recipe").value == "resampled"
    app.button_group(key="plan_kind").set_value(KINDS[0]).run()
    assert not app.exception
    assert app.selectbox(key="recipe").value == "procedural"


def test_images_without_captions_are_told(open_page: OpenPage, cars: str) -> None:
    app = opened(open_page, cars, recipe="resampled")
    assert "none of them has any" in shown_text(app)


def test_a_viewer_counts_and_orders_nothing(open_page: OpenPage, people: str, login: Login) -> None:
    login(editors="ann@example.org")
    app = opened(open_page, people, recipe="resampled")
    app.user = {"is_logged_in": True, "email": "bob@example.org", "email_verified": True}
    app.run()
    assert not app.exception
    assert metrics(app)["Images to edit"] == "3"
    assert "_edits_create" not in [button.key for button in app.button]


def test_hostile_names_of_groups(open_page: OpenPage, store: GraphStore, dataset: str) -> None:
    records = [
        ImageRecord(f"{at}", name, (Mention(name),), "train") for at, name in enumerate(HOSTILE)
    ]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    app = opened(open_page, dataset, recipe="genswap")
    assert not app.exception
    assert "<script>" not in shown_text(app)


@pytest.mark.parametrize("value", ["", "-1", "9" * 400, "<script>"])
def test_addresses_that_no_page_wrote(open_page: OpenPage, people: str, value: str) -> None:
    names = ("recipe", "edit_of", "most_images", "groups", "made", "plan_name")
    app = opened(open_page, people, **dict.fromkeys(names, value))
    assert metrics(app)["Images to edit"] == "3"
