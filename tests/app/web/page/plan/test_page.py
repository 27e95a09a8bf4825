"""The Plan page: which cliques, within which limits, what changes, and the job that comes of it."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from cobalance.app.web.page.plan import query_editor
from cobalance.app.web.page.plan.choice import Choice, PlanRequest
from cobalance.app.web.state import tasks
from cobalance.base.records import ALL_IMAGES
from cobalance.generation.jobs.settings import read_job_settings
from cobalance.generation.planning.plan import PlanOptions
from cobalance.generation.planning.plan_file import plan_to_json
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.jobs.candidates import NewCandidate, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.status import list_jobs, read_queries
from cobalance.statistics.comparison import STATUSES
from cobalance.workflows.plan.planners import plan_dataset
from tests.app.conftest import Login, OpenPage, WriteDataset, created, shown_text, stories

COW_FIELD = json.dumps(["cow", "field"])


def metric(app: AppTest, label: str) -> str:
    (found,) = [m.value for m in app.metric if m.label == label]
    return str(found)


Queries = list[tuple[str, tuple[str, ...], int]]


def queries(app: AppTest) -> Queries:
    """The table of queries, in its order."""
    table = app.data_editor[0].value
    return list(
        zip(table["class"], map(tuple, table["concepts"]), table["images"].tolist(), strict=True)
    )


def planned(
    store: GraphStore, dataset: str, **options: int
) -> list[tuple[str, tuple[str, ...], int]]:
    """What the command line plans."""
    plan = plan_dataset(store, dataset, "conbias", PlanOptions(**options)).plan
    return [(query.class_name, query.concepts, query.n) for query in plan.queries]


def test_the_plan_is_the_command_line_s(open_page: OpenPage, store: GraphStore, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    assert not app.exception
    expected = planned(store, cars)
    assert set(queries(app)) == set(expected)
    assert metric(app, "Images to make") == str(sum(n for _, _, n in expected))
    assert f"All {len(expected)} queries" in [fold.label for fold in app.expander]
    images = [n for _, _, n in queries(app)]
    assert images == sorted(images, reverse=True)


def test_a_link_names_sizes_planner_and_limits(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    app = open_page("plan", dataset=cars, plan_sizes=["1", "2"], planner="published", cap="2")
    assert not app.exception
    expected = plan_dataset(store, cars, "published", PlanOptions(1, 2, max_per_query=2)).plan
    assert {n for _, _, n in queries(app)} <= {1, 2}
    assert len(queries(app)) == len(expected.queries)


@pytest.mark.usefixtures("mine_here")
def test_planners_and_recipes_of_packages_are_offered(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="tolerant", dataset=cars, recipe="plain-ground")
    assert not app.exception
    assert app.selectbox(key="planner").value == "tolerant"
    assert app.selectbox(key="recipe").value == "plain-ground"
    assert "Closes gaps down to a share" in app.selectbox(key="planner").help
    assert "Objects on one light colour." in shown_text(app)


def test_a_budget_is_typed(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    app.number_input(key="budget").set_value(5).run()
    assert metric(app, "Images to make") == "5"
    assert sum(n for _, _, n in queries(app)) == 5
    assert not app.exception


def test_caps_that_leave_no_plan_are_named(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", dataset=cars, planner="minimal", max_per_class="1")
    assert not app.exception
    assert "Raise “Max per class”, allow a larger tolerance" in shown_text(app)
    app = open_page(
        "plan", planner="conbias", dataset=cars, cap="1", plan_view="Planners side by side"
    )
    assert not app.exception
    assert "Raise “Most per query”, allow a larger tolerance" in shown_text(app)
    app = open_page("plan", dataset=cars, planner="minimal")
    assert "no other plan does better by" in shown_text(app)


def test_the_graph_moves_to_where_the_plan_leaves_it(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars, plan_view="Concept graph", step="plan")
    assert not app.exception
    rows = [("country", 9, 10), ("urban", 1, 10)]  # class, images with a cow, images
    rates = []
    for name, cows, size in rows:
        made = [(concepts, n) for class_name, concepts, n in queries(app) if class_name == name]
        with_cow = cows + sum(n for concepts, n in made if "cow" in concepts)
        rates.append(with_cow / (size + sum(n for _, n in made)))
    (sent,) = stories(app)
    cow = [node["id"] for node in sent["nodes"]].index("c:cow")
    assert [step["nodes"][cow][2] for step in sent["steps"]] == [
        -0.8,
        round((rates[1] - rates[0]) / sum(rates), 3),
    ]
    assert sent["step"] == "plan"


def test_selected_cliques_alone_are_planned_for(open_page: OpenPage, cars: str) -> None:
    cow = json.dumps(["cow"])
    app = open_page("plan", planner="conbias", dataset=cars, clique=[COW_FIELD, cow])
    assert not app.exception
    # cow and field: 6 to 1. With those 5, 9 to 6 have a cow.
    assert queries(app) == [("urban", ("cow", "field"), 5), ("urban", ("cow",), 3)]
    assert "the plan closes 2 of 2" in shown_text(app)
    assert metric(app, "Cliques that lean") == "1 \N{RIGHTWARDS ARROW} 0"
    effects = next(t.value for t in app.dataframe if "gap_before" in t.value)
    found = {
        tuple(row["concepts"]): (row["chosen"], row["gap_before"], row["gap_after"])
        for row in effects.to_dict("records")
    }
    # The field is in no plan, and changes; nothing else does.
    changed = {
        ("cow",): (True, 8, 0),
        ("cow", "field"): (True, 5, 0),
        ("field",): (False, 5, 0),
    }
    assert {clique: found[clique] for clique in changed} == changed
    others = [values for clique, values in found.items() if clique not in changed]
    assert others
    assert all(not chosen and before == after for chosen, before, after in others)


def test_a_selected_clique_that_was_not_mined_is_counted(open_page: OpenPage, cars: str) -> None:
    app = open_page(
        "plan", planner="conbias", dataset=cars, clique=[COW_FIELD, json.dumps(["cow", "moon"])]
    )
    assert "1 selected that mining did not find" in shown_text(app).replace("\\", "")
    assert queries(app) == [("urban", ("cow", "field"), 5)]


def test_nothing_selected(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars, plan_for="Selected (0)")
    assert not app.exception
    app.button_group(key="plan_for").set_value("Selected").run()
    assert "No clique selected" in shown_text(app)


def test_a_filter_names_the_cliques(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars, under="country", concept="sign")
    assert not app.exception
    assert all(
        class_name == "country" and "sign" in concepts for class_name, concepts, _ in queries(app)
    )
    assert queries(app)
    app.number_input(key="min_gap").set_value(1000).run()
    assert "No clique fits" in shown_text(app)


def test_a_concept_that_is_in_no_clique(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("x", "only"), 2), ("b", ("x",), 5)])
    app = open_page("plan", planner="conbias", dataset=dataset, concept="only")
    assert not app.exception
    assert "No clique fits" in shown_text(app)


def test_balanced_cliques_need_nothing(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("x", "y"), 2), ("a", ("x",), 1), ("b", ("x", "y"), 2)])
    app = open_page("plan", planner="conbias", dataset=dataset)
    assert not app.exception
    assert "Nothing to make" in shown_text(app)
    assert "Gaps remain in 1 smaller clique" in shown_text(app)
    assert "plan with “Sizes” from 1" in shown_text(app)


def test_cliques_of_one_concept_alone(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("x",), 2), ("b", ("x",), 5)])
    app = open_page("plan", planner="conbias", dataset=dataset, plan_sizes=["1", "3"])
    assert not app.exception
    assert queries(app) == [("a", ("x",), 3)]


def test_an_unmined_dataset_offers_mining(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    write_dataset(dataset, [("a", ("x",), 2)], mine=False)
    app = open_page("plan", planner="conbias", dataset=dataset)
    assert not app.exception
    assert "Not mined yet" in shown_text(app)


def test_edits_change_the_numbers_and_can_be_undone(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    before = int(metric(app, "Images to make"))
    table = app.data_editor[0].value
    request = PlanRequest(dataset_state(store, cars), Choice(None), "conbias", PlanOptions(2, 3))
    first, second = table.index[:2].tolist()
    app.session_state["_plan_edits"] = query_editor.Edits(
        request, {first: 100, second: 0}, version=7
    )
    app.run()
    n = table["images"].tolist()
    assert metric(app, "Images to make") == str(before + 100 - n[0] - n[1])
    assert queries(app)[0][2] == 100
    assert len(queries(app)) == len(table) - 1
    assert "1 changed, 1 dropped by hand" in shown_text(app)
    app.button_group(key="plan_view").set_value("Planners side by side").run()
    side_by_side = next(t.value for t in app.dataframe if "planner" in t.value)
    planners = ["conbias", "minimal", "published", "whole-images"]
    planners += ["over-sampling", "sub-sampling", "weights", "pruning"]
    assert side_by_side["planner"].tolist() == ["conbias, edited by hand", *planners]
    assert app.selectbox(key="plan_list").options == planners[4:]
    app.button(key="_plan_undo").click().run()
    assert metric(app, "Images to make") == str(before)


def test_edits_are_of_one_plan(open_page: OpenPage, store: GraphStore, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    request = PlanRequest(dataset_state(store, cars), Choice(None), "conbias", PlanOptions(2, 3))
    app.session_state["_plan_edits"] = query_editor.Edits(request, {0: 100})
    app.number_input(key="cap").set_value(3).run()
    assert "by hand" not in shown_text(app)


def test_a_link_has_the_edits(open_page: OpenPage, store: GraphStore, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    assert query_editor.EDITS not in app.query_params
    table = app.data_editor[0].value
    request = PlanRequest(dataset_state(store, cars), Choice(None), "conbias", PlanOptions(2, 3))
    first, second = table.index[:2].tolist()
    app.session_state["_plan_edits"] = query_editor.Edits(
        request, {first: 100, second: 0}, version=7
    )
    app.run()
    link = app.query_params[query_editor.EDITS]
    again = open_page("plan", planner="conbias", dataset=cars, edits=link)
    assert not again.exception
    assert queries(again) == queries(app)
    assert "1 changed, 1 dropped by hand" in shown_text(again)
    again.button(key="_plan_undo").click().run()
    assert "by hand" not in shown_text(again)
    assert query_editor.EDITS not in again.query_params


def test_a_link_with_another_plan_s_edits_says_so(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars, edits="01234567_1-2")
    assert not app.exception
    assert "of another plan" in shown_text(app)
    assert "1 changed" not in shown_text(app)
    app.number_input(key="cap").set_value(3).run()
    assert "of another plan" not in shown_text(app)


@pytest.mark.parametrize(
    "text", ["", "x", "{}", "{}_", "{}_1-2_", "{}_0-1", "{}_9-1", "{}_1-99999999"]
)
def test_edits_that_nobody_wrote_are_not_read(text: str) -> None:
    planned = np.array([[0, 3], [5, 3]])
    digest, _, _ = query_editor.edits_to_text({1: 2}, planned).partition("_")
    assert query_editor.edits_from_text(f"{digest}_1-2", planned) == {1: 2}
    assert query_editor.edits_from_text(text.format(digest), planned) is None


def test_too_many_edits_for_a_link_stay_in_the_session(
    open_page: OpenPage, store: GraphStore, cars: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_editor, "MOST_IN_LINK", 15)
    app = open_page("plan", planner="conbias", dataset=cars)
    request = PlanRequest(dataset_state(store, cars), Choice(None), "conbias", PlanOptions(2, 3))
    first, second = app.data_editor[0].value.index[:2].tolist()
    app.session_state["_plan_edits"] = query_editor.Edits(
        request, {first: 100, second: 1000}, version=7
    )
    app.run()
    assert "2 changed, 0 dropped by hand" in shown_text(app)
    assert "too many for a link" in shown_text(app)
    assert query_editor.EDITS not in app.query_params


def test_what_a_person_changes_in_a_table() -> None:
    before = pd.DataFrame({"images": [5, 3, 2]}, index=[10, 20, 30])
    assert query_editor.find_changes(before, before) == {}
    emptied = before.assign(images=pd.Series([5, None, 2], index=before.index))
    assert query_editor.find_changes(before, emptied) == {20: 0}


def test_the_estimate_is_a_range_and_says_where_it_is_from(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars, s_from="1", s_to="60")
    images = int(metric(app, "Images to make"))
    assert f"**{images}** images, about **{images} s to {images} min**" in shown_text(app)
    assert "An estimate" in shown_text(app)


def seconds(app: AppTest) -> list[float]:
    """What stands in the fields of the estimate, as long as nobody types another number."""
    return [float(app.number_input(key=key).placeholder) for key in ("s_from", "s_to")]


def test_jobs_have_measured_how_long_an_image_takes(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    for took in (0.5, 4000.0):
        job = create_job(store, cars, "timed", [("country", ("cow",), 1)])
        query = query_id(job, 0)
        made = NewCandidate(f"{query}/0", None, "accepted", seconds=took)
        record_made(store, job, {query: [made]})
    app = open_page("plan", planner="conbias", dataset=cars)
    assert "latest jobs of the backend procedural took" in shown_text(app)
    low, high = seconds(app)
    assert low <= 0.5
    assert high >= 4000


def test_jobs_of_another_backend_say_nothing(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    settings = {"backend": "instruct"}
    job = create_job(store, cars, "timed", [("country", ("cow",), 1)], settings=settings)
    made = NewCandidate(f"{query_id(job, 0)}/0", None, "accepted", seconds=7000.0)
    record_made(store, job, {query_id(job, 0): [made]})
    app = open_page("plan", planner="conbias", dataset=cars)
    assert seconds(app)[1] < 7000
    app.selectbox(key="recipe").select("instruct").run()
    assert seconds(app)[1] >= 7000
    app.selectbox(key="recipe").select("paste").run()
    assert "No job has measured the backend paste yet" in shown_text(app)
    app.number_input(key="s_to").set_value(3600).run()
    images = int(metric(app, "Images to make"))
    assert f"to {images} h**" in shown_text(app)


def test_a_job_is_created_and_leads_to_its_page(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    app = open_page("plan", planner="conbias", dataset=cars, clique=COW_FIELD)
    app.text_input(key="plan_name").set_value("fields").run()
    app.checkbox(key="_without_images").check()
    app.button(key="_plan_create").click().run()
    assert not app.exception
    task = tasks.find(f"job {cars}")
    assert task is not None
    assert task.wait(300)
    app.run()
    assert "Created a job for 5 images in 1 query." in shown_text(app).replace("\\", "")
    (job,) = list_jobs(store, cars)
    assert (job.plan, job.state, job.wanted) == ("fields", "queued", 5)
    assert read_queries(store, job.id)["concepts"].tolist() == [("cow", "field")]
    (kept,) = store.read(
        "MATCH (p:Plan {dataset: $d, name: 'fields'}) RETURN p.planner AS planner, p.images AS n",
        d=cars,
    )
    assert kept == {"planner": "conbias", "n": 5}
    app.button(key="_plan_to_jobs").click().run()
    assert app.title[0].value == "Make"


def test_a_job_is_made_as_usual(open_page: OpenPage, store: GraphStore, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    said = shown_text(app).replace("\\", "")
    assert "procedural · filters sanity, blank, duplicates · at most 4 candidates" in said
    assert "Paints concepts by rule, without any model." in said
    assert "model" not in [field.key for field in app.text_input]
    assert created(app, store, cars).settings == {
        "recipe": "procedural",
        "backend": "procedural",
        "without_images": True,
    }


def test_how_a_job_is_made_reaches_the_job(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    app.selectbox(key="recipe").select("inpaint").run()
    assert app.multiselect(key="inpaint_filters").value == ["sanity", "blank", "duplicates", "clip"]
    app.multiselect(key="inpaint_filters").set_value(["objects", "blank"]).run()
    app.text_input(key="model").set_value(" /data/models/sd ").run()
    app.button_group(key="preset").set_value("fast").run()
    app.number_input(key="width_px").set_value(64).run()
    app.multiselect(key="object").set_value(["cow"]).run()
    app.number_input(key="candidates").set_value(7).run()
    app.checkbox(key="keep_rejected").set_value(False).run()
    app.checkbox(key="pilot").set_value(False).run()
    app.number_input(key="hour_price").set_value(2.5).run()
    assert not app.exception
    said = shown_text(app).replace("\\", "")
    how = "inpaint · 64 x usual px · model sd · preset fast · object cow · filters blank, objects"
    assert how in said
    settings = created(app, store, cars).settings
    assert settings == {
        "without_images": True,
        "recipe": "inpaint",
        "backend": "inpaint",
        "making": {"model": "/data/models/sd", "preset": "fast", "width_px": 64},
        "masks": {"object": ["cow"]},
        "filters": {"blank": {}, "objects": {}},
        "candidates_per_image": 7,
        "keep_rejected": False,
        "pilot": False,
        "hour_price": 2.5,
    }
    read = read_job_settings(settings)
    assert (read.making["width_px"], read.masks.object) == (64, ("cow",))


def test_how_a_job_is_made_is_in_the_link(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    app = open_page(
        "plan",
        planner="conbias",
        dataset=cars,
        recipe="instruct",
        preset="fast",
        instruct_filters=["clip"],
        object=["cow", "field"],
        candidates="2",
    )
    assert not app.exception
    assert created(app, store, cars).settings == {
        "without_images": True,
        "recipe": "instruct",
        "backend": "instruct",
        "making": {"preset": "fast"},
        "masks": {"object": ["cow", "field"]},
        "filters": {"clip": {"text": "concepts"}},  # as this backend needs it
        "candidates_per_image": 2,
    }


def test_no_filter_is_a_choice(open_page: OpenPage, store: GraphStore, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    app.multiselect(key="procedural_filters").set_value([]).run()
    assert "no filters" in shown_text(app)
    settings = created(app, store, cars).settings
    assert settings == {
        "without_images": True,
        "recipe": "procedural",
        "backend": "procedural",
        "filters": {},
    }
    assert read_job_settings(settings).filter_options() == {}


def test_settings_that_cannot_be_used_are_told_before_the_job_is_created(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    app.number_input(key="height_px").set_value(30).run()
    assert not app.exception
    assert "The backend procedural: height_px is 30" in shown_text(app)
    assert app.button(key="_plan_create").disabled
    app.number_input(key="height_px").set_value(32).run()
    assert "The setting" not in shown_text(app)
    assert created(app, store, cars).settings["making"] == {"height_px": 32}


def test_a_link_with_an_unknown_recipe(open_page: OpenPage, cars: str) -> None:
    app = open_page(
        "plan", planner="conbias", dataset=cars, recipe="<b>", preset="slow", candidates="0"
    )
    assert not app.exception
    assert app.selectbox(key="recipe").value == "procedural"
    app = open_page("plan", planner="conbias", dataset=cars, backend="<b>")
    assert not app.exception
    assert app.selectbox(key="recipe").value == "procedural"


def test_without_the_extras_a_job_is_created_and_the_page_says_what_workers_need(
    open_page: OpenPage, store: GraphStore, cars: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    assert "pip install" not in shown_text(app)
    monkeypatch.setattr(
        "cobalance.base.plugins.EXTRAS",
        {"worker": ("not_there",), "models": ("not_there_either",)},
    )
    app.run()
    assert re.search(r"Whoever runs one needs `pip install .*\[worker\]'`\.", shown_text(app))
    app.selectbox(key="recipe").select("paste").run()
    assert re.search(r"`pip install .*\[worker,models\]'`\.", shown_text(app))
    assert created(app, store, cars).settings == {
        "recipe": "paste",
        "backend": "paste",
        "without_images": True,
    }


def test_a_name_that_cannot_be_one_is_told(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars)
    app.text_input(key="plan_name").set_value("two\u2028lines").run()
    app.checkbox(key="_without_images").check()
    app.button(key="_plan_create").click().run()
    task = tasks.find(f"job {cars}")
    assert task is not None
    assert task.wait(300)
    app.run()
    assert "cannot name" in shown_text(app)


def test_a_viewer_sees_the_plan_and_creates_nothing(
    open_page: OpenPage, cars: str, login: Login
) -> None:
    login(editors="ann@example.org")
    app = open_page("plan", planner="conbias", dataset=cars)
    app.user = {"is_logged_in": True, "email": "bob@example.org", "email_verified": True}
    app.run()
    assert not app.exception
    assert queries(app)
    assert "_plan_create" not in [button.key for button in app.button]
    assert "recipe" not in [choice.key for choice in app.selectbox]
    assert app.data_editor[0].editing_mode == "fixed"
    app.user = {"is_logged_in": True, "email": "ann@example.org", "email_verified": True}
    app.run()
    assert "_plan_create" in [button.key for button in app.button]


def test_many_classes(open_page: OpenPage, dataset: str, write_dataset: WriteDataset) -> None:
    write_dataset(dataset, [(name, ("x", "y"), n) for n, name in enumerate("abcdef", 1)])
    app = open_page("plan", planner="conbias", dataset=dataset)
    assert not app.exception
    assert queries(app) == [(name, ("x", "y"), 6 - n) for n, name in enumerate("abcde", 1)]


def test_hostile_names(open_page: OpenPage, dataset: str, write_dataset: WriteDataset) -> None:
    names = tuple(
        sorted(("<script>alert(1)</script>", "'; MATCH (n) DETACH DELETE n //", "ل" * 300))
    )
    write_dataset(dataset, [("**a** :red[x]", names, 3), ("`b` $y$", names, 5)])
    app = open_page(
        "plan", planner="conbias", dataset=dataset, clique=json.dumps(names), concept=names[0]
    )
    assert not app.exception
    assert queries(app) == [("**a** :red[x]", names, 2)]
    app.text_input(key="plan_name").set_value("**a** <b> :red[x]").run()
    app.checkbox(key="_without_images").check()
    app.button(key="_plan_create").click().run()
    task = tasks.find(f"job {dataset}")
    assert task is not None
    assert task.wait(300)
    app.run()
    assert not app.exception
    assert task.error is None


def test_the_file_is_the_command_line_s(store: GraphStore, cars: str) -> None:
    """For the same request; the browser's own download is compared in the browser tests."""
    from cobalance.app.web.page.plan.choice import plan_found, plan_of, sizes_of
    from cobalance.app.web.state.session import CurrentDataset
    from cobalance.graph.dataset.cliques import load_cliques

    cliques = load_cliques(store, cars)
    current = CurrentDataset(store, dataset_state(store, cars))
    for options in (PlanOptions(2, 3), PlanOptions(1, 2), PlanOptions(1, 3, 2, 7)):
        for planner in ("conbias", "published", "whole-images"):
            request = PlanRequest(dataset_state(store, cars), Choice(None), planner, options)
            if planner == "whole-images" and options.budget is None:
                usual = sizes_of(current, cliques, request).usual.plan
                request = request.with_budget(usual.options.budget)
            found = plan_found(current, cliques, request)
            made = plan_of(current, cliques, found, request).plan
            assert plan_to_json(made) == plan_to_json(
                plan_dataset(store, cars, planner, options).plan
            )


