"""Results of jobs: exports with the images of earlier jobs, and rebalanced datasets."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cobalance.base.errors import (
    ConflictError,
    DataError,
    NotFoundError,
    OptionError,
    StaleError,
    StoreError,
)
from cobalance.base.records import Mention
from cobalance.counting.mining_options import MiningOptions
from cobalance.generation.export import ExportError, ExportOptions
from cobalance.generation.output.chunk_records import ChunkRecord
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.cliques import load_cliques
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.mining import mine_dataset
from cobalance.graph.dataset.state import dataset_state, find_dataset
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidates import NewCandidate, decide, record_made
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.rebalance import (
    AcceptedImage,
    generated_id,
    read_accepted,
    write_rebalanced,
)
from cobalance.graph.jobs.status import read_job
from cobalance.graph.queries.comparison import compare_imbalances
from cobalance.ingest.captions.image_texts import read_image_texts, write_image_texts
from cobalance.ingest.frames import TextColumns
from cobalance.vision.images.regions import read_regions, write_regions
from cobalance.vision.stored.output_folder import OutputFolder
from cobalance.workflows.export import export_job
from cobalance.workflows.folders import (
    DatasetPlaces,
    change_dataset_places,
    read_dataset_places,
)
from cobalance.workflows.rebalance import copy_rebalanced, rebalance_job
from tests.generation.export.conftest import Stores, generated_row
from tests.tiny.vision import save_owlv2
from tests.workflows.conftest import birds


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


def test_an_export_has_the_images_of_jobs_before(store, loaded, job, own, tmp_path):
    output = OutputFolder(own.folders().output)
    before = {
        f"{query_id(job, position)}/{index}": f"water {index}"
        for position, n in enumerate((2, 3))
        for index in range(n)
    }
    write_as_a_worker(output, job, before)
    seen, other = f"{query_id(job, 1)}/1", f"{query_id(job, 1)}/2"
    decide(store, seen, "accepted", "ann")
    images = [
        replace(image, mentions=(Mention("boat", "owl", 0.5),))
        if image.id == generated_id(seen)
        else image
        for image in read_accepted(store, job)
    ]
    first = rebalance(store, own, job, images=images).dataset
    second = create_job(store, first, "more", [("land", ("sea",), 1)])
    query = query_id(second, 0)
    made = NewCandidate(f"{query}/0", f"{second}/images/0.png", "accepted", source_image="water 0")
    record_made(store, second, {query: [made]})
    write_as_a_worker(output, second, {f"{query}/0": "water 0"})

    def exported(name):
        folder = tmp_path / name
        ordered = read_job(store, second)
        report = export_job(
            store, own.folders(), ordered, "folder", folder, ExportOptions(), real=False
        )
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
    said = rf"has 0 of the 4 generated images that the dataset has from job {job}\. .*with output"
    with pytest.raises(ExportError, match=said):
        exported("three")


@pytest.fixture
def reads(monkeypatch):
    """The queries that read a job's node."""
    read, texts = GraphStore.read, []

    def watched(self, text, **parameters):
        if "(j:Job {id: $job})" in getattr(text, "text", text):
            texts.append(text)
        return read(self, text, **parameters)

    monkeypatch.setattr(GraphStore, "read", watched)
    return texts


def test_a_job_is_read_once_and_passed_on(store, loaded, job, own, tmp_path, reads):
    output = OutputFolder(own.folders().output)
    stores = Stores()
    for image in read_accepted(store, job):
        row = generated_row(0, stores)
        output.write(image.uri, stores.generated[row["path"]])
    found = read_job(store, job)
    export_job(store, own.folders(), found, "weights", tmp_path / "weights", ExportOptions())
    model = {"model": str(save_owlv2(tmp_path / "owlv2")), "threshold": 0.3}
    merged = rebalance_job(store, own.folders(), found, annotator="owlv2", annotator_options=model)
    assert merged.generated == 4
    assert len(reads) == 1


def test_a_job_is_not_annotated_with_bad_options(store, loaded, job, own):
    with pytest.raises(OptionError, match="The annotator owlv2: threshold is 2"):
        rebalance_job(
            store,
            own.folders(),
            read_job(store, job),
            annotator="owlv2",
            annotator_options={"threshold": 2},
        )


def rebalance(store, settings, job, into=None, images=None):
    images = read_accepted(store, job) if images is None else images
    return copy_rebalanced(store, settings.folders(), read_job(store, job), into, images=images)


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


