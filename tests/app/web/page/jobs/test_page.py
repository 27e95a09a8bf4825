"""The Jobs page: progress, control, candidates with real pictures, and decisions by hand."""

import json
import shlex
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from cobalance.app.web.page.jobs import candidates as candidates_view, exports
from cobalance.app.web.page.jobs.origin import provenance_of
from cobalance.app.web.state import tasks
from cobalance.base.records import Edit, PlannedQuery
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.export import EXPORTERS, ExportOptions
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import read_mining_options
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.names import class_sizes
from cobalance.graph.dataset.state import dataset_state, find_dataset
from cobalance.graph.jobs.candidate_pages import list_candidates
from cobalance.graph.jobs.candidates import NewCandidate, decide, record_made
from cobalance.graph.jobs.lifecycle import cancel_job, create_job, query_id
from cobalance.graph.jobs.reports import (
    fail_job,
    finish_queries,
    heartbeat,
    start_queries,
    stop_worker,
)
from cobalance.graph.jobs.rounds import begin_round
from cobalance.graph.jobs.status import list_jobs, read_job, read_queries
from cobalance.workflows import export as export_files
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import run_here
from tests.app.conftest import Login, OpenPage, WriteDataset, shown_text

QUERIES = [("urban", ("cow", "field"), 5), ("urban", ("cow",), 3), ("country", ("sign",), 2)]

Report = Callable[..., list[str]]
Make = Callable[[str], None]
PRESSED = "test pressed"


@pytest.fixture
def job(store: GraphStore, cars: str) -> str:
    return create_job(store, cars, "fields", QUERIES, created_by="ann@example.org")


