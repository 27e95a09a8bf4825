"""From a file to a rebalanced, exported dataset in a store, all of it from Python."""

import asyncio
import json
import signal
import threading
from dataclasses import fields, replace

import pandas as pd
import pytest

import cobalance as cb
from cobalance.base.errors import (
    ConflictError,
    DataError,
    NotFoundError,
    OptionError,
    QueryRefusedError,
    StaleError,
    StoreUnavailableError,
    UnknownNameError,
)
from cobalance.generation.planning.plan_file import plan_from_json
from cobalance.generation.worker.worker import Worker
from cobalance.graph import Candidate, CandidatePage
from cobalance.notebook import jobs as notebook_jobs
from tests.conftest import HOSTILE


@pytest.fixture(scope="module")
def connected(settings, store, tmp_path_factory):
    """The tests' server, with places of this module's own."""
    own = settings.model_copy(
        update={"cobalance_output": str(tmp_path_factory.mktemp("generated"))}
    )
    return cb.Store(store, own)


@pytest.fixture
def cars() -> cb.Data:
    rows = [("country", "cow|field")] * 4 + [("country", "road")] * 2
    rows += [("urban", "cow|field")] + [("urban", "road")] * 5
    return cb.read(pd.DataFrame(rows, columns=["label", "objects"]), name="cars.csv")


def test_a_dataset_is_loaded_mined_and_diagnosed_as_without_a_store(connected, dataset, cars):
    held = connected.load(cars, dataset)
    assert held.frame.to_dict("records") == [
        {"class": "country", "images": 6},
        {"class": "urban", "images": 6},
    ]
    with pytest.raises(StaleError):
        held.imbalances()
    assert held.mine(max_size=2) is held
    assert held.title() == (
        f"Dataset {dataset!r}, mined. Counted in all images: cliques of up to 2 concepts that "
        "every class shows."
    )
    expected = cb.imbalances(cars, max_size=2)
    pd.testing.assert_frame_equal(held.imbalances().frame, expected.frame)
    pd.testing.assert_frame_equal(
        held.imbalances(concepts="cow", min_size=2).frame,
        expected.where(concepts="cow", min_size=2).frame,
    )
    held.mine(min_support=5, split=None, common=("urban",))
    assert (
        held.mine()
        .title()
        .endswith("of up to 2 concepts that urban shows, in at least 5 images of a class.")
    )
    assert held.mine(common=None).imbalances().frame["concepts"].tolist() == [("road",)]
    assert held.read().frame.equals(cars.frame)
    assert held.concept_graph().edges.equals(cb.concept_graph(cars).edges)


def test_datasets_by_name(connected, dataset, cars):
    connected.load(cars, dataset)
    assert dataset in connected
    assert dataset in list(connected)
    assert connected[dataset].name == dataset
    assert dataset in connected.datasets()["dataset"].tolist()
    assert repr(connected).startswith("Store at bolt")
    assert "<table" in connected._repr_html_()
    connected.drop(dataset)
    assert dataset not in connected
    with pytest.raises(NotFoundError):
        connected[dataset]


def test_any_driver_connects_by_what_a_store_tells(connected, address):
    to = connected.connection
    uri, user, password, database = address
    assert (to.uri, to.auth, to.database) == (uri, (user, password), database)
    assert password not in repr(to)
    assert to.password_file is None or to.password_file.read_text().strip() == password


def test_a_file_is_loaded_by_its_path(connected, dataset, tmp_path):
    file = tmp_path / "cars.csv"
    file.write_text("id,label,objects\n1,a,cow\n2,b,cow\n")
    held = connected.load(file, dataset)
    assert len(held.read().images) == 2
    assert held.remarks == ()  # nothing names a file


def test_images_beside_a_file_are_found(connected, dataset, tmp_path):
    file = tmp_path / "cars.csv"
    file.write_text("file_name,label,objects\n1.png,a,cow\n2.png,b,cow\n")
    (tmp_path / "1.png").touch()
    own = connected.settings.model_copy(update={"cobalance_home": tmp_path / "home"})
    held = replace(connected, settings=own).load(file, dataset)
    (said,) = held.remarks
    assert said.startswith("Images: 1 of 2 files not found, such as 2.png; looked in ")
    assert f"{tmp_path} is kept for later commands. Set images to the folder" in said
    assert said in held.title()
    assert str(tmp_path) in own.folders().image_roots(dataset)


