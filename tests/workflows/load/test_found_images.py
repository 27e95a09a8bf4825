"""Image files that are looked for after a load, also beside the annotations."""

import json
import os
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from cobalance.base.errors import DataError, MachineError, render
from cobalance.base.records import Annotations, ImageRecord
from cobalance.graph.dataset.write import write_annotations
from cobalance.ingest.load import read_annotations
from cobalance.ingest.options import ReadOptions
from cobalance.notebook.remedies import in_python
from cobalance.workflows.folders import place_files, read_dataset_places
from cobalance.workflows.images import image_reader
from cobalance.workflows.load.dataset import drop_dataset, rename_dataset
from cobalance.workflows.load.image_places import (
    FoundImages,
    add_place,
    added_places,
    find_images,
    remove_place,
)
from cobalance.workflows.settings import Settings


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in ("COBALANCE_IMAGES", "COBALANCE_OUTPUT", "COBALANCE_IMPORTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COBALANCE_HOME", str(tmp_path / "home"))
    return Settings.from_environment()


def pictures(folder: Path, *names: str, colour: str = "red") -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 3), colour).save(folder / name)
    return folder


def named(*uris: str | None) -> Annotations:
    return Annotations.from_records(
        [ImageRecord(f"{at}", "ab"[at % 2], (), uri=uri) for at, uri in enumerate(uris)]
    )


def own_places(own: Settings) -> tuple[str, ...]:
    return read_dataset_places(own.cobalance_home, "cars").own


def shown(own: Settings, dataset: str) -> object:
    """The colour of the picture that a dataset's image shows; None where there is none."""
    try:
        content = image_reader(own.folders(), dataset)("1.png", False)
    except DataError:
        return None
    return Image.open(BytesIO(content)).convert("RGB").getpixel((0, 0))


def told(found: FoundImages) -> str:
    return render(found.describe(), in_python)


@pytest.mark.parametrize("place", [".", "images"])
def test_the_folder_beside_the_annotations_is_kept(own, tmp_path, place):
    folder = pictures(tmp_path / "cars" / place, "1.png", "2.png").resolve()
    found = find_images(
        own.folders(), "cars", named("1.png", "2.png"), tmp_path / "cars" / "cars.csv"
    )
    assert told(found) == f"Images: 2 of 2 files found; {folder} is kept for later commands."
    assert Settings.from_environment().folders().image_roots("cars") == (str(folder),)
    again = find_images(own.folders(), "cars", named("1.png", "2.png"), tmp_path / "cars/new.csv")
    assert told(again) == "Images: 2 of 2 files found."
    assert own.folders().image_roots("trucks") == own.folders().image_roots() == ()


def test_what_is_not_found_is_told_with_where_it_was_looked_for(own, tmp_path):
    folder = pictures(tmp_path / "cars", "1.png", "images/4.png")
    own = own.model_copy(update={"cobalance_images": (str(tmp_path / "a"), str(tmp_path / "b"))})
    found = find_images(own.folders(), "cars", named("2.png", "3.png", None), folder / "cars.csv")
    assert sorted(found.missing) == ["2.png", "3.png"]
    places = f"{folder}/images, {folder}, {tmp_path}/a, {tmp_path}/b"
    assert told(found).partition("such as ")[2][5:] == (
        f"; looked in {places}. Set images to the folder, ZIP file or URL that has them. "
        "1 image without a file's name."
    )
    assert own_places(own) == ()
    partly = find_images(own.folders(), "cars", named("1.png", "2.png"), folder / "cars.csv")
    assert told(partly).startswith("Images: 1 of 2 files not found, such as 2.png; looked in ")
    assert f"; {folder} is kept for later commands. Set images to" in told(partly)


def test_annotations_without_files_say_so(own):
    assert told(find_images(own.folders(), "cars", named(None), None)).startswith(
        "Images: none names a file"
    )


