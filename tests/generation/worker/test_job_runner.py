"""The job runner: images whose object cannot be taken from the dataset."""

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import cobalance.generation.sources.sampler
from cobalance.base.records import Annotations, Edit, ImageRecord, Mention, PlannedQuery
from cobalance.generation.backends import BACKENDS
from cobalance.generation.filters.filter import Judgement
from cobalance.generation.image_request import (
    GeneratedImage,
    GenerationError,
    NoSourceError,
)
from cobalance.generation.jobs.chunks import Chunk
from cobalance.generation.jobs.settings import JobSettings
from cobalance.generation.output.chunk_records import ChunkRecord, read_vectors, write_vectors
from cobalance.generation.output.image_files import save_images
from cobalance.generation.sources.object_masks import ObjectMasks
from cobalance.generation.sources.sampler import Sources, shuffle
from cobalance.generation.worker.job_runner import JobRunner
from cobalance.graph.dataset.read import ClassImages
from cobalance.vision.images.regions import read_regions, write_regions
from cobalance.vision.stored.output_folder import OutputFolder

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
            ObjectMasks(checked.masks, lambda ids: read_regions(tmp_path / "regions", "d", ids)),
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
        "No object of class 'cat' can be taken from its 1 image. An "
        "image has a file that is not a usable image."
    )
    written = folder.read(row["path"]) + folder.read("job/chunks/000.json")
    assert b"hunter2" not in written
    assert b"0f3c" not in written


def test_chunks_that_run_at_once_warn_of_a_class_without_sources_once(open_runner, caplog):
    class Slow(dict):
        def __getitem__(self, uri):
            time.sleep(0.2)
            return super().__getitem__(uri)

    runner = open_runner(Slow({"a.png": b"no image"}))
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(runner.run, [Chunk("job", f"{n}", ((0, n),)) for n in range(3)]))
    (warning,) = caplog.messages
    assert warning.startswith("No object of class 'cat' can be taken from its 1 image. An image")


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
    monkeypatch.setattr(cobalance.generation.sources.sampler, "TRIES", 1)
    first = next(shuffle(2, 0))  # as seed 0 does
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


def test_a_planned_source_is_taken_and_its_object_painted_over(open_runner):
    """Of any class, where the object is painted anew; those that cannot be read are passed over."""
    contents = {f"{i}.png": png() for i in range(4)} | {"4.png": b"none"}
    runner = open_runner(contents, making={"paint": "object"})
    runner.queries[1] = PlannedQuery("dog", ("sofa",), 6, None, ("2", "4", "3"))
    items = tuple((1, number) for number in range(12))
    rows = [image.row for image in runner.run(Chunk("job", "000-000000", items))]
    assert {row["source_image"] for row in rows} == {"2", "3"}
    assert {row["class"] for row in rows} == {"dog"}
    again = [image.row for image in runner.run(Chunk("job", "000-000000", items))]
    assert [row["source_image"] for row in again] == [row["source_image"] for row in rows]


def test_an_object_that_is_kept_comes_from_a_source_of_its_class(open_runner):
    runner = open_runner({f"{i}.png": png() for i in range(6)})
    runner.queries[0] = PlannedQuery("cat", ("sofa",), 4, None, ("5", "3"))
    runner.queries[1] = PlannedQuery("dog", ("sofa",), 4, None, ("5", "3"))
    runner.queries[2] = PlannedQuery("cat", ("rug",), 4, None, ("gone",))
    items = tuple((query, number) for query in range(3) for number in range(4))
    rows = [image.row for image in runner.run(Chunk("job", "000-000000", items))]
    taken = [{row["source_image"] for row in rows[first : first + 4]} for first in (0, 4, 8)]
    assert taken[0] <= {"3", "5"}
    assert taken[1] == {None}  # there is no dog: it is painted
    assert taken[2] <= set("012345")


def test_an_image_that_cannot_be_edited_is_rejected_and_its_query_goes_on(open_runner):
    runner = open_runner({"a.png": png()}, prompt="a {noun}")
    runner.queries[1] = PlannedQuery("dog", (), 1, Edit("7"))
    (image,) = runner.run(Chunk("job", "000-000000", ((1, 0),)))
    assert image.image is None
    assert "'7' has no address" in image.row["reason"]
    assert not runner.failures.take()


def test_candidates_turn_through_scales_evenly_and_say_so(open_runner):
    variants = [{"guidance_scale": scale} for scale in (7.5, 9.5, 15.0)]
    runner = open_runner({"a.png": png(), "b.png": png()}, variants=variants)
    for position, group in enumerate(("man", "dog")):
        runner.queries[position] = PlannedQuery(group, (), 1, Edit("1"))
    runner.settings = runner.settings.model_copy(update={"prompt": "a {noun}"})
    rows = []
    for query in (0, 1):
        for start in range(0, 30, 8):  # in chunks that are no multiple of three
            items = tuple((query, index) for index in range(start, min(start + 8, 30)))
            rows += [image.row for image in runner.run(Chunk("job", f"{start}", items))]
    made = [(row["query"], json.loads(row["settings"])) for row in rows]
    for query in (0, 1):
        got = Counter(
            (one["variant_number"], one["guidance_scale"]) for at, one in made if at == query
        )
        assert got == {(0, 7.5): 10, (1, 9.5): 10, (2, 15.0): 10}