def test_integers_beside_missing_ones_keep_their_digits(connected, dataset, cars):
    held = connected.load(cars, dataset).mine(max_size=2)
    digest = 3784612452067358798
    frame = connected.cypher("UNWIND [$digest, null] AS d RETURN d", digest=digest)
    assert (frame["d"].dtype, frame["d"][0]) == ("Int64", digest)

    nodes = held.cypher("MATCH (d:Dataset {name: $dataset}) RETURN d, {id: 1, labels: 2} AS map")
    assert nodes["d"][0]["labels"] == ["Dataset"]
    assert isinstance(nodes["d"][0]["properties"]["digest"], int)
    assert nodes["map"][0] == {"id": 1, "labels": 2}

    pairs = held.query("class-edge-weights", limit=3)
    assert pairs["images"].dtype == "int64"


def test_questions_in_cypher_and_by_name(connected, dataset, cars):
    held = connected.load(cars, dataset).mine(max_size=2)
    rates = held.query("imbalance-of-concepts", concepts=["cow"])
    assert rates.set_index("class")["images"].to_dict() == {"country": 4, "urban": 1}
    text = "MATCH (i:Image {dataset: $dataset}) RETURN i.id AS id"
    assert len(held.cypher(text)) == 12
    cut = connected.cypher(text, {"dataset": dataset}, max_rows=5)
    assert (len(cut), cut.attrs["truncated"]) == (5, True)
    assert connected.cypher("RETURN $x AS x", x=1)["x"].tolist() == [1]
    assert "imbalance-of-concepts" in connected.queries()["query"].tolist()
    with pytest.raises(QueryRefusedError):
        held.cypher("CREATE (:Image)")
    with pytest.raises(UnknownNameError, match="caw"):
        held.query("imbalance-of-concepts", concepts=["caw"])


def test_a_plan_is_ordered_made_here_merged_compared_and_exported(
    connected, dataset, cars, tmp_path, capsys
):
    held = connected.load(cars, dataset).mine(max_size=2)
    plan = held.plan("conbias", min_size=1)
    assert plan.images == cb.plan(cb.imbalances(cars, max_size=2), min_size=1).images
    assert held.simulate(plan).frame.equals(plan.simulate().frame)
    making = {"width_px": 64, "height_px": 64}
    job = held.order(plan, making=making, seed="test", without_images=True)
    assert job.state == "queued"
    assert held.jobs()["job"].tolist() == [job.id]
    assert connected.job(job.id).id == job.id
    with pytest.raises(TimeoutError, match="is queued: 0 of"):
        job.wait(timeout_s=0)
    assert job.run() is job
    capsys.readouterr()
    assert job.watch().progress().share == 1
    assert "is done" in capsys.readouterr().out
    made = job.candidates("accepted")
    assert len(made) == plan.images
    assert set(made["class_name"]) <= {"country", "urban"}
    assert job.queries()["n"].sum() == plan.images

    rebalanced = job.rebalance(f"{dataset} renamed")
    change = held.compare(rebalanced)
    assert change.summary["total_gap_after"].sum() == 0
    assert "0 introduced" in change.title()
    assert "<table" in change._repr_html_()

    written = job.export(tmp_path / "out", format="coco", generated_only=True)
    assert written.counts["generated images"] == plan.images
    (listed,) = (tmp_path / "out").rglob("instances*.json")
    assert json.loads(listed.read_text())["images"]
    job.reject(made["id"][0])
    assert len(job.candidates("rejected")) == 1
    job.accept(made["id"][0])
    for result in (job, job.progress(), written, held):
        assert result._repr_html_()
        assert repr(result)


@pytest.mark.parametrize("pages", [[2, 0], [2, 1], [1], [0]])
def test_candidates_that_vanish_while_pages_are_read_end_the_reading(monkeypatch, pages):
    """The total is that of the page: more than is read, where candidates were dropped since."""
    asked = []

    def read_page(store, job, *, verdict, page, per_page):
        asked.append(page)
        empty = dict.fromkeys(field.name for field in fields(Candidate))
        candidates = [Candidate(**empty | {"id": row}) for row in range(pages[page - 1])]
        return CandidatePage(tuple(candidates), total=5)

    monkeypatch.setattr(notebook_jobs, "_PAGE", 2)
    monkeypatch.setattr(notebook_jobs, "list_candidates", read_page)
    candidates = notebook_jobs.Job(None, None, "job", None).candidates()
    assert len(candidates) == sum(pages)
    assert asked == list(range(1, len(pages) + 1))


