"""Folders of images that are added in the web app: where they may be, and who knows of them."""

import os
import threading
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from cobalance.base.errors import DataError, MachineError, OptionError
from cobalance.base.records import Annotations, ImageRecord
from cobalance.generation.image_request import GenerationError
from cobalance.generation.jobs.settings import JobSettings
from cobalance.graph.dataset.write import write_annotations
from cobalance.workflows.folders import read_added
from cobalance.workflows.images import image_reader
from cobalance.workflows.load.image_places import (
    add_place,
    added_places,
    offered_places,
    places_with,
    remove_place,
)
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import worker_resources


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The one folder that is allowed, with images in it and beside it."""
    for folder in ("allowed/cars/train", "allowed/.hidden", "outside"):
        (tmp_path / folder).mkdir(parents=True)
        Image.new("RGB", (4, 3), "red").save(tmp_path / folder / "1.png")
    with zipfile.ZipFile(tmp_path / "allowed" / "packed.zip", "w") as archive:
        archive.write(tmp_path / "outside" / "1.png", "zipped/1.png")
    (tmp_path / "allowed" / "fake.zip").write_bytes(b"no archive")
    (tmp_path / "allowed" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "allowed" / "in").symlink_to(tmp_path / "allowed" / "cars")
    return tmp_path / "allowed"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("COBALANCE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("COBALANCE_IMAGES", raising=False)
    monkeypatch.delenv("COBALANCE_OUTPUT", raising=False)
    return Settings.from_environment()


def test_what_is_added_is_used_everywhere_and_until_it_is_removed(own, root) -> None:
    with pytest.raises(DataError):
        image_reader(own.folders(), "cars")("train/1.png", False)
    place = add_place(own.folders(), "cars", [root])
    add_place(own.folders(), str(place), [root])  # again: nothing changes
    assert place == root / "cars"
    assert Settings.from_environment().folders().image_roots() == (str(place),)
    assert image_reader(own.folders(), "cars")("train/1.png", False).startswith(b"\x89PNG")
    remove_place(own.folders(), place)
    assert own.folders().image_roots() == ()
    assert place.is_dir()


def test_a_worker_that_runs_finds_what_is_added(own, root, store, dataset) -> None:
    records = [ImageRecord("1", "car", uri="train/1.png")]
    write_annotations(store, dataset, Annotations.from_records(records), source="a test")
    open_sources = worker_resources(own).open_sources
    assert open_sources is not None
    sources = open_sources(store, dataset, JobSettings())
    assert sources is not None
    with pytest.raises(GenerationError):
        sources.read_image("train/1.png")
    add_place(own.folders(), "cars", [root])
    assert sources.read_image("train/1.png").startswith(b"\x89PNG")


def test_a_zip_file_is_a_place(own, root) -> None:
    assert add_place(own.folders(), "packed.zip", [root]) == root / "packed.zip"
    assert image_reader(own.folders(), "cars")("zipped/1.png", False).startswith(b"\x89PNG")


def test_links_are_followed_and_must_not_lead_out(own, root) -> None:
    assert add_place(own.folders(), "in", [root]) == root / "cars"
    for path in ("out", "../outside", "cars/../../outside", "/", "/etc", "~", "cars\0", "x" * 5000):
        with pytest.raises(OptionError):
            add_place(own.folders(), path, [root])
    assert [added.path for added in added_places(own.folders())] == [root / "cars"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "There is no name"),
        ("missing", "is not there"),
        ("fake.zip", "neither a folder nor a ZIP file"),
        ("cars/train/1.png", "neither a folder nor a ZIP file"),
        ("../outside", "COBALANCE_IMPORTS"),
    ],
)
def test_why_not(own, root, path, reason) -> None:
    with pytest.raises(OptionError, match=reason):
        add_place(own.folders(), path, [root])
    assert added_places(own.folders()) == []


def test_nothing_is_allowed_where_nothing_is_named(own) -> None:
    with pytest.raises(OptionError, match="COBALANCE_IMPORTS"):
        add_place(own.folders(), "/tmp", [])


def test_a_path_is_looked_for_in_all_that_is_allowed(own, root, tmp_path) -> None:
    other = tmp_path / "outside"
    assert add_place(own.folders(), "cars", [other, root]) == root / "cars"
    assert add_place(own.folders(), str(other), [root, other]) == other


def test_what_is_allowed_no_longer_is_not_used(own, root, monkeypatch, tmp_path) -> None:
    add_place(own.folders(), "cars", [root])
    monkeypatch.setenv("COBALANCE_IMPORTS", str(tmp_path / "outside"))
    narrowed = Settings.from_environment()
    assert narrowed.folders().image_roots() == ()
    assert [(added.path, added.used) for added in added_places(narrowed.folders())] == [
        (root / "cars", False)
    ]
    monkeypatch.setenv("COBALANCE_IMPORTS", str(root))
    assert Settings.from_environment().folders().image_roots() == (str(root / "cars"),)


def test_a_folder_that_a_link_has_replaced_is_not_used(own, root, tmp_path) -> None:
    add_place(own.folders(), "cars", [root])
    (root / "cars").rename(root / "moved")
    (root / "cars").symlink_to(tmp_path / "outside")
    assert own.folders().image_roots() == ()
    assert not added_places(own.folders())[0].used


@pytest.mark.parametrize("content", [b"{", b'{"a": 1}', b"[1]", b"\xff"])
def test_a_damaged_list_is_named(own, content) -> None:
    own.cobalance_home.mkdir()
    file = own.cobalance_home / "image_folders.json"
    file.write_bytes(content)
    with pytest.raises(MachineError, match=r"image_folders\.json: it cannot be read"):
        own.folders().image_roots()


def test_nothing_is_lost_where_many_add(own, root) -> None:
    names = [f"set {number}" for number in range(12)]
    for name in names:
        (root / name).mkdir()
    start = threading.Barrier(len(names))

    def add(name: str) -> None:
        start.wait()
        add_place(own.folders(), name, [root])

    threads = [threading.Thread(target=add, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {path.name for path in read_added(own.cobalance_home)} == set(names)
    mode = os.stat(own.cobalance_home / "image_folders.json").st_mode
    assert mode & 0o077 == 0


def test_folders_with_images_are_offered(root) -> None:
    assert offered_places([root]) == [
        root / "fake.zip",
        root / "packed.zip",
        root / "cars" / "train",
    ]
    assert offered_places([]) == []


@pytest.mark.parametrize(
    ("uris", "found"),
    [
        (["1.png"], "cars/train"),
        (["train/1.png", "train/2.png"], "cars"),
        (["cars/train/1.png"], "."),
        (["zipped/1.png"], "packed.zip"),
    ],
)
def test_the_place_that_has_the_files(root, uris, found) -> None:
    assert places_with(uris, [root]) == [root / found]


def test_no_place_has_them(root) -> None:
    assert places_with(["2.png", "../outside/1.png", "/etc/passwd"], [root]) == []
