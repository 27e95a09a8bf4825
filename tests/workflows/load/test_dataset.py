"""The command line keeps regions and captions with their dataset."""

import json
import os

import pytest

from cobalance.ingest.captions.image_texts import read_image_texts
from cobalance.vision.images.region_rows import region_files
from cobalance.vision.images.regions import read_regions
from tests.app.cli.calling import call


@pytest.fixture
def home(settings, tmp_path):
    """A folder for regions; a local server is the tests' own all the same."""
    return tmp_path if settings.neo4j_uri is not None else settings.cobalance_home


@pytest.fixture
def run(home):
    def command(*arguments):
        done = call({**os.environ, "COBALANCE_HOME": str(home)}, *arguments)
        assert done.returncode == 0, done.stderr

    return command


def instances(tmp_path, name, images):
    path = tmp_path / name
    path.write_text(
        json.dumps(
            {
                "images": [{"id": image, "file_name": f"{image}.jpg"} for image in images],
                "categories": [{"id": 1, "name": "farm"}, {"id": 2, "name": "cow"}],
                "annotations": [
                    {"image_id": image, "category_id": category, "bbox": [image, 1, 2, 3]}
                    for image in images
                    for category in (1, 2)
                ],
            }
        )
    )
    return path


def captions(tmp_path, name, of):
    path = tmp_path / name
    images = [{"id": image} for image in of]
    told = [{"image_id": image, "caption": caption} for image, caption in of.items()]
    path.write_text(json.dumps({"images": images, "annotations": told}))
    return path


def test_captions_follow_their_dataset(run, home, store, dataset, tmp_path):
    folder, new = home / "captions", f"{dataset} renamed"

    def held(name):
        texts = read_image_texts(folder, name)
        return dict(zip(texts["id"], texts["captions"], strict=True))

    file = instances(tmp_path, "first.json", [1, 2])
    load = ("ingest", file, "-d", dataset, "--class-category=farm")
    run(*load)
    assert held(dataset) == {}
    run(*load, "--captions", captions(tmp_path, "a.json", {1: "one", 2: "two", 3: "three"}))
    assert held(dataset) == {"1": ["one"], "2": ["two"]}
    run(*load, "--captions", captions(tmp_path, "b.json", {2: "A second one"}))
    run(*load)
    assert held(dataset) == {"1": ["one"], "2": ["A second one"]}
    run("datasets", "rename", dataset, new)
    assert (held(dataset), held(new)) == ({}, {"1": ["one"], "2": ["A second one"]})
    run("datasets", "drop", "--yes", new)
    assert held(new) == {}
    run(*load)
    assert held(dataset) == {}


def test_regions_follow_their_dataset(run, home, store, dataset, tmp_path):
    folder, new = home / "regions", f"{dataset} renamed"

    def held(name):
        regions = read_regions(folder, name, ["1", "2", "3"])
        concepts = regions[regions["concept"] == "cow"]
        objects = regions[regions["concept"] == "farm"]  # the class has its regions, too
        assert objects["x_px"].tolist() == concepts["x_px"].tolist()
        return concepts["x_px"].tolist()

    first = instances(tmp_path, "first.json", [1, 2])
    second = instances(tmp_path, "second.json", [2, 3])
    classes = "--class-category=farm"
    run("ingest", first, "-d", dataset, classes)
    assert held(dataset) == [1, 2]
    run("ingest", second, "-d", dataset, classes)
    assert held(dataset) == [1, 2, 3]
    run("ingest", second, "-d", dataset, classes, "--if-exists=replace")
    assert held(dataset) == [2, 3]
    run("datasets", "rename", dataset, new)
    assert (held(dataset), held(new)) == ([], [2, 3])
    run("datasets", "drop", "--yes", new)
    assert held(new) == []
    assert not region_files(folder).path(new).exists()
