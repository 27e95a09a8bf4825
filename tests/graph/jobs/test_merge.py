"""Generated images in a dataset, and a dataset rebalanced by a job: marked, linked, repeatable."""

import pandas as pd
import pytest

from app.services.rebalanced import rebalanced_dataset
from app.services.results import export_job
from app.settings import Settings
from generation.export import ExportError, ExportOptions
from generation.output.chunk_records import ChunkRecord
from generation.output.folder import OutputFolder
from graph.dataset.cliques import load_cliques
from graph.dataset.drop_rename import drop_dataset
from graph.dataset.mining import MiningOptions, mine_dataset
from graph.dataset.state import dataset_state, find_dataset
from graph.dataset.write import write_annotations
from graph.errors import (
    DatasetExistsError,
    DatasetNotFoundError,
    JobNotFoundError,
    OptionError,
    StaleError,
    StoreError,
)
from graph.jobs.candidates import NewCandidate, decide, record_made
from graph.jobs.lifecycle import create_job, query_id
from graph.jobs.merge import GeneratedImage, add_generated, read_accepted
from graph.jobs.reports import start_queries
from graph.queries.comparison import compare_imbalances
from graph.records import Annotations, ImageRecord, Mention
from ingest.images.regions import read_regions, write_regions
from tests.generation.export.conftest import Stores, generated_row

