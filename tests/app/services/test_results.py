"""Results of jobs: exports with the images of earlier jobs, and one read of the job for all."""

from dataclasses import replace

import pandas as pd
import pytest

from app.services.rebalanced import rebalanced_dataset
from app.services.results import export_job, merge_job
from generation.export import ExportError, ExportOptions
from generation.output.chunk_records import ChunkRecord
from generation.output.folder import OutputFolder
from graph.database.store import GraphStore
from graph.dataset.drop_rename import drop_dataset
from graph.errors import OptionError
from graph.jobs.candidates import NewCandidate, decide, record_made
from graph.jobs.lifecycle import create_job, query_id
from graph.jobs.merge import generated_id, read_accepted
from graph.jobs.status import read_job
from graph.records import Mention
from tests.generation.export.conftest import Stores, generated_row
from tests.tiny.vision import save_owlv2


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
    output = OutputFolder(own.output_folder())
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
    first = rebalanced_dataset(store, own, read_job(store, job), images=images).dataset
    second = create_job(store, first, "more", [("land", ("sea",), 1)])
    query = query_id(second, 0)
    made = NewCandidate(f"{query}/0", f"{second}/images/0.png", "accepted", source_image="water 0")
    record_made(store, second, {query: [made]})
    write_as_a_worker(output, second, {f"{query}/0": "water 0"})

    def exported(name):
        folder = tmp_path / name
        ordered = read_job(store, second)
        report = export_job(store, own, ordered, "folder", folder, ExportOptions(), real=False)
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
    output = OutputFolder(own.output_folder())
    stores = Stores()
    for image in read_accepted(store, job):
        row = generated_row(0, stores)
        output.write(image.uri, stores.generated[row["path"]])
    found = read_job(store, job)
    export_job(store, own, found, "weights", tmp_path / "weights", ExportOptions())
    model = {"model": str(save_owlv2(tmp_path / "owlv2")), "threshold": 0.3}
    merged = merge_job(store, own, found, annotator="owlv2", annotator_options=model)
    assert merged.generated == 4
    assert len(reads) == 1


def test_a_job_is_not_annotated_with_bad_options(store, loaded, job, own):
    with pytest.raises(OptionError, match="The annotator owlv2: threshold is 2"):
        merge_job(
            store, own, read_job(store, job), annotator="owlv2", annotator_options={"threshold": 2}
        )
