"""Jobs that edit single images: variants, parts of objects, and the pixels that stay."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import binary_dilation

from cobalance.base.records import Edit
from cobalance.generation.output.chunk_records import read_records
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.graph.dataset.plans import PlannedQuery
from cobalance.graph.jobs.lifecycle import create_job, retry_job
from cobalance.graph.jobs.status import read_job, read_queries
from cobalance.vision.stored.output_folder import OutputFolder
from tests.e2e.small_jobs import PLAIN, draw_masks
from tests.tiny.diffusion import inpainting
from tests.tiny.vision import save_clipseg, save_mask2former

VARIANTS = [{"guidance_scale": 7.5}, {"guidance_scale": 9.5}, {"guidance_scale": 15.0}]


def queries(n=1):
    """For images of the country and of the town, each of the two classes."""
    return [
        PlannedQuery(name, (), n, Edit(image, caption=f"a {name} road"))
        for image in ("0", "3")
        for name in ("country", "urban")
    ]


@pytest.fixture
def masked(tmp_path):
    """Mask settings with files, each with a square from 10 to 19."""
    (tmp_path / "masks").mkdir()
    draw_masks(tmp_path / "masks", range(8))
    return {"masks": "files", "mask_folder": str(tmp_path / "masks"), "min_share": 0}


def rows_of(own, job):
    return list(read_records(OutputFolder(own.folders().output), job))


@pytest.mark.parametrize("backend", ["procedural", "inpaint"])
def test_each_scale_is_used_as_often_and_all_but_the_object_stays(
    store, loaded, own, work, tmp_path, masked, backend
):
    making = {"paint": "object"}
    if backend == "inpaint":
        inpainting().save_pretrained(tmp_path / "model")
        making |= {"model": str(tmp_path / "model"), "offline": True, "steps": 1}
    wanted = {
        "backend": backend,
        "making": making,
        "masks": masked,
        "prompt": "{caption}",
        "filters": {"sanity": {}},
        "variants": VARIANTS,
        "chunk_size": 5,
    }
    job = create_job(store, loaded, "plan", queries(n=6), settings=wanted)
    work()
    found = read_job(store, job)
    assert (found.state, found.accepted, found.rejected) == ("done", 24, 0), found.error
    scales = Counter()
    for row in rows_of(own, job):
        settings = json.loads(row["settings"])
        variant = row["index"] % 3
        assert settings["variant_number"] == variant
        assert settings["guidance_scale"] == VARIANTS[variant]["guidance_scale"]
        assert json.loads(row["scores"])["sanity"]["details"] == {"compared": True}
        assert row["prompt"] == f"a {row['class']} road"
        scales[row["query"], settings["guidance_scale"]] += 1
        made = np.asarray(Image.open(tmp_path / "generated" / row["path"]))
        source = np.asarray(Image.open(tmp_path / "pictures" / row["source_uri"]))
        changed = (made != source).any(axis=2)
        assert not np.delete(changed, slice(10, 20), axis=0).any()
        assert not np.delete(changed, slice(10, 20), axis=1).any()
        assert changed[10:20, 10:20].mean() > 0.9
    assert set(scales.values()) == {2}
    assert len(scales) == 12


def test_a_scale_that_would_be_ignored_fails_the_job_before_anything_is_made(
    store, loaded, own, work
):
    job = create_job(store, loaded, "plan", queries(), settings=PLAIN | {"variants": VARIANTS})
    work()
    found = read_job(store, job)
    assert (found.state, found.made) == ("failed", 0)
    assert "procedural would ignore the variants' guidance_scale of 7.5" in found.error
    assert "set making.paint to object" in found.error


def test_the_parts_that_a_second_segmenter_finds_are_painted(
    store, loaded, own, work, tmp_path, masked
):
    model = save_clipseg(tmp_path / "clipseg")
    pictures = [np.asarray(Image.open(tmp_path / "pictures" / f"{at}.png")) for at in range(8)]
    own_parts = {"model": str(model), "texts": ["skin"], "device": "cpu"}
    segmenter = SEGMENTERS.open("clipseg", own_parts)
    person = np.zeros((40, 48), bool)
    person[10:20, 10:20] = True
    found = {}
    for threshold in np.linspace(0.3, 0.7, 41).tolist():
        options = segmenter.options.model_copy(update={"threshold": threshold})
        finder = replace(segmenter, options=options)
        found[threshold] = [finder.parts(image)["skin"] for image in pictures]
    # random weights: the threshold at which about half of the squares' pixels are skin
    threshold, skins = min(
        found.items(), key=lambda pair: abs(np.mean([skin[person] for skin in pair[1]]) - 0.5)
    )
    wanted = {
        "backend": "procedural",
        "making": {"paint": "object"},
        "masks": masked | {"grow_px": 1},
        "parts": "clipseg",
        "parts_options": own_parts | {"threshold": threshold},
        "prompt": "{caption}",
        "filters": {"sanity": {}},
        "candidates_per_image": 1,
    }
    job = create_job(store, loaded, "plan", queries(), settings=wanted)
    work()
    done = read_job(store, job)
    assert (done.state, done.made) == ("done", 4), done.error
    assert done.accepted > 0
    rows = rows_of(own, job)
    for row in rows:
        image = int(row["source_image"] or row["query"] // 2 * 3)
        expected = skins[image] & person
        if not expected.any():
            assert row["verdict"] == "rejected"
            assert "shows none of the wanted parts of its object: wanted skin" in row["reason"]
            continue
        expected = binary_dilation(expected, np.ones((3, 3), bool))
        mask = np.asarray(Image.open(tmp_path / "generated" / row["mask_path"]))
        assert np.array_equal(mask, expected)
        assert json.loads(row["settings"])["segmenter"]["parts"]["segmenter"] == "clipseg"


def test_instances_that_a_model_finds_where_nothing_is_annotated(
    store, loaded, own, work, tmp_path
):
    own_options = {"model": str(save_mask2former(tmp_path / "people")), "device": "cpu"}
    own_options |= {"labels": ["dog"], "threshold": 0, "overlap": 1}
    found = {
        at: SEGMENTERS.open("people", own_options).instances(
            np.asarray(Image.open(tmp_path / "pictures" / f"{at}.png"))
        )
        for at in (0, 3)
    }
    wanted = {
        "backend": "procedural",
        "making": {"paint": "object"},
        "masks": {"masks": "segmenter", "instances": "largest", "max_share": 1, "min_share": 0},
        "segmenter": "people",
        "segmenter_options": own_options,
        "prompt": "{caption}",
        "filters": {"sanity": {"min_background": 0}},
    }
    job = create_job(store, loaded, "plan", queries(), settings=wanted)
    work()
    done = read_job(store, job)
    assert (done.state, done.accepted) == ("done", 4), done.error
    for row in rows_of(own, job):
        expected = max(found[int(row["source_image"])], key=np.count_nonzero)
        mask = np.asarray(Image.open(tmp_path / "generated" / row["mask_path"]))
        assert np.array_equal(mask, expected)
        assert json.loads(row["settings"])["segmenter"]["segmenter"] == "people"


def test_an_image_that_cannot_be_edited_is_given_up_with_its_reason(
    store, loaded, own, work, tmp_path, masked
):
    """Long before its cap, and tried again when a person asks for it."""
    (tmp_path / "masks" / "3.png").unlink()
    wanted = PLAIN | {"prompt": "{caption}", "making": {"paint": "object"}, "masks": masked}
    wanted |= {"candidates_per_image": 50}
    job = create_job(store, loaded, "plan", queries(), settings=wanted)
    work()
    found = read_job(store, job)
    assert (found.state, found.accepted, found.rejected, found.short) == ("done", 2, 4, 2)
    messages = read_queries(store, job).set_index("source_image")["message"]
    assert set(messages["0"]) == {""}
    assert all(
        text.startswith(
            "0 of 1 image accepted; given up after 2 candidates, all for one reason: The image "
            "'3' cannot be edited: it has no mask file"
        )
        for text in messages["3"]
    )
    assert retry_job(store, job, short=True) == 2
    work()
    assert read_job(store, job).rejected == 8
    draw_masks(tmp_path / "masks", [3])
    assert retry_job(store, job, short=True) == 2
    work()
    found = read_job(store, job)
    assert (found.accepted, found.rejected, found.short) == (4, 8, 0)


def test_no_worker_paints_people_without_consent_however_the_job_was_ordered(
    store, loaded, own, work
):
    wanted = PLAIN | {"making": {"paint": "object"}, "masks": {"object": ["person"]}}
    job = create_job(store, loaded, "plan", queries(), settings=wanted)
    work()
    found = read_job(store, job)
    assert (found.state, found.accepted, found.rejected) == ("failed", 0, 0)
    assert "paints people ('person'). Say on what basis" in found.error
    assert rows_of(own, job) == []