@pytest.fixture
def interruptible():
    """SIGINT interrupts, though a shell that starts the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_job_goes_on_from_a_coroutine(connected, dataset, cars, monkeypatch):
    held = connected.load(cars, dataset).mine(max_size=2)
    plan = held.plan("conbias", min_size=1)
    job = held.order(plan, making={"width_px": 64, "height_px": 64}, without_images=True)
    stop, stopped, threads = Worker.stop, threading.Event(), set()

    def stop_and_say_so(worker):
        stop(worker)
        stopped.set()

    def interrupt(*_):
        threads.add(threading.current_thread())
        if not stopped.is_set():
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            assert stopped.wait(300)

    monkeypatch.setattr(Worker, "stop", stop_and_say_so)
    with pytest.raises(KeyboardInterrupt):
        replace(job, report=interrupt).run()
    assert job.progress().record.is_active
    assert not any(thread.is_alive() for thread in threads)

    async def go_on():
        return job.run().state

    assert asyncio.run(go_on()) == "done"
    assert len(job.candidates("accepted")) == plan.images


def test_an_edited_plan_is_ordered_as_it_was_edited(connected, dataset, cars):
    held = connected.load(cars, dataset).mine(max_size=2)
    plan = held.plan("conbias", min_size=1)
    job = held.order(plan.edited(plan.frame.assign(n=1)), without_images=True)
    assert set(job.queries()["n"]) == {1}
    assert job.cancel().state == "cancelled"
    assert job.retry().state == "queued"
    by_name = held.order("conbias", without_images=True)
    assert by_name.queries()["n"].sum() == plan.images
    with pytest.raises(DataError, match="asks for no images"):
        held.order(plan.edited(plan.frame.assign(n=0)))
    with pytest.raises(UnknownNameError, match="unknown recipe"):
        held.order(plan, recipe="magic")
    with pytest.raises(UnknownNameError, match="setting"):
        held.order(plan, sead="x")
    with pytest.raises(NotFoundError):
        connected.job("none")


def test_an_edited_plan_is_kept_under_a_name_of_its_own(connected, dataset, cars):
    held = connected.load(cars, dataset).mine(max_size=2)
    planned = held.plan("conbias", min_size=1)
    kept = held.keep(planned.edited(planned.frame.assign(n=2)), "two of each")
    assert kept.name == "two of each"
    assert set(held.order("two of each", without_images=True).queries()["n"]) == {2}
    assert held.order("conbias", without_images=True).queries()["n"].sum() == planned.images
    with pytest.raises(OptionError, match="share"):
        held.plan("conbias", share=0.5)


def test_a_renamed_dataset_keeps_what_it_has(connected, dataset, cars):
    held = connected.load(cars, dataset).mine(max_size=2)
    new = f"{dataset} renamed"
    assert f" {dataset} " in connected
    assert connected[f" {dataset} "].name == dataset
    connected.load(cars, new)
    with pytest.raises(ConflictError):
        held.rename(new)
    connected.drop(new)
    renamed = held.rename(f" {new}\u200b")
    assert renamed.name == new
    assert renamed.imbalances().frame.equals(cb.imbalances(cars, max_size=2).frame)
    assert dataset not in connected


def test_hostile_names_are_text(connected, dataset):
    frame = pd.DataFrame({"label": [*HOSTILE[:2], *HOSTILE[:2]], "tags": [[HOSTILE[2]]] * 4})
    held = connected.load(cb.read(frame), dataset).mine(max_size=1)
    for result in (held, held.imbalances(), connected):
        assert "<script" not in result._repr_html_()


def test_what_is_given_is_used_and_else_the_environment_as_by_every_command(
    settings, store, monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("NEO4J_USER", "another")
    monkeypatch.setenv("NEO4J_PASSWORD_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("COBALANCE_IMAGES", "/from/environment")
    monkeypatch.setenv("COBALANCE_HEAP_MB", "300")
    monkeypatch.setenv("COBALANCE_QUEUE", "postgresql://elsewhere/queue")
    with pytest.raises(OptionError, match=r"PASSWORD_FILE=.*none: No such file"):
        cb.connect()
    with pytest.raises(StoreUnavailableError, match=r"127\.0\.0\.1:1"):
        cb.connect(password="x")
    with pytest.raises(OptionError, match="password"):
        cb.connect("bolt://127.0.0.1:1")  # the variables' is another server's
    if settings.neo4j_uri is not None:
        where = {
            "uri": settings.neo4j_uri,
            "username": settings.neo4j_username,
            "password": settings.password(),
            "database": settings.neo4j_database,
        }
    else:
        where = {"home": settings.cobalance_home}
    with cb.connect(**where, images=tmp_path, output=tmp_path / "made") as opened:
        assert opened.settings.cobalance_images == (str(tmp_path),)
        assert opened.settings.cobalance_heap_mb == 300
        assert opened.settings.neo4j_username == settings.neo4j_username
        assert opened.settings.folders().output == str(tmp_path / "made")
        assert isinstance(opened.datasets(), pd.DataFrame)
        assert f"Store at {store.uri}" in repr(opened)
        assert f"Opened {store.uri}" in capsys.readouterr().err
        if "home" in where:  # and the queue is that of the home
            assert f"the local server of {settings.cobalance_home}" in repr(opened)
            assert opened.settings.queue_url().startswith("sqlite:")
    monkeypatch.delenv("NEO4J_URI")
    with pytest.raises(OptionError, match=r"password is of a server\. Give uri="):
        cb.connect(password="x")
    assert store.read("RETURN 1 AS one") == [{"one": 1}]


def test_another_source_is_no_second_version(connected, dataset, cars):
    connected.load(cars, dataset)
    four = pd.DataFrame({"label": [*"aabb"], "objects": ["cow", "road", "cow", "cow"]})
    for others, why in ((cb.urbancars(), "are others"), (cb.read(four), "otherwise of 4 by")):
        with pytest.raises(ConflictError, match=f"holds 12 images from cars.csv; .* {why}"):
            connected.load(others, dataset)
    assert len(connected.load(cars, dataset)) == 12
    with pytest.raises(ConflictError, match="ids of their own and if_exists='append'"):
        connected.load(cb.read(four), dataset, if_exists="append")
    named = cb.read(four.set_axis([*"wxyz"]))
    assert len(connected.load(named, dataset, if_exists="append")) == 16
    # Each part again changes nothing, and so does a small change of one that has no name.
    assert len(connected.load(cars, dataset)) == 16
    assert len(connected.load(named, dataset)) == 16
    longer = pd.concat([four.set_axis([*"wxyz"]), four.set_axis([*"abcd"])])
    assert len(connected.load(cb.read(longer), dataset)) == 20
    assert len(connected.load(cb.read(four), dataset, if_exists="replace")) == 4
    with pytest.raises(OptionError, match="if_exists"):
        connected.load(cars, dataset, if_exists="overwrite")


def test_a_value_that_cannot_be_used_is_named():
    with pytest.raises(OptionError, match=r"^queue is 5, where str \| None is needed"):
        cb.connect(queue=5)


def test_images_are_planned_to_be_edited_and_ordered(connected, dataset, tmp_path):
    (tmp_path / "people.csv").write_text("id,class,concepts\n1,man,tie\n2,woman,tie\n3,man,\n")
    (tmp_path / "captions.csv").write_text("id,caption\n1,A man\n2,A woman\n3,A boy\n")
    data = cb.read(tmp_path / "people.csv", captions=tmp_path / "captions.csv")
    held = connected.load(data, dataset)
    plan = held.plan_counterfactuals("resampled", groups=["woman", "man"])
    assert plan.title() == (
        "4 images to make (2 man, 2 woman) from 2 images; 1 others are left out"
    )
    assert plan.left_out == {"images whose captions name children": 1}
    assert plan.frame["source_image"].tolist() == ["1", "1", "2", "2"]
    assert plan.frame["caption"].tolist() == ["A woman", "A man"] * 2
    plan.save(tmp_path / "plan.json")
    assert plan_from_json((tmp_path / "plan.json").read_bytes()) == plan.record
    with pytest.raises(OptionError, match="with consent='BASIS'; it is kept with the job"):
        held.order(plan)
    basis = "All shown have agreed."
    told = {"consent": basis, "without_images": True}
    for job in (held.order(plan, **told), held.order(recipe="resampled", **told)):
        assert job.queries()["source_image"].tolist() == ["1", "1", "2", "2"]
    with pytest.raises(
        NotFoundError, match=r"Run `store\['.*'\].plan_counterfactuals\(recipe='pin"
    ):
        held.order(recipe="pinpoint", consent=basis, alters_real_people=True)
    with pytest.raises(UnknownNameError, match="unknown option of a plan 'group'"):
        held.plan_counterfactuals("resampled", group="woman")
    assert plan._repr_html_()