def test_a_link_is_kept_as_what_it_leads_to(own, tmp_path):
    pictures(tmp_path / "real", "1.png")
    (tmp_path / "cars").mkdir()
    (tmp_path / "cars" / "images").symlink_to(tmp_path / "real")
    find_images(own.folders(), "cars", named("1.png"), tmp_path / "cars" / "cars.csv")
    assert own.folders().image_roots("cars") == (str(tmp_path / "real"),)


def test_no_place_is_kept_that_may_not_be_used(own, tmp_path):
    folder = pictures(tmp_path / "cars", "1.png")
    (tmp_path / "allowed").mkdir()
    (tmp_path / "allowed" / "images").symlink_to(folder)
    limited = own.model_copy(update={"cobalance_imports": (tmp_path / "allowed",)})
    for found in (
        find_images(limited.folders(), "cars", named("1.png"), folder / "cars.csv"),
        find_images(limited.folders(), "cars", named("1.png"), tmp_path / "allowed" / "cars.csv"),
        find_images(
            own.folders(),
            "cars",
            named("1.png"),
            folder / "cars.csv",
            within=[tmp_path / "allowed"],
        ),
        find_images(own.folders(), "cars", named("1.png"), folder / "cars.csv", within=[]),
    ):
        assert (found.missing, found.kept) == (("1.png",), None)
    assert own_places(own) == ()


def test_its_own_place_comes_first_and_another_datasets_is_never_looked_in(own, tmp_path):
    for name, colour in (("quay", "blue"), ("lane", "red")):
        pictures(tmp_path / name / "images", "1.png", "2.png", colour=colour)
        found = find_images(
            own.folders(), name, named("1.png", "2.png"), tmp_path / name / "a.json"
        )
        assert (found.missing, found.common) == ((), 0)
    (tmp_path / "nowhere").mkdir()
    found = find_images(own.folders(), "nowhere", named("1.png"), tmp_path / "nowhere" / "a.json")
    assert (found.missing, found.kept) == (("1.png",), None)
    assert shown(own, "quay") == (0, 0, 255)
    assert shown(own, "lane") == (255, 0, 0)
    assert shown(own, "nowhere") is None

    common = pictures(tmp_path / "common", "1.png", colour="lime")
    everywhere = own.model_copy(update={"cobalance_images": (str(common),)})
    assert shown(everywhere, "lane") == (255, 0, 0)
    assert shown(everywhere, "nowhere") == (0, 255, 0)
    found = find_images(everywhere.folders(), "nowhere", named("1.png"), None)
    assert told(found).endswith("1 of them are in places for all datasets alone.")

    add_place(own.folders(), "common", [tmp_path], "nowhere")
    assert shown(own, "nowhere") == (0, 255, 0)
    assert [place.path for place in added_places(own.folders(), "nowhere")] == [common]
    remove_place(own.folders(), common, "nowhere")
    assert shown(own, "nowhere") is None


def test_a_dataset_that_is_loaded_from_elsewhere_leaves_its_former_place(own, tmp_path):
    first = pictures(tmp_path / "first", "1.png", colour="blue")
    find_images(own.folders(), "cars", named("1.png"), first / "cars.csv")
    second = pictures(tmp_path / "second", "2.png", colour="red")
    find_images(own.folders(), "cars", named("2.png"), second / "cars.csv", append=True)
    assert own_places(own) == (str(first), str(second))
    (tmp_path / "third").mkdir()
    find_images(own.folders(), "cars", named("1.png"), tmp_path / "third" / "cars.csv")
    assert own_places(own) == ()
    assert shown(own, "cars") is None


