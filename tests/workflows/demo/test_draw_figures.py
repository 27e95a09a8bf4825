"""Drawn figures: exact counts, outlines that are what was drawn, files that ingest reads."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.vision.images.masks import mask, mask_box
from cobalance.workflows.demo.draw_figures import CAPTIONS, INSTANCES, draw_scene, write_figures
from cobalance.workflows.demo.figure_scenes import GROUPS, PICTURES, THINGS, Scene, make_scenes


@pytest.fixture(scope="module")
def scenes() -> tuple[Scene, ...]:
    return make_scenes(3)


def test_things_lean_to_a_group_as_declared(scenes: tuple[Scene, ...]) -> None:
    assert len(scenes) == 76
    assert [scene.number for scene in scenes] == list(range(76))
    shown = Counter((scene.group, scene.things) for scene in scenes)
    # ten more, five of each group, are there to be left out of plans
    shown.subtract({("man", ("cup",)): 5, ("woman", ("cup",)): 5})
    assert {group: dict(pictures) for group, pictures in PICTURES.items()} == {
        group: {things: n for (of, things), n in shown.items() if of == group} for group in GROUPS
    }
    for thing in THINGS:
        men, women = (
            sum(n for things, n in PICTURES[group].items() if thing in things) for group in GROUPS
        )
        assert max(men, women) >= 2 * min(men, women) > 0, thing


def test_second_figures_are_on_both_sides_of_the_limit(scenes: tuple[Scene, ...]) -> None:
    areas = [
        scene.figures[1][2] * scene.figures[1][3] for scene in scenes if len(scene.figures) > 1
    ]
    assert sorted(area > 55_000 for area in areas) == [False, True, True]


def test_outlines_are_what_was_drawn(scenes: tuple[Scene, ...]) -> None:
    for scene in (scenes[0], next(one for one in scenes if len(one.figures) > 1)):
        pixels, outlines = draw_scene(scene)
        width, height = scene.size_px
        assert pixels.shape == (height, width, 3)
        names = [name for name, _ in outlines]
        assert names == [*[scene.group] * len(scene.figures), *scene.things]
        shown = [mask(json.dumps(polygons), width, height) for _, polygons in outlines]
        assert (np.sum(shown, axis=0) <= 1).all()  # nothing hides anything
        for figure, box in zip(shown, scene.figures, strict=False):
            found = mask_box(figure)
            assert found is not None
            assert np.abs(np.subtract(found, box)).max() <= 1
        again, _ = draw_scene(scene)
        assert np.array_equal(again, pixels)


def test_what_is_written_is_what_ingest_reads(scenes: tuple[Scene, ...], tmp_path: Path) -> None:
    some = scenes[:12]
    write_figures(tmp_path, some, prefix="demo/")
    options = ReadOptions(
        class_category={name: name for name in GROUPS},
        captions=tmp_path / CAPTIONS,
    )
    found = read_annotations(tmp_path / INSTANCES, options)
    assert not found.skipped
    records = {record.id: record for record in found.records()}
    assert found.texts is not None
    texts = dict(zip(found.texts["image"], found.texts["captions"], strict=True))
    ids = found.images["id"].tolist()
    assert sorted(map(int, ids)) == list(range(12))
    for row, image_id in enumerate(ids):
        scene, record = some[int(image_id)], records[image_id]
        assert record.class_name == scene.group
        assert tuple(sorted(one.concept for one in record.mentions)) == scene.things
        assert tuple(texts.get(row) or ()) == scene.captions
        assert record.uri == "demo/" + scene.file_name
        with Image.open(tmp_path / scene.file_name) as picture:
            assert picture.size == scene.size_px == (record.width_px, record.height_px)


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    digests = []
    for number, seed in enumerate((1, 1, 2)):
        folder = tmp_path / str(number)
        write_figures(folder, make_scenes(seed)[:3], seed=seed)
        digest = hashlib.sha256()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            digest.update(path.name.encode() + path.read_bytes())
        digests.append(digest.hexdigest())
    assert digests[0] == digests[1] != digests[2]