@pytest.fixture
def report(store: GraphStore, job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Report candidates with real pictures, as a worker does, and give their ids."""
    monkeypatch.setenv("COBALANCE_IMAGES", str(tmp_path))
    monkeypatch.setenv("COBALANCE_CACHE", str(tmp_path / "cache"))

    def png(name: str, color: str) -> str:
        Image.new("RGB", (48, 32), color).save(tmp_path / name)
        return str(tmp_path / name)

    def write(position: int, verdicts: str, first: int = 0, attempt: int = 0) -> list[str]:
        """`verdicts` has an A or an R for each."""
        query = query_id(job, position)
        candidates = [
            NewCandidate(
                f"{query}/{index:04d}",
                png(f"{position}-{index}.png", "red"),
                "accepted" if verdict == "A" else "rejected",
                {"clip": 0.5 + index / 100, "objects": 1.0},
                "" if verdict == "A" else "objects: the cow is missing",
                "7",
                png(f"original {index}.png", "green"),
                png(f"mask {index}.png", "white"),
                index,
                2.0,
            )
            for index, verdict in enumerate(verdicts, first)
        ]
        assert start_queries(store, job, attempt, [query])
        record_made(store, job, {query: candidates})
        return [candidate.id for candidate in candidates]

    return write


def metric(app: AppTest, label: str) -> str:
    (found,) = [m.value for m in app.metric if m.label == label]
    return str(found)


def progress(app: AppTest) -> list[str]:
    return [element.proto.text for element in app.get("progress")]


def table(app: AppTest, column: str) -> list[Any]:
    (found,) = [t.value[column].tolist() for t in app.dataframe if column in t.value]
    return list(found)


def keys(app: AppTest) -> list[str]:
    return [str(button.key) for button in app.button]


def shown(app: AppTest) -> dict[str, Any]:
    """What the grid of candidates is sent; empty without one."""
    sent = [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.json]
    return next((data for data in sent if "verdicts" in data), {})


def ids(app: AppTest) -> list[str]:
    return [image["id"] for image in shown(app).get("images", [])]


def press(app: AppTest, act: str, *candidates: str) -> AppTest:
    """Decide as the browser reports it."""
    pressed = app.session_state.get(PRESSED, [])
    app.session_state[PRESSED] = pressed = [*pressed, (act, candidates)]
    entries = [[number, act, list(about)] for number, (act, about) in enumerate(pressed, 1)]
    app.session_state[candidates_view.GRID] = {"log": {"name": "browser", "entries": entries}}
    return app.run()


def test_no_job_yet(open_page: OpenPage, cars: str) -> None:
    app = open_page("jobs", dataset=cars)
    assert not app.exception
    assert "No job yet" in shown_text(app)
    app.button(key="_jobs_to_plan").click().run()
    assert app.title[0].value == "Plan"


def test_without_a_worker_the_page_says_so_and_shows_the_queries(
    open_page: OpenPage, cars: str, job: str
) -> None:
    app = open_page("jobs", dataset=cars)
    assert not app.exception
    said = shown_text(app)
    assert "No worker is running, so queued jobs wait" in said
    assert "cobalance work" in said
    assert table(app, "number") == [1, 2, 3]
    assert [tuple(names) for names in table(app, "concepts")] == [
        ("cow", "field"),
        ("cow",),
        ("sign",),
    ]
    assert table(app, "n") == [5, 3, 2]
    assert metric(app, "Queries queued") == "3"
    assert "Ordered by ann@example.org." in said.replace("\\", "")
    assert "No candidate yet" in said
    assert app.get("download_button")


def test_a_worker_that_lives_is_named(
    open_page: OpenPage, store: GraphStore, cars: str, job: str
) -> None:
    heartbeat(store, f"worker of {job}", host="gpu*1*", job=job)
    try:
        said = shown_text(open_page("jobs", dataset=cars))
        assert r"gpu\*1\*" in said
        assert "has no worker yet" not in said
    finally:
        stop_worker(store, f"worker of {job}")


def test_progress_and_time_left(
    open_page: OpenPage, store: GraphStore, cars: str, job: str, report: Report
) -> None:
    report(0, "AARA")
    app = open_page("jobs", dataset=cars)
    # 8 s for 3 accepted; 7 are left.
    assert metric(app, "Accepted a second") == "0.375"
    (acceptance,) = [t.value["acceptance"].tolist() for t in app.dataframe if "number" in t.value]
    assert acceptance == ["75% (30 to 95)", "", ""]
    assert "3 of 10 images, about 19 s left for one worker" in [
        element.proto.text for element in app.get("progress")
    ]
    states = [t.value["state"].tolist() for t in app.dataframe if "number" in t.value]
    assert states == [["running", "queued", "queued"]]
    lefts = [t.value["left"].tolist() for t in app.dataframe if "number" in t.value]
    assert lefts == [["5 s", "8 s", "5 s"]]
    report(0, "AA", first=4)
    finish_queries(store, job, {query_id(job, 0): ""})
    app.run()
    assert metric(app, "Queries done") == "1"


def test_what_gave_up_is_dropped_or_ordered_with_another_recipe(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    prices = {"hour_price": 36.0, "without_images": True, "filters": {"blank": {}}}
    job = create_job(store, cars, "fields", QUERIES, settings=prices)
    query = query_id(job, 0)
    for position, verdicts in ((0, "AARA"), (1, "RRR")):
        made = [
            NewCandidate(
                f"{query_id(job, position)}/{index}",
                None,
                "accepted" if verdict == "A" else "rejected",
                seconds=2.0,
            )
            for index, verdict in enumerate(verdicts)
        ]
        record_made(store, job, {query_id(job, position): made})
    begin_round(store, job, 0, [], expected=(27, 17, 47))
    finish_queries(store, job, {query: "", query_id(job, 1): "It will not be had: blank."})

    app = open_page("jobs", dataset=cars, job=job)
    assert not app.exception
    assert "2 queries gave up with fewer images than wanted" in shown_text(app)
    assert metric(app, "Candidates still to make") == "20"
    # 14 s at 36 an hour are 0.14 for three images; 20 candidates of 2 s are still to come.
    assert metric(app, "Accepted for a unit of money") == "21.4"
    assert metric(app, "Cost still to come") == "0.40"
    assert "It will not be had: blank." in table(app, "message")

    app.selectbox(key="_reorder_recipe").select("inpaint").run()
    app.button(key="_reorder_job").click().run()
    assert not app.exception
    other, same = list_jobs(store, cars)
    assert (other.settings["recipe"], other.settings["hour_price"]) == ("inpaint", 36.0)
    assert (other.wanted, same.wanted, same.short) == (5, 5, 0)

    decide(store, f"{query}/0", "rejected", "")
    app.run()
    app.button(key="_drop_short").click().run()
    assert not app.exception
    assert (read_job(store, job).wanted, read_job(store, job).short) == (4, 0)
    assert "_drop_short" not in keys(app)


def test_queries_by_state(open_page: OpenPage, store: GraphStore, cars: str, job: str) -> None:
    finish_queries(store, job, {query_id(job, 0): "", query_id(job, 2): "the cap was reached"})
    fail_job(store, job, "CUDA out of memory")
    app = open_page("jobs", dataset=cars, query_state="failed")
    assert table(app, "number") == [2]
    assert table(app, "message") == ["CUDA out of memory"]
    app.button_group(key="query_state").set_value("done").run()
    assert table(app, "number") == [1, 3]
    assert table(app, "message") == ["", "the cap was reached"]
    app.button_group(key="query_state").set_value("running").run()
    assert "No query is running" in shown_text(app)


def test_cancel_resume_and_retry(
    open_page: OpenPage, store: GraphStore, cars: str, job: str, report: Report
) -> None:
    app = open_page("jobs", dataset=cars)
    assert "_retry_job" not in keys(app)
    app.button(key="_cancel_job").click().run()
    assert read_job(store, job).state == "cancelled"
    assert "_cancel_job" not in keys(app)
    app.button(key="_resume_job").click().run()
    assert read_job(store, job).state == "queued"
    fail_job(store, job, "no")
    app.run().button(key="_retry_job").click().run()
    assert read_queries(store, job)["state"].tolist() == ["queued"] * 3
    report(1, "A", attempt=2)
    finish_queries(store, job, {query_id(job, 1): "the cap of 1 was reached"})
    app.run().button(key="_fill_job").click().run()
    assert read_queries(store, job)["state"].tolist() == ["queued"] * 3
    assert not app.exception


def test_a_job_that_could_not_run_says_why(
    open_page: OpenPage, store: GraphStore, cars: str, job: str
) -> None:
    fail_job(store, job, "the folder models/sd is *missing*")
    assert "the folder models/sd is *missing*" in shown_text(open_page("jobs", dataset=cars))


def test_candidates_have_pictures_words_and_reasons(
    open_page: OpenPage, cars: str, report: Report
) -> None:
    first, second = report(0, "AR")
    app = open_page("jobs", dataset=cars)
    assert not app.exception
    data = shown(app)
    assert data["verdicts"] == {first: "accepted", second: "rejected"}
    assert [one["alt"] for one in data["images"]] == ["Candidate for cow and field in urban"] * 2
    assert all(one["drawn"] not in (None, one["src"]) for one in data["images"])
    assert data["notes"][first] == (
        "urban: cow + field · accepted by the filters · nothing looked for cow and field · "
        "clip 0.5 · objects 1"
    )
    assert data["notes"][second] == (
        "urban: cow + field · rejected by the filters · objects: the cow is missing · clip 0.51 · "
        "objects 1"
    )
    app.toggle(key="originals").set_value(True).run()
    originals = shown(app)
    assert originals["original"]
    assert originals["images"][0]["alt"] == "Original of candidate for cow and field in urban"
    assert originals["images"][0]["src"] != data["images"][0]["src"]


def test_pictures_that_are_missing_or_outside(
    open_page: OpenPage, store: GraphStore, cars: str, job: str, report: Report
) -> None:
    (there,) = report(0, "A")
    query = query_id(job, 0)
    made = [
        NewCandidate(f"{query}/gone", "gone.png", "accepted"),
        NewCandidate(f"{query}/outside", "/etc/passwd", "accepted"),
        NewCandidate(f"{query}/not kept", None, "rejected"),
    ]
    record_made(store, job, {query: made})
    app = open_page("jobs", dataset=cars)
    assert not app.exception
    data = shown(app)
    assert len(data["images"]) == 4
    assert [one["id"] for one in data["images"] if one["drawn"]] == [there]
    assert "its file was not kept" in data["notes"][f"{query}/not kept"]
    for name in ("gone", "outside"):
        assert "“Image folders” on the Data page names" in data["notes"][f"{query}/{name}"]


def test_a_candidate_is_rejected_accepted_and_undone_by_hand(
    open_page: OpenPage, store: GraphStore, cars: str, job: str, report: Report
) -> None:
    (candidate,) = report(0, "A")
    app = open_page("jobs", dataset=cars)
    assert shown(app)["decides"]
    press(app, "rejected", candidate)
    assert not app.exception
    (found,) = list_candidates(store, job).candidates
    assert (found.verdict, found.decided_by) == ("rejected", "")
    assert "rejected by hand" in shown(app)["notes"][candidate]
    assert "nothing looked for" not in shown(app)["notes"][candidate]
    assert metric(app.run(), "Accepted") == "0"
    press(app, "accepted", candidate)
    assert list_candidates(store, job).candidates[0].verdict == "accepted"
    press(app, "undo")
    assert list_candidates(store, job).candidates[0].verdict == "rejected"
    press(app, "undo")
    assert list_candidates(store, job).candidates[0].decided_by is None


def test_candidates_by_verdict_and_query_in_pages(
    open_page: OpenPage, cars: str, job: str, report: Report
) -> None:
    made = [*report(0, "A" * 41), *report(2, "RRR")]
    app = open_page("jobs", dataset=cars)
    assert ids(app) == made[: candidates_view.PER_PAGE]
    assert "0 of 44 decided by hand" in progress(app)
    app.button(key="_candidates_to Next page").click().run()
    assert ids(app) == made[candidates_view.PER_PAGE :]
    app.button_group(key="verdict").set_value("Rejected").run()  # one page, from the second
    assert ids(app) == made[41:]
    assert "0 of 44 decided by hand · 3 shown" in progress(app)
    press(app, "accepted", made[42])  # it stays where it is
    assert ids(app) == made[41:]
    assert shown(app)["verdicts"][made[42]] == "accepted"
    app.button_group(key="verdict").set_value("Accepted").run()
    app.button_group(key="verdict").set_value("Rejected").run()
    assert ids(app) == [made[41], made[43]]
    app.selectbox(key="query").select(query_id(job, 0)).run()
    assert "No candidate with this verdict" in shown_text(app)
    app.button_group(key="verdict").set_value("All").run()
    assert ids(app) == made[: candidates_view.PER_PAGE]


def test_details_of_a_candidate(
    open_page: OpenPage, store: GraphStore, cars: str, job: str, report: Report
) -> None:
    (candidate,) = report(0, "A")
    assert not open_page("jobs", dataset=cars).table
    app = open_page("jobs", dataset=cars, details=candidate)
    press(app, "accepted", candidate)
    assert not app.exception
    (table,) = [one.value for one in app.table]
    values = (value.replace("\\", "") for value in table.iloc[:, 0])
    facts = dict(zip(table.index, values, strict=True))
    assert facts["Asked for"] == "urban: cow + field"
    assert facts["Verdict"].startswith("accepted by hand ")
    assert facts["Seed"] == "0"
    assert facts["Source image"] == "7"
    assert facts["Filters"] == r"clip 0.5 · objects 1"
    app.button(key="_candidate_close").click().run()
    assert not app.table


def test_a_link_names_job_query_and_verdict(
    open_page: OpenPage, store: GraphStore, cars: str, job: str, report: Report
) -> None:
    report(1, "AR")
    create_job(store, cars, "newer", QUERIES)
    newest = open_page("jobs", dataset=cars)
    assert newest.selectbox(key="_id_job").value != job
    app = open_page("jobs", dataset=cars, job=job, verdict="Rejected", query="2. urban: cow")
    assert app.selectbox(key="_id_job").value == job
    assert app.selectbox(key="query").value == query_id(job, 1)
    assert len(ids(app)) == 1


def test_another_job_has_other_queries_to_choose(
    open_page: OpenPage, store: GraphStore, cars: str, job: str
) -> None:
    other = create_job(store, cars, "newer", QUERIES)
    app = open_page("jobs", dataset=cars)
    app.selectbox(key="query").select(query_id(other, 1)).run()
    app.selectbox(key="_id_job").select(job).run()
    assert not app.exception
    assert app.selectbox(key="query").value is None


def test_a_job_that_is_gone_is_told(
    open_page: OpenPage,
    store: GraphStore,
    dataset: str,
    write_dataset: WriteDataset,
    cars: str,
    job: str,
) -> None:
    app = open_page("jobs", dataset=cars)
    drop_dataset(store, cars)
    write_dataset(cars, [("a", ("x",), 1), ("b", ("x",), 2)])
    app.button(key="_cancel_job").click().run()
    assert not app.exception
    assert "There is no job" in shown_text(app) or "No job yet" in shown_text(app)


# --- A real worker's images -----------------------------------------------------------------------

SMALL = {
    "backend": "procedural",
    "making": {"width_px": 32, "height_px": 32},
    "filters": {"sanity": {}, "blank": {}},
}


@pytest.fixture
def small_job(store: GraphStore, cars: str) -> Iterator[str]:
    """A job that is quick to make, and whose dataset may be rebalanced."""
    yield create_job(store, cars, "fields", QUERIES, settings=SMALL)
    for name in (f"{cars}-rebalanced", f"{cars} again"):
        if find_dataset(store, name) is not None:
            drop_dataset(store, name)


@pytest.fixture
def make(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a job's images as a worker does, into a folder that is not there before."""
    output = tmp_path / "made"
    monkeypatch.setenv("COBALANCE_OUTPUT", str(output))
    monkeypatch.setenv("COBALANCE_CACHE", str(tmp_path / "cache"))
    own = settings.model_copy(update={"cobalance_output": str(output)})

    def make(job: str) -> None:
        run_here(own, [job], f"sqlite:///{tmp_path}/q.sqlite")

    return make


def merged(app: AppTest, job: str) -> tasks.Task:
    """Ask for the rebalanced dataset, and wait for it."""
    app.button(key="_merge_job").click().run()
    assert not app.exception
    task = tasks.find(f"merge {job}")
    assert task is not None
    assert task.wait(300)
    app.run()
    assert not app.exception
    return task


def test_how_a_job_is_made_is_told(
    open_page: OpenPage, store: GraphStore, cars: str, small_job: str
) -> None:
    said = shown_text(open_page("jobs", dataset=cars)).replace("\\", "")
    assert "How: procedural · 32 x 32 px · filters sanity, blank · at most 4 candidates" in said
    create_job(store, cars, "foreign", QUERIES, settings={"colour": "**red**"})
    app = open_page("jobs", dataset=cars)
    assert not app.exception
    said = shown_text(app).replace("\\", "")
    assert "Its settings cannot be read here" in said
    assert "it is not known whether its filters look for what was asked for" in said
    assert "No filter of this job looks" not in said


def test_real_images_are_shown_as_soon_as_they_are_there(
    open_page: OpenPage, store: GraphStore, cars: str, small_job: str, make: Make
) -> None:
    app = open_page("jobs", dataset=cars)
    assert "_merge_job" not in keys(app)
    make(small_job)
    app.run()
    assert not app.exception
    assert "_merge_job" in keys(app)
    job = read_job(store, small_job)
    assert (job.state, job.accepted) == ("done", 10)
    notes = shown(app)["notes"]
    assert len(notes) == 10
    words = ("Keeps what had to stay", "Not one colour: ", "; not black: ", "nothing looked for ")
    assert all(word in note for word in words for note in notes.values()), notes
    assert not any("problem" in note or "folder" in note for note in notes.values())
    found = list_candidates(store, small_job).candidates[0]
    origin = provenance_of(store, found)
    assert origin["seed"] == found.seed
    assert origin["backend"] == "procedural"
    assert origin["prompt"]
    assert origin["chunk"] == "000-000000"
    assert origin["software"]["cobalance"]
    assert None not in origin.values()
    assert next(iter(origin)) == "prompt"


def test_where_a_candidate_without_a_file_comes_from(
    open_page: OpenPage, store: GraphStore, cars: str, job: str, report: Report
) -> None:
    report(0, "A")
    query = query_id(job, 0)
    made = NewCandidate(f"{query}/other", None, "accepted", seed=5, provenance={"model": "m"})
    record_made(store, job, {query: [made]})
    found = list_candidates(store, job).candidates
    known = [provenance_of(store, candidate) for candidate in found]
    assert "model" not in known[0]
    assert (known[1]["seed"], known[1]["model"]) == (5, "m")


def test_accepted_images_become_a_dataset_to_compare_and_diagnose(
    open_page: OpenPage, store: GraphStore, cars: str, small_job: str, make: Make
) -> None:
    make(small_job)
    app = open_page("jobs", dataset=cars)
    name = f"{cars}-rebalanced"
    assert app.text_input(key=f"_merge_into {small_job}").placeholder == name
    task = merged(app, small_job)
    assert task.error is None
    assert app.title[0].value == "Compare"  # without a second press
    assert app.selectbox(key="dataset").value == cars
    assert app.selectbox(key="compare_after").value == name
    dataset_state(store, name).require_mined()
    assert sum(class_sizes(store, name).values()) == 30
    assert (
        read_mining_options(store, name)
        == read_mining_options(store, cars)
        == MiningOptions(max_size=3)
    )
    (counted,) = store.read(
        "MATCH (i:Image {dataset: $d, synthetic: true})-[:GENERATED_BY]->(:Job {id: $job}) "
        "RETURN count(i) AS images",
        d=name,
        job=small_job,
    )
    assert counted["images"] == 10
    later = open_page("jobs", dataset=cars)  # in another session, and later
    assert "10 generated ones" in shown_text(later)
    later.button(key=f"_merged_compare {name}").click().run()
    assert not later.exception
    assert later.title[0].value == "Compare"
    assert later.selectbox(key="compare_after").value == name
    again = open_page("jobs", dataset=cars)
    again.button(key=f"_merged_diagnose {name}").click().run()
    assert not again.exception
    assert again.title[0].value == "Diagnose"
    assert again.selectbox(key="dataset").value == name


def test_a_dataset_that_is_not_the_job_s_is_left_alone(
    open_page: OpenPage, store: GraphStore, cars: str, small_job: str, make: Make
) -> None:
    make(small_job)
    app = open_page("jobs", dataset=cars)
    app.text_input(key=f"_merge_into {small_job}").set_value(cars).run()
    assert merged(app, small_job).error is not None
    assert "cannot be written into itself" in shown_text(app)
    app.text_input(key=f"_merge_into {small_job}").set_value(f"{cars} again").run()
    assert merged(app, small_job).error is None
    later = open_page("jobs", dataset=cars)
    assert later.text_input(key=f"_merge_into {small_job}").placeholder == f"{cars} again"
    assert sum(class_sizes(store, cars).values()) == 20


def test_the_export_is_a_command_to_copy(open_page: OpenPage, cars: str, report: Report) -> None:
    report(0, "A")
    app = open_page("jobs", dataset=cars, export_as="coco")
    (code,) = app.code
    job = ids(app)[0].split("/")[0]
    folder = f"{cars.replace(' ', '-')}-rebalanced"
    assert code.value == f"cobalance export {job} {folder} --as coco"
    assert app.selectbox(key="export_as").options == list(EXPORTERS)


def exported(app: AppTest, job: str) -> tasks.Task:
    """Ask for an export as a folder, and wait for it."""
    app.button(key="_export").click().run()
    task = tasks.find(f"export {job} folder")
    assert task is not None
    assert task.wait(300)
    app.run()
    assert not app.exception
    return task


def test_an_export_is_written_downloaded_and_deleted(
    open_page: OpenPage,
    store: GraphStore,
    settings: Settings,
    cars: str,
    small_job: str,
    make: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make(small_job)
    app = open_page("jobs", dataset=cars)
    assert exported(app, small_job).error is not None  # it has no real image's file
    assert "leave such images out (“Leave out images that cannot be read”)" in shown_text(app)
    app.checkbox(key="export_skip").check().run()
    assert app.code[-1].value.endswith(" --as folder --skip-missing")
    assert exported(app, small_job).error is None
    said = "10 generated images, 20 real images left out; "
    assert said in shown_text(app)
    later = open_page("jobs", dataset=cars)  # and in another session
    assert said in shown_text(later)
    (folder,) = [Path(code.value) for code in later.code if code.value.startswith("/")]
    assert folder.parent == settings.folders().exports
    assert folder.parent.stat().st_mode & 0o077 == 0
    zipped = folder.with_name(f"{folder.name}.zip")
    with zipfile.ZipFile(zipped) as archive:
        assert archive.testzip() is None
        inside = {name: archive.read(name) for name in archive.namelist()}
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert inside == {str(path.relative_to(folder.parent)): path.read_bytes() for path in files}
    assert sum(path.suffix == ".png" for path in files) >= 10
    (button,) = [one for one in later.get("download_button") if "ZIP" in one.proto.label]
    assert button.proto.label.startswith("Download as ZIP (0.")
    # Cancelled, it leaves the earlier one; too large, it has no ZIP file.
    job, own = read_job(store, small_job), Settings.from_environment()
    task = tasks.Task("export", "Exporting")
    task.cancel()
    with pytest.raises(tasks.CancelledError):
        export_files.write_export(
            *(store, own.folders(), job, "folder", ExportOptions(skip_missing=True)),
            real=True,
            result={},
            progress=task.report,
        )
    assert zipped.exists()
    monkeypatch.setattr(export_files, "MOST_ZIP_MB", 0)
    assert exported(app, small_job).error is None
    assert not zipped.exists()
    assert "too large to download from here" in shown_text(app)
    app.button(key="_export_delete").click().run()
    assert not app.exception
    assert list(settings.folders().exports.iterdir()) == []
    assert said not in shown_text(app)


@pytest.mark.parametrize(
    "name", ["a b; rm -rf /", "$(id)", "../../etc", "--as", "\u0634 'x'", "..."]
)
def test_the_export_command_holds_no_name_that_a_shell_reads(
    store: GraphStore, dataset: str, write_dataset: WriteDataset, name: str
) -> None:
    write_dataset(dataset, [("a", ("x",), 1), ("b", ("x",), 2)], mine=False)
    job = read_job(store, create_job(store, dataset, "p", [("a", ("x",), 1)]))
    words = shlex.split(exports.export_command(replace(job, dataset=name), "folder", {}, ()))
    assert len(words) == 6
    assert "/" not in words[3]
    assert not words[3].startswith(("-", "."))


@pytest.fixture
def open_as(open_page: OpenPage, login: Login) -> Callable[..., AppTest]:
    """Open the page as somebody who is logged in; Ann may change things."""
    login(editors="ann@example.org")

    def open_(email: str, **parameters: str) -> AppTest:
        app = open_page("jobs", **parameters)
        app.user = {"is_logged_in": True, "email": email, "email_verified": True}
        return app.run()

    return open_


def test_a_viewer_decides_nothing(
    open_as: Callable[..., AppTest], cars: str, report: Report
) -> None:
    report(0, "A")
    app = open_as("bob@example.org", dataset=cars)
    assert not app.exception
    assert len(ids(app)) == 1
    assert not shown(app)["decides"]
    assert not [key for key in keys(app) if key.endswith("_job")]
    press(app, "rejected", *ids(app))  # as no browser says it to a viewer
    assert list(shown(app)["verdicts"].values()) == ["accepted"]
    assert app.code  # an export changes nothing here


def test_whoever_decides_is_kept_by_name(
    open_as: Callable[..., AppTest], store: GraphStore, cars: str, job: str, report: Report
) -> None:
    (candidate,) = report(0, "A")
    app = open_as("ann@example.org", dataset=cars)
    press(app, "rejected", candidate)
    assert list_candidates(store, job).candidates[0].decided_by == "ann@example.org"
    assert "rejected by ann@example.org" in shown(app)["notes"][candidate]


def test_many_jobs_and_hostile_names(
    open_page: OpenPage, store: GraphStore, dataset: str, write_dataset: WriteDataset
) -> None:
    names = ("'; MATCH (n) DETACH DELETE n //", "<script>alert(1)</script>", "ل" * 300)
    write_dataset(dataset, [("**a** :red[x]", names, 3), ("`b` $y$", names, 5)])
    for number in range(3):
        job = create_job(
            store, dataset, f"**a** <b> {number}", [("`b` $y$", names, 2)], created_by="<i>"
        )
        query = query_id(job, 0)
        made = NewCandidate(
            f"{query}/**0**", "../../etc", "rejected", {"<b>": 1.0}, "*no* <b>$x$", "<id>"
        )
        record_made(store, job, {query: [made]})
    cancel_job(store, job)
    app = open_page("jobs", dataset=dataset)
    assert not app.exception
    assert len(list_jobs(store, dataset)) == 3
    (note,) = shown(app)["notes"].values()
    assert " · rejected by the filters · " in note
    assert note.endswith(" · *no* <b>$x$ · <b> 1")


def test_queries_that_edit_images_name_them(
    open_page: OpenPage, store: GraphStore, cars: str
) -> None:
    image = "country ('cow', 'field') 0"
    queries = [
        PlannedQuery("urban", (), 1, Edit(image, "a city")),
        PlannedQuery("nobody's class", ("cow", "field"), 1, Edit(image)),
    ]
    job = create_job(store, cars, "edits", queries)
    record_made(
        store, job, {query_id(job, 0): [NewCandidate(f"{job}/0/0", None, "rejected", reason="no")]}
    )
    app = open_page("jobs", dataset=cars, job=job, images_view="All candidates")
    assert not app.exception
    (table,) = [one.value for one in app.dataframe if "image" in one.value]
    assert table["image"].tolist() == [image, image]
    assert [list(names) for names in table["concepts"]] == [[], ["cow", "field"]]
    options = app.selectbox(key="query").options
    assert options == [f"1. urban in {image}", f"2. nobody's class in {image}"]