def test_a_rebalanced_dataset_has_all_images_and_closes_the_gap(store, loaded, job, own):
    write_regions(own.folders().regions, loaded, birds())
    texts = TextColumns(np.array([0]), [["A bird ."]], ["MIT"], [None], [None])
    told = replace(birds(), texts=texts.frame(np.array([0])))
    write_image_texts(own.folders().captions, loaded, told)
    places = DatasetPlaces(("/data/birds",), ("/data/more",))
    change_dataset_places(own.cobalance_home, loaded, lambda _: places)
    made = rebalance(store, own, job)
    assert read_dataset_places(own.cobalance_home, made.dataset) == places
    assert (made.dataset, made.generated) == (f"{loaded}-rebalanced", 4)
    assert (made.report.created, made.report.deleted) == (15 + 4, 0)
    found = generated(store, made.dataset)
    assert set(found) == {
        f"generated/{query_id(job, position)}/{i}" for position in (0, 1) for i in (0, 1)
    }
    assert found[f"generated/{query_id(job, 0)}/1"] == {
        "class": "water",
        "split": "train",
        "uri": f"{job}/images/0-1.png",
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
    summary = compare_imbalances(store, loaded, made.dataset, by="counts").summary
    assert summary[["solved", "reduced", "introduced"]].sum().tolist() == [1, 1, 1]
    ids = birds().images["id"].tolist()
    regions = read_regions(own.folders().regions, made.dataset, ids)
    assert len(regions) == 17
    assert regions.equals(read_regions(own.folders().regions, loaded, ids))
    (copied,) = read_image_texts(own.folders().captions, made.dataset).to_dict("records")
    assert (copied["id"], copied["captions"], copied["license"]) == (ids[0], ["A bird ."], "MIT")
    assert generated(store, loaded) == {}


def test_again_it_changes_nothing(store, loaded, job, own, dump):
    first = rebalance(store, own, job)
    mine_dataset(store, first.dataset, MiningOptions(2), max_cliques=100)
    before, original = dump(first.dataset), dump(loaded)
    again = rebalance(store, own, job)
    assert (again.report.created, again.report.updated, again.report.deleted) == (0, 0, 0)
    assert again.report.unchanged == 19
    assert dump(first.dataset) == before
    assert dump(loaded) == original
    dataset_state(store, first.dataset).require_mined()


def test_what_was_decided_since_is_followed(store, loaded, job, own):
    made = rebalance(store, own, job, f"{loaded} copy")
    assert made.dataset == f"{loaded} copy"
    first, second = query_id(job, 0), query_id(job, 1)
    decide(store, f"{first}/0", "rejected", "ann")
    decide(store, f"{second}/2", "accepted", "ann")
    again = rebalance(store, own, job, f"{loaded} copy")
    assert (again.report.created, again.report.deleted, again.generated) == (1, 1, 4)
    assert f"generated/{second}/2" in generated(store, made.dataset)
    assert f"generated/{first}/0" not in generated(store, made.dataset)


def test_an_annotators_concepts_and_a_split(store, loaded, job, own):
    candidate = f"{query_id(job, 1)}/0"
    seen = (Mention("sea", "owl", 0.5), Mention("boat", "owl", 0.25))
    images = [
        replace(image, mentions=seen) if image.id == f"generated/{candidate}" else image
        for image in read_accepted(store, job)
    ]
    made = rebalance(store, own, job, images=images)
    found = generated(store, made.dataset)
    assert {row["split"] for row in found.values()} == {"test", "train"}
    assert found[f"generated/{candidate}"]["concepts"] == [
        ["boat", "owl", 0.25],
        ["sea", "owl", 0.5],
    ]


def test_another_dataset_is_not_overwritten(store, loaded, job, own, dump):
    other = f"{loaded} renamed"
    write_annotations(store, other, birds(), source="a test")
    before = dump(other)
    with pytest.raises(ConflictError, match="exists already"):
        rebalance(store, own, job, other)
    with pytest.raises(OptionError, match="into itself"):
        rebalance(store, own, job, loaded)
    assert dump(other) == before
    made = rebalance(store, own, job)
    second = create_job(store, loaded, "mine", [("water", ("tree",), 1)])
    with pytest.raises(DataError, match="no accepted candidate"):
        rebalance(store, own, second)
    query = query_id(second, 0)
    record_made(store, second, {query: [NewCandidate(f"{query}/0", "x.png", "accepted")]})
    with pytest.raises(ConflictError):
        rebalance(store, own, second, made.dataset)
    with pytest.raises(NotFoundError):
        rebalance(store, own, "no such job")


def test_a_job_on_a_rebalanced_dataset_keeps_what_it_has(store, loaded, job, own):
    first = rebalance(store, own, job).dataset
    second = create_job(store, first, "more", [("land", ("sea",), 1)])
    query = query_id(second, 0)
    image = NewCandidate(f"{query}/0", "x.png", "accepted", source_image="land 1")
    record_made(store, second, {query: [image]})
    made = rebalance(store, own, second, f"{loaded} copy")
    found = generated(store, made.dataset)
    before = generated(store, first)
    assert found.pop(f"generated/{query}/0")["jobs"] == [second]
    assert found == before


def test_a_generated_image_takes_no_real_ones_place(store, loaded, job):
    taken = AcceptedImage("land 0", "land", job=job)
    with pytest.raises(StoreError, match="real image has the id 'land 0'"):
        write_rebalanced(store, read_job(store, job), f"{loaded} copy", [taken])
    assert find_dataset(store, f"{loaded} copy") is None