SQUARE = "[[1,1,3,1,3,3,1,3]]"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder for regions, which services take from the environment."""
    monkeypatch.setenv("COBALANCE_HOME", str(tmp_path))
    return tmp_path / "regions"


def birds():
    """Of landbirds 4 with a tree, 3 with the sea, 2 with both; of waterbirds 5 with the sea."""
    shown = {
        "land": [["tree"]] * 4 + [["sea"]] * 3 + [["sea", "tree"]] * 2,
        "water": [["sea"]] * 5 + [["tree"]],
    }
    return Annotations.from_records(
        ImageRecord(
            f"{label} {i}",
            label,
            tuple(Mention(name, box=(1.0, 2.0, 3.0, 4.0), segmentation=SQUARE) for name in names),
            "test" if i == 0 else "train",
            f"{label}{i}.jpg",
            640,
            480,
        )
        for label, images in shown.items()
        for i, names in enumerate(images)
    )


@pytest.fixture
def loaded(store, dataset):
    write_annotations(store, dataset, birds(), source="a test")
    mine_dataset(store, dataset, MiningOptions(2), max_cliques=100)
    yield dataset
    for left in (f"{dataset}-rebalanced", f"{dataset} copy"):
        if find_dataset(store, left) is not None:
            drop_dataset(store, left)


@pytest.fixture
def job(store, loaded):
    """Two waterbirds with sea and tree, and three with a tree, one of them rejected."""
    queries = [("water", ("sea", "tree"), 2), ("water", ("tree",), 3)]
    job = create_job(store, loaded, "mine", queries)
    judged = (["accepted"] * 2, ["accepted", "accepted", "rejected"])
    made = {
        query_id(job, position): [
            NewCandidate(
                f"{query_id(job, position)}/{i}",
                f"out/{position}-{i}.png",
                verdict,
                source_image=f"water {i}",
                provenance={"width_px": 512, "height_px": 256},
            )
            for i, verdict in enumerate(verdicts)
        ]
        for position, verdicts in enumerate(judged)
    }
    start_queries(store, job, 0, list(made))
    record_made(store, job, made)
    return job


def generated(store, dataset):
    rows = store.read(
        "MATCH (i:Image {dataset: $d, synthetic: true})-[:LABELED]->(y) "
        "RETURN i.id AS id, y.name AS class, i.split AS split, i.uri AS uri, i.width_px AS width, "
        "i.height_px AS height, "
        "COLLECT { MATCH (i)-[e:CONTAINS]->(c) RETURN [c.name, e.source, e.score] ORDER BY c.name }"
        " AS concepts, COLLECT { MATCH (i)-[:GENERATED_BY]->(j:Job) RETURN j.id } AS jobs, "
        "COLLECT { MATCH (i)-[:DERIVED_FROM]->(o:Image {dataset: $d}) RETURN o.id } AS originals",
        d=dataset,
    )
    return {row.pop("id"): row for row in rows}


def gaps(store, dataset):
    cliques = load_cliques(store, dataset)
    return {
        names: dict(zip(cliques.classes, counts, strict=True))
        for names, counts in zip(cliques.names(), cliques.counts.tolist(), strict=True)
    }


def test_a_rebalanced_dataset_has_all_images_and_closes_the_gap(store, loaded, job, home):
    write_regions(home, loaded, birds())
    made = rebalanced_dataset(store, Settings.from_environment(), job)
    assert (made.dataset, made.generated) == (f"{loaded}-rebalanced", 4)
    assert (made.report.created, made.report.deleted) == (15 + 4, 0)
    found = generated(store, made.dataset)
    assert set(found) == {
        f"generated/{query_id(job, position)}/{i}" for position in (0, 1) for i in (0, 1)
    }
    assert found[f"generated/{query_id(job, 0)}/1"] == {
        "class": "water",
        "split": "train",
        "uri": "out/0-1.png",
        "width": 512,
        "height": 256,
        "concepts": [["sea", "generation-query", None], ["tree", "generation-query", None]],
        "jobs": [job],
        "originals": ["water 1"],
    }
    # That of the image that it was made from, which is for testing.
    assert found[f"generated/{query_id(job, 0)}/0"]["split"] == "test"
    with pytest.raises(StaleError, match="not been mined"):
        load_cliques(store, made.dataset)
    mine_dataset(store, made.dataset, MiningOptions(2), max_cliques=100)
    assert gaps(store, loaded) == {
        ("sea",): {"land": 5, "water": 5},
        ("tree",): {"land": 6, "water": 1},
        ("sea", "tree"): {"land": 2, "water": 0},
    }
    assert gaps(store, made.dataset) == {
        ("sea",): {"land": 5, "water": 7},
        ("tree",): {"land": 6, "water": 5},
        ("sea", "tree"): {"land": 2, "water": 2},
    }
    pairs = store.read(
        "MATCH (:Concept {dataset: $d, name: 'sea'})-[e:CO_OCCURS]->(:Concept {name: 'tree'}) "
        "RETURN e.images AS images",
        d=made.dataset,
    )
    assert pairs == [{"images": 4}]
    summary = compare_imbalances(store, loaded, made.dataset).summary
    assert summary[["solved", "reduced", "introduced"]].sum().tolist() == [1, 1, 1]
    ids = birds().images["id"].tolist()
    regions = read_regions(home, made.dataset, ids)
    assert len(regions) == 17
    assert regions.equals(read_regions(home, loaded, ids))
    assert generated(store, loaded) == {}


def test_again_it_changes_nothing(store, loaded, job, home, dump):
    first = rebalanced_dataset(store, Settings.from_environment(), job)
    mine_dataset(store, first.dataset, MiningOptions(2), max_cliques=100)
    before, original = dump(first.dataset), dump(loaded)
    again = rebalanced_dataset(store, Settings.from_environment(), job)
    assert (again.report.created, again.report.updated, again.report.deleted) == (0, 0, 0)
    assert again.report.unchanged == 19
    assert dump(first.dataset) == before
    assert dump(loaded) == original
    dataset_state(store, first.dataset).require_mined()


def test_what_was_decided_since_is_followed(store, loaded, job, home):
    made = rebalanced_dataset(store, Settings.from_environment(), job, f"{loaded} copy")
    assert made.dataset == f"{loaded} copy"
    first, second = query_id(job, 0), query_id(job, 1)
    decide(store, f"{first}/0", "rejected", "ann")
    decide(store, f"{second}/2", "accepted", "ann")
    again = rebalanced_dataset(store, Settings.from_environment(), job, f"{loaded} copy")
    assert (again.report.created, again.report.deleted, again.generated) == (1, 1, 4)
    assert f"generated/{second}/2" in generated(store, made.dataset)
    assert f"generated/{first}/0" not in generated(store, made.dataset)


def test_an_annotators_concepts_and_a_split(store, loaded, job, home):
    candidate = f"{query_id(job, 1)}/0"
    seen = {candidate: (Mention("sea", "owl", 0.5), Mention("boat", "owl", 0.25))}
    made = rebalanced_dataset(store, Settings.from_environment(), job, split="made", found=seen)
    found = generated(store, made.dataset)
    assert found[f"generated/{candidate}"]["concepts"] == [
        ["boat", "owl", 0.25],
        ["sea", "owl", 0.5],
    ]
    assert {row["split"] for row in found.values()} == {"made"}


def test_another_dataset_is_not_overwritten(store, loaded, job, home, dump):
    other = f"{loaded} renamed"
    write_annotations(store, other, birds(), source="a test")
    before = dump(other)
    with pytest.raises(DatasetExistsError, match="exists already"):
        rebalanced_dataset(store, Settings.from_environment(), job, other)
    with pytest.raises(OptionError, match="into itself"):
        rebalanced_dataset(store, Settings.from_environment(), job, loaded)
    assert dump(other) == before
    made = rebalanced_dataset(store, Settings.from_environment(), job)
    second = create_job(store, loaded, "mine", [("water", ("tree",), 1)])
    with pytest.raises(OptionError, match="no accepted candidate"):
        rebalanced_dataset(store, Settings.from_environment(), second)
    query = query_id(second, 0)
    record_made(store, second, {query: [NewCandidate(f"{query}/0", "x.png", "accepted")]})
    with pytest.raises(DatasetExistsError):
        rebalanced_dataset(store, Settings.from_environment(), second, made.dataset)
    with pytest.raises(JobNotFoundError):
        rebalanced_dataset(store, Settings.from_environment(), "no such job")


def test_a_job_on_a_rebalanced_dataset_keeps_what_it_has(store, loaded, job, home):
    first = rebalanced_dataset(store, Settings.from_environment(), job).dataset
    second = create_job(store, first, "more", [("land", ("sea",), 1)])
    query = query_id(second, 0)
    image = NewCandidate(f"{query}/0", "x.png", "accepted", source_image="land 1")
    record_made(store, second, {query: [image]})
    made = rebalanced_dataset(store, Settings.from_environment(), second, f"{loaded} copy")
    found = generated(store, made.dataset)
    before = generated(store, first)
    assert found.pop(f"generated/{query}/0")["jobs"] == [second]
    assert found == before


def test_images_are_added_to_a_dataset_once(store, loaded, job, dump):
    images = read_accepted(store, job)
    assert add_generated(store, loaded, images).created == 4
    state = dataset_state(store, loaded)
    state.require_complete()
    with pytest.raises(StaleError, match="has changed since it was mined"):
        state.require_mined()
    found = generated(store, loaded)
    assert {row["jobs"][0] for row in found.values()} == {job}
    assert all(len(row["originals"]) == 1 for row in found.values())
    before = dump(loaded)
    assert add_generated(store, loaded, images).unchanged == 4
    assert dump(loaded) == before
    mine_dataset(store, loaded, MiningOptions(2), max_cliques=100)
    assert gaps(store, loaded)["sea", "tree"] == {"land": 2, "water": 2}


def test_a_generated_image_takes_no_real_ones_place(store, loaded, job):
    with pytest.raises(StoreError, match="real image has the id 'land 0'"):
        add_generated(store, loaded, [GeneratedImage("land 0", "land", (), job)])
    with pytest.raises(DatasetNotFoundError):
        add_generated(store, f"{loaded} copy", read_accepted(store, job))


def write_as_a_worker(output, job, candidates):
    """Write the files of candidates, and their chunk's record."""
    stores = Stores()
    rows = []
    for number, (candidate, source) in enumerate(candidates.items()):
        path = f"{job}/images/{number}.png"
        row = generated_row(number, stores, candidate=candidate, job=job, source_image=source)
        output.write(path, stores.generated[row["path"]])
        rows.append(row | {"path": path, "mask_path": None, "class": "water"})
    ChunkRecord(output, job, "000-000000").write(rows)