def test_gaps_that_the_plan_widens_are_told(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    # x and y are each in 5 images of both classes, and together in 5 of a and 1 of b.
    rows = [("a", ("x", "y"), 5), ("b", ("x", "y"), 1), ("b", ("x",), 4), ("b", ("y",), 4)]
    write_dataset(dataset, rows)
    said = "The gaps of single concepts, which the plan leaves alone, grow from 0 to 8."
    assert said in shown_text(open_page("plan", planner="conbias", dataset=dataset))
    assert "grow from" not in shown_text(
        open_page("plan", planner="conbias", dataset=dataset, plan_sizes=["1", "2"])
    )


def test_rates_that_are_drawn_apart_are_an_alarm_and_the_job_asks(
    open_page: OpenPage, dataset: str, write_dataset: WriteDataset
) -> None:
    cow = ("*cow*",)
    write_dataset(dataset, [("x", cow, 100), ("x", (), 300), ("y", cow, 25), ("y", (), 75)])
    app = open_page("plan", planner="conbias", dataset=dataset, plan_sizes=["1", "1"])
    assert not app.exception
    # A quarter of both; with the 75 of y that are missing by count, 100 of 175.
    assert metric(app, "Cliques that lean") == "0 \N{RIGHTWARDS ARROW} 1"
    said = [alarm.value.replace("\\", "") for alarm in app.warning]
    assert "The plan widens 1 rate difference: *cow* (0.0% \N{RIGHTWARDS ARROW} 32.1%)." in said
    assert any(
        "the largest rate difference grows (0.0% \N{RIGHTWARDS ARROW} 32.1%)" in one for one in said
    )
    app.checkbox(key="_without_images").check().run()
    assert app.button(key="_plan_create").disabled
    app.checkbox(key="_plan_worse").check().run()
    assert not app.button(key="_plan_create").disabled


@pytest.fixture
def leaning(dataset: str, write_dataset: WriteDataset) -> str:
    """Cows lean to x, signs to y: no tenth of the images ends either."""
    rows = [("x", ("cow", "road"), 60), ("x", ("sign",), 40), ("y", ("road", "sign"), 70)]
    return write_dataset(dataset, [*rows, ("y", ("cow",), 30)])


def cards(app: AppTest) -> dict[str, str]:
    """The sizes to choose from, with what they take and leave."""
    card = app.radio(key="_plan_size")
    return dict(zip(card.options, card.proto.captions, strict=True))


def test_whole_images_have_sizes_to_choose_from(
    open_page: OpenPage, store: GraphStore, leaning: str
) -> None:
    app = open_page("plan", dataset=leaning)
    assert not app.exception
    planned_here = plan_dataset(store, leaning, None, PlanOptions())
    made = planned_here.plan
    assert (made.planner, made.options.min_size) == ("whole-images", 1)
    assert queries(app) == sorted(
        ((query.class_name, query.concepts, query.n) for query in made.queries),
        key=lambda query: -query[2],
    )
    assert metric(app, "Images to make") == str(made.images)
    assert made.images > 20  # a tenth

    # Each card has the numbers of a plan within its budget, as the command line makes it.
    texts = cards(app)
    assert app.radio(key="_plan_size").value == "Halve it"
    assert planned_here.sizes is not None
    budgets = {name: card.plan.options.budget for name, card in planned_here.sizes.cards().items()}
    assert list(texts) == list(budgets) == ["A start", "Halve it", "Nothing leans"]
    for name, budget in budgets.items():
        alone = plan_dataset(store, leaning, None, PlanOptions(budget=budget))
        measures = alone.measures
        assert f"**{alone.plan.images} images**" in texts[name]
        assert f"{measures['leaning_before']} → {measures['leaning']} lean" in texts[name]
        assert f"→ {measures['largest']:.1%}" in texts[name].replace("\\", "")
        assert f"→ {measures['bits']:.2f} of 1 bit" in texts[name].replace("\\", "")

    # The slider is the rule of the curve, on the same axis.
    slider = app.slider(key="_plan_budget")
    assert (slider.value, slider.min) == (made.images, 0)
    end = plan_dataset(store, leaning, None, PlanOptions(budget=budgets["Nothing leans"])).plan
    assert slider.max == end.images
    assert re.fullmatch(r"0\.\d\d → 0\.\d\d of 1 bit", metric(app, "Concepts alone tell"))
    assert "Count gaps solved" not in {metric.label for metric in app.metric}
    (effects,) = (one.value for one in app.dataframe if "status" in one.value)
    assert set(effects["status"]) <= set(STATUSES)
    assert "gap_before" not in effects
    slider.set_value(30).run()
    assert metric(app, "Images to make") == "30"
    assert app.number_input(key="budget").value == 30
    assert app.slider(key="_plan_budget").max == end.images
    assert app.radio(key="_plan_size").value is None
    app.radio(key="_plan_size").set_value("Nothing leans").run()
    assert metric(app, "Images to make") == str(end.images)
    assert app.slider(key="_plan_budget").value == end.images
    app.radio(key="_plan_size").set_value("Halve it").run()
    assert app.number_input(key="budget").value is None
    assert metric(app, "Images to make") == str(made.images)


def test_a_budget_beyond_the_evidence_says_what_is_planned(
    open_page: OpenPage, leaning: str
) -> None:
    app = open_page("plan", dataset=leaning, budget="190")
    assert not app.exception
    n_planned = metric(app, "Images to make")
    assert int(n_planned) < 190
    assert f"Of a budget of 190 images {n_planned} are planned" in shown_text(app)


def test_examples_say_what_changes_in_a_real_image(open_page: OpenPage, leaning: str) -> None:
    said = shown_text(open_page("plan", dataset=leaning)).replace("\\", "")
    examples = re.findall(r"([xy]): ([\w, ]+?)\s+→ \*\*(\d+) ([xy])\*\*([^\n]*)", said)
    assert {wanted for *_, wanted, _ in examples} == {"x", "y"}
    for class_name, concepts, n, _, change in examples:
        assert class_name in "xy"
        assert int(n) > 0
        shown = set(concepts.split(", "))
        added, dropped = re.findall(r"\+ (\w+)", change), re.findall(r"− (\w+)", change)
        assert not shown & set(added)
        assert set(dropped) <= shown


def test_a_class_of_few_real_images_is_named(open_page: OpenPage, cars: str) -> None:
    few = open_page("plan", planner="conbias", dataset=cars)
    assert "Fewer than 50 real images: 10 country, 10 urban." in shown_text(few)


def test_a_class_of_fifty_images_is_not_small(open_page: OpenPage, leaning: str) -> None:
    assert "Fewer than 50" not in shown_text(open_page("plan", dataset=leaning))


def test_a_price_is_a_cost_on_each_card(open_page: OpenPage, leaning: str) -> None:
    app = open_page("plan", dataset=leaning, s_from="36", s_to="36", hour_price="2.5")
    assert not app.exception
    for text in cards(app).values():
        (n_images,) = re.findall(r"\*\*(\d+) images", text)
        assert f"for {int(n_images) * 36 / 3600 * 2.5:,.2f}" in text.replace("\\", "")


def test_without_evidence_nothing_is_planned(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", dataset=cars, plan_sizes=["2", "2"])
    assert not app.exception
    assert "can be told from chance" in shown_text(app)


def test_the_summary_has_the_time_and_the_button(open_page: OpenPage, cars: str) -> None:
    app = open_page("plan", planner="conbias", dataset=cars, budget="5", s_from="60", s_to="120")
    assert metric(app, "Time with one worker") == "5 min to 10 min"
    assert not app.button(key="_plan_create").disabled


def test_a_plan_for_a_concept_is_of_datasets_without_classes(
    open_page: OpenPage, store: GraphStore, write_dataset: WriteDataset, cars: str, dataset: str
) -> None:
    by_concept = open_page("plan", dataset=cars, compare_by="cow")
    assert "choose them under “Compare by” on the Diagnose page" in shown_text(by_concept)
    assert not open_page("plan", dataset=cars).error
    shown = [(("cow", "field", "road"), 9), (("cow",), 1), (("field", "road"), 2), ((), 8)]
    write_dataset(f"{dataset} renamed", [(ALL_IMAGES, *group) for group in shown])
    app = open_page("plan", dataset=f"{dataset} renamed", planner="conbias", compare_by="cow")
    assert queries(app) == [("no cow", ("field", "road"), 7)]
    # The graph has no class of that name: the job is of the one that it has.
    app.checkbox(key="_without_images").check()
    app.button(key="_plan_create").click().run()
    task = tasks.find(f"job {dataset} renamed")
    assert task is not None
    assert task.wait(300)
    assert task.error is None
    (job,) = list_jobs(store, f"{dataset} renamed")
    ordered = read_queries(store, job.id)
    assert ordered["class_name"].tolist() == [ALL_IMAGES]
    assert ordered["n"].tolist() == [7]