def test_four_templates_at_two_scales_are_eight_candidates_a_group(open_runner):
    templates = ["Make this {noun} {adjective}", "look like a {noun}", "a {noun}", "one {noun}"]
    variants = [
        {"prompt": template, "guidance_scale": scale}
        for template in templates
        for scale in (9.5, 15.0)
    ]
    phrases = {"dog": {"noun": "hound", "adjective": "canine"}}
    runner = open_runner({"a.png": png(), "b.png": png()}, variants=variants, phrases=phrases)
    runner.queries[1] = PlannedQuery("dog", ("sofa",), 1, Edit("1"))
    rows = [image.row for image in runner.run(Chunk("job", "c", tuple((1, at) for at in range(8))))]
    asked = [(row["prompt"], json.loads(row["settings"])["guidance_scale"]) for row in rows]
    words = ["Make this hound canine", "look like a hound", "a hound", "one hound"]
    assert asked == [(prompt, scale) for prompt in words for scale in (9.5, 15.0)]


def test_a_job_without_variants_has_no_number_of_one(open_runner):
    (image,) = open_runner({"a.png": png(), "b.png": png()}).run(Chunk("job", "c", ((0, 0),)))
    assert "variant_number" not in json.loads(image.row["settings"])


def test_a_patch_is_of_the_group_and_never_the_source(open_runner):
    contents = {f"{name}.png": png() for name in "abc"}
    runner = open_runner(contents, backend="patch", prompt="{noun}")
    for position, group in ((1, "cat"), (2, "cow")):
        runner.queries[position] = PlannedQuery(group, (), 1, Edit("1"))
    items = tuple((1, index) for index in range(12))
    first, again = (
        [one.row for one in runner.run(Chunk("job", "c", (*items, (2, 0))))] for _ in range(2)
    )
    patches = [json.loads(row["settings"]).get("patch_image") for row in first]
    assert [json.loads(row["settings"]).get("patch_image") for row in again] == patches
    assert set(patches[:12]) == {"0", "2"}
    assert first[12]["verdict"] == "rejected"
    assert "No image of class 'cow' has an address" in first[12]["reason"]


class Embedding:
    """A filter that gives an image and its source a vector each."""

    def judge(self, requests, _made):
        vectors = [{"image": np.ones(3, np.float32), "source": np.zeros(3, np.float32)}]
        return [Judgement(0.5, vectors=found) for found in vectors * len(requests)]

    def describe(self):
        return {}


def test_vectors_go_with_an_image_that_has_a_source(open_runner, folder):
    runner = open_runner({"a.png": png()})
    runner.filters = {"embedding": Embedding()}
    runner.queries[1] = PlannedQuery("dog", (), 1, Edit("0", caption="a dog"))
    images = runner.run(Chunk("job", "000-000000", ((0, 0), (2, 0))))
    assert [sorted(image.embedded) for image in images] == [["embedding"], []]
    write_vectors(folder, "job", "000-000000", [image.embedded for image in images])
    (found,) = read_vectors(folder, "job", "embedding")
    assert found[:2] + found[3:5] == ("job/000000/000000", "cat", "0", "cat")
    assert (found.vector.tolist(), found.source_vector.tolist()) == ([1.0] * 3, [0.0] * 3)
    assert found.vector.dtype == np.float32


class HalfFailing:
    """A backend that has no image for odd candidates."""

    needs_source = False

    def generate(self, requests):
        pixels = np.zeros((8, 8, 3), np.uint8)
        return [
            GenerationError("Refused.") if int(request.id[-1]) % 2 else GeneratedImage(pixels)
            for request in requests
        ]

    def describe(self):
        return {"backend": "half", "digital_source_type": "test"}


class Counting:
    """A filter that accepts all, and notes how many images it saw."""

    def __init__(self):
        self.seen = []

    def judge(self, requests, images):
        self.seen.append(
            [
                (request.id, image.image.shape)
                for request, image in zip(requests, images, strict=True)
            ]
        )
        return [Judgement(1.0) for _ in requests]

    def describe(self):
        return {}


def test_a_candidate_that_the_backend_has_failed_at_is_rejected_alone(open_runner):
    runner = open_runner({SECRET.format(0): png()})
    runner.backend, judge = HalfFailing(), Counting()
    runner.filters = {"counting": judge}
    chunk = Chunk("job", "000", tuple((0, i) for i in range(6)))
    judged = runner.run(chunk)
    assert [image.row["verdict"] for image in judged] == ["accepted", "rejected"] * 3
    assert [image.row["reason"] for image in judged if image.image is None] == [
        "It could not be generated: Refused."
    ] * 3
    assert [[name for name, _ in seen] for seen in judge.seen] == [chunk.candidates()[::2]]
    # Images in between begin the count anew.
    assert runner.failures.take() == {}

    runner.run(Chunk("job", "001", tuple((0, i) for i in (7, 9))))
    runner.run(Chunk("job", "002", ((0, 11),)))
    ((message, queries),) = runner.failures.take().items()
    assert (queries, message[:26]) == ([0], "4 images in a row could no")
