"""The job runner: images whose object cannot be taken from the dataset."""

import json
from contextlib import nullcontext
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import generation.sources.sampler
from generation.backends import BACKENDS
from generation.image_request import NoSourceError
from generation.jobs.chunks import Chunk
from generation.jobs.settings import JobSettings
from generation.output.chunk_records import ChunkRecord
from generation.output.folder import OutputFolder
from generation.output.image_files import save_images
from generation.sources.sampler import Sources, shuffled
from generation.worker.job_runner import JobRunner
from graph.dataset.plans import PlannedQuery
from graph.dataset.read import ClassImages
from graph.records import Annotations, Edit, ImageRecord, Mention
from ingest.images.regions import read_regions, write_regions

SECRET = "https://me:hunter2@data.example/{}.png?X-Amz-Signature=0f3c"
SQUARE = json.dumps([[10, 10, 30, 10, 30, 20, 10, 20]])


def png():
    pixels = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    out = BytesIO()
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def open_runner(tmp_path):
    """Open a runner whose images of cats are these, by URI; of dogs there are none."""

    def open_with(contents, **settings):
        records = [
            ImageRecord(f"{i}", "cat", (Mention("cat", segmentation=SQUARE),), None, uri)
            for i, uri in enumerate(contents)
        ]
        write_regions(tmp_path / "regions", "d", Annotations.from_records(records))
        checked = JobSettings(filters={}, **settings)
        sources = Sources(
            {"cat": ClassImages(tuple(r.id for r in records), tuple(r.uri for r in records))},
            contents.__getitem__,
            lambda ids: read_regions(tmp_path / "regions", "d", ids),
            checked.masks,
        )
        wanted = [("cat", "sofa"), ("dog", "sofa"), ("dog", "rug")]
        queries = {
            at: PlannedQuery(name, (concept,), 1) for at, (name, concept) in enumerate(wanted)
        }
        backend = BACKENDS.open(checked.backend, checked.making)
        return JobRunner("job", checked, queries, backend, {}, sources, nullcontext())

    return open_with


@pytest.fixture
def folder(tmp_path):
    return OutputFolder(str(tmp_path / "made"))


def test_what_is_said_of_a_painted_object_names_no_file(open_runner, folder):
    runner = open_runner({SECRET.format(0): b"<Error>expired</Error>"})
    images = runner.run(Chunk("job", "000", ((0, 0),)))
    (row,) = save_images(folder, images, "png", keep_rejected=True)
    ChunkRecord(folder, "job", "000").write([row])
    assert json.loads(row["settings"])["without_source"] == (
        "No object of class 'cat' can be taken from 1 of its 1 images. Most often (1 times) an "
        "image has a file that is not a usable image."
    )
    written = folder.read(row["path"]) + folder.read("job/chunks/000.json")
    assert b"hunter2" not in written
    assert b"0f3c" not in written


def test_a_class_that_must_not_be_painted_fails_its_queries_once(open_runner):
    runner = open_runner({SECRET.format(0): png()}, masks={"object": "cat"})
    images = runner.run(Chunk("job", "000", ((0, 0), (1, 0))))
    assert [found.row["verdict"] for found in images] == ["accepted", "rejected"]
    with pytest.raises(NoSourceError, match="No image of class 'dog'"):
        runner.run(Chunk("job", "001", ((1, 1), (2, 0))))
    ((message, queries),) = runner.failures.take().items()
    assert (queries, message[:23]) == ([1, 2], "No image of class 'dog'")
    with pytest.raises(NoSourceError):
        runner.run(Chunk("job", "002", ((2, 1),)))
    assert runner.failures.take() == {}


def test_an_image_without_a_usable_source_is_painted(open_runner, monkeypatch):
    monkeypatch.setattr(generation.sources.sampler, "TRIES", 1)
    first = next(shuffled(2, 0))  # as seed 0 does
    contents = [b"none", b"none"]
    contents[first] = png()
    runner = open_runner({f"{i}.png": content for i, content in enumerate(contents)})
    images = runner.run(Chunk("job", "000", tuple((0, i) for i in range(16))))
    rows = [found.row for found in images]
    said = [json.loads(row["settings"]).get("without_source") for row in rows]
    assert {row["verdict"] for row in rows} == {"accepted"}
    assert [one is None for one in said] == [row["source_image"] is not None for row in rows]
    assert 0 < sum(one is None for one in said) < 16


def test_a_query_that_edits_an_image_takes_that_image_and_turns_through_the_variants(
    open_runner,
):
    contents = {"a.png": png(), "b.png": png()}
    variants = [{"guidance_scale": 7.5}, {"guidance_scale": 9.5, "prompt": "a {noun}"}]
    runner = open_runner(contents, variants=variants, phrases={"dog": {"noun": "hound"}})
    edit = Edit("1", caption="a dog barks")
    runner.queries[1] = PlannedQuery("dog", ("sofa",), 1, edit)
    made = runner.run(Chunk("job", "000-000000", ((1, 0), (1, 1), (1, 2))))
    rows = [image.row for image in made]
    assert {row["source_image"] for row in rows} == {"1"}
    assert {row["class"] for row in rows} == {"dog"}
    assert [row["prompt"] for row in rows] == ["a photo of a sofa", "a hound", "a photo of a sofa"]


def test_an_image_that_cannot_be_edited_is_rejected_and_its_query_goes_on(open_runner):
    runner = open_runner({"a.png": png()}, prompt="a {noun}")
    runner.queries[1] = PlannedQuery("dog", (), 1, Edit("7"))
    (image,) = runner.run(Chunk("job", "000-000000", ((1, 0),)))
    assert image.image is None
    assert "'7' has no address" in image.row["reason"]
    assert not runner.failures.take()