def test_an_export_has_the_images_of_jobs_before(store, loaded, job, home, tmp_path, monkeypatch):
    monkeypatch.setenv("COBALANCE_OUTPUT", str(tmp_path / "made"))
    output = OutputFolder(str(tmp_path / "made"))
    before = {
        f"{query_id(job, position)}/{index}": f"water {index}"
        for position, n in enumerate((2, 3))
        for index in range(n)
    }
    write_as_a_worker(output, job, before)
    seen, other = f"{query_id(job, 1)}/1", f"{query_id(job, 1)}/2"
    decide(store, seen, "accepted", "ann")
    first = rebalanced_dataset(
        store, Settings.from_environment(), job, found={seen: (Mention("boat", "owl", 0.5),)}
    ).dataset
    second = create_job(store, first, "more", [("land", ("sea",), 1)])
    query = query_id(second, 0)
    made = NewCandidate(f"{query}/0", f"{second}/images/0.png", "accepted", source_image="water 0")
    record_made(store, second, {query: [made]})
    write_as_a_worker(output, second, {f"{query}/0": "water 0"})

    def exported(name):
        settings = Settings.from_environment()
        folder = tmp_path / name
        report = export_job(store, settings, second, "folder", folder, ExportOptions(), real=False)
        assert report.counts["generated images"] == 5
        assert report.counts["real images"] == 0
        return (
            pd.read_parquet(folder / file).set_index(key)
            for file, key in (("manifest.parquet", "image_id"), ("generated.parquet", "candidate"))
        )

    images, origins = exported("one")
    assert set(images.index) == set(origins.index) == {*before, f"{query}/0"} - {other}
    assert images["synthetic"].all()
    assert images["split"].to_dict() == {
        candidate: "test" if source == "water 0" else "train"
        for candidate, source in [*before.items(), (f"{query}/0", "water 0")]
        if candidate != other
    }
    assert images["concepts"][seen].tolist() == origins["concepts"][seen].tolist() == ["boat"]
    assert origins["decided_by"][seen] == "ann"
    assert origins["job"].value_counts().to_dict() == {job: 4, second: 1}
    drop_dataset(store, loaded)  # with its job, whose files stay
    images, origins = exported("two")
    assert origins["job"].value_counts().to_dict() == {job: 4, second: 1}
    output.delete(f"{job}/chunks/000-000000.json")
    said = rf"has 0 of the 4 generated images that the dataset has from job {job}\. .*OUTPUT"
    with pytest.raises(ExportError, match=said):
        exported("three")