def test_places_go_with_their_dataset(own, tmp_path, store, dataset):
    folder = pictures(tmp_path / "cars", "1.png")
    write_annotations(store, dataset, named("1.png"), source="cars.csv")
    find_images(own.folders(), dataset, named("1.png"), folder / "cars.csv")
    rename_dataset(store, own.folders(), dataset, f"{dataset} new")
    assert own.folders().image_roots(dataset) == ()
    assert own.folders().image_roots(f"{dataset} new") == (str(folder),)
    drop_dataset(store, own.folders(), f"{dataset} new")
    assert own.folders().image_roots(f"{dataset} new") == ()


def test_places_that_were_kept_for_all_are_carried_over(own, tmp_path):
    folder = pictures(tmp_path / "cars", "1.png", colour="blue")
    other = pictures(tmp_path / "lane", "1.png", colour="red")
    own.cobalance_home.mkdir()
    (own.cobalance_home / "image_folders.json").write_text(json.dumps([str(folder)]))
    assert shown(own, "cars") == shown(own, "lane") == (0, 0, 255)
    found = find_images(own.folders(), "lane", named("1.png"), other / "lane.csv")
    assert (found.kept, shown(own, "lane")) == (other, (255, 0, 0))
    assert shown(own, "cars") == (0, 0, 255)


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"own": 1}', b"\xff"])
def test_a_damaged_list_of_a_dataset_is_named(own, content):
    file = place_files(own.cobalance_home).path("cars")
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with pytest.raises(MachineError, match=r"\.json: it cannot be read"):
        own.folders().image_roots("cars")


def test_a_folder_whose_name_is_no_utf_8_is_kept(own, tmp_path):
    folder = pictures(tmp_path / os.fsdecode(b"caf\xe9"), "1.png")
    found = find_images(own.folders(), "cars", named("1.png"), folder / "cars.csv")
    assert (found.kept, own_places(own)) == (folder, (str(folder),))


def test_no_more_are_looked_for_than_time_allows(own, tmp_path):
    found = find_images(
        own.folders(), "cars", named(*(f"{at}.png" for at in range(100))), None, seconds=0
    )
    assert (found.named, found.looked_for, len(set(found.missing))) == (100, 1, 1)
    assert told(found).startswith("Images: 1 of 1 files looked for (100 in all) not found, such")
    assert "no place of image files is known" in told(found)


def test_a_folder_and_an_archive_have_their_own_images(own, tmp_path):
    folder = pictures(tmp_path / "pets", "train/cat/1.png", "train/dog/2.png", "val/cat/3.png")
    found = find_images(own.folders(), "cars", read_annotations(folder), folder)
    assert (found.looked_for, found.missing, found.kept) == (3, (), folder)
    yolo = pictures(tmp_path / "yolo", "images/train/1.png")
    (yolo / "labels" / "train").mkdir(parents=True)
    (yolo / "labels" / "train" / "1.txt").write_text("0 0.5 0.5 0.2 0.2\n")
    (yolo / "data.yaml").write_text("train: images/train\nnames: [cow]\n")
    options = ReadOptions(class_category={"cow": "cow"})
    found = find_images(own.folders(), "cars", read_annotations(yolo, options), yolo)
    assert (found.looked_for, found.missing, found.kept) == (1, (), yolo)
    archive = tmp_path / "zipped.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for name, place in (("bird", "4.png"), ("fish", "5.png")):
            packed.write(folder / "val/cat/3.png", f"{name}/{place}")
    found = find_images(own.folders(), "cars", read_annotations(archive), archive)
    assert (found.looked_for, found.missing, found.kept) == (2, (), archive)


def test_without_what_reads_urls_and_archives_folders_are_looked_in(own, tmp_path, monkeypatch):
    folder = pictures(tmp_path / "cars", "1.png")
    own = own.model_copy(update={"cobalance_images": ("s3://bucket", str(folder))})
    monkeypatch.setitem(sys.modules, "dbos", None)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.write(folder / "1.png", "2.png")
    found = find_images(own.folders(), "cars", named("1.png", "2.png"), tmp_path / "packed.zip")
    assert (found.missing, found.places) == (("2.png",), (str(tmp_path), str(folder)))
