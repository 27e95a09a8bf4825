"""Uploads are on disk while they are in use, and their pictures with the dataset until it goes."""

import gc
from pathlib import Path
from types import SimpleNamespace

import pytest

from cobalance.base import silent
from cobalance.ingest.options import ReadOptions
from cobalance.workflows.folders import picture_files
from cobalance.workflows.load.check import ImportRequest, check_import
from cobalance.workflows.load.dataset import drop_dataset, load_dataset, rename_dataset
from cobalance.workflows.load.sources import Uploads
from tests.ingest.dataset_files import archive, pixels

ROWS = "file_name,class,concepts\n1.jpg,cat,sofa\n2.jpg,dog,sofa\n"
PIXELS = pixels()


def uploads(**files: bytes) -> Uploads:
    """Files by their names, whose endings follow an underscore."""
    return Uploads(
        [
            SimpleNamespace(
                name=name.replace("_", "."), file_id=name, getbuffer=lambda c=content: memoryview(c)
            )
            for name, content in files.items()
        ]
    )


def test_files_go_with_the_last_that_uses_them(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = uploads(cars_csv=ROWS.encode(), pets_zip=archive({"1.jpg": PIXELS}))
    assert [(file.name, file.format) for file in source.files()] == [
        ("cars.csv", "csv"),
        ("pets.zip", None),
    ]
    del source
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def folders(settings, tmp_path):
    return settings.model_copy(update={"cobalance_home": tmp_path}).folders()


def test_pictures_stay_with_their_dataset(store, dataset, folders) -> None:
    def load(source: Uploads, if_exists: str = "fail") -> None:
        request = ImportRequest("cars.csv", dataset, ReadOptions(), if_exists=if_exists)
        checked = check_import(source, request, store, silent)
        load_dataset(
            store,
            folders,
            dataset,
            checked.annotations,
            source="cars.csv",
            if_exists=if_exists,
            pictures=checked.pictures,
        )

    def kept(name: str) -> list[str]:
        places = (Path(root) for root in folders.image_roots(name) if root.endswith(".pictures"))
        return sorted(path.name for place in places for path in place.rglob("*.jpg"))

    both = {"cars_csv": ROWS.encode(), "a_zip": archive({"1.jpg": PIXELS, "2.jpg": PIXELS})}
    source = uploads(**both)
    checked = check_import(source, ImportRequest("cars.csv", dataset, ReadOptions()), store, silent)
    assert checked.pictures.size_bytes == 2 * len(PIXELS)
    assert sorted(path.name for path in source.thumbnails.iterdir()) == ["1.jpg", "2.jpg"]

    load(source)
    assert kept(dataset) == ["1.jpg", "2.jpg"]
    # Annotations alone leave the pictures, and further pictures come beside or in their place.
    load(uploads(cars_csv=ROWS.encode()))
    assert kept(dataset) == ["1.jpg", "2.jpg"]
    more = ROWS.replace("1.jpg", "3.jpg").encode()
    load(uploads(cars_csv=more, a_zip=archive({"3.jpg": PIXELS})), "append")
    assert kept(dataset) == ["1.jpg", "2.jpg", "3.jpg"]
    load(uploads(cars_csv=more, a_zip=archive({"3.jpg": PIXELS})), "replace")
    assert kept(dataset) == ["3.jpg"]

    new = f"{dataset} renamed"
    rename_dataset(store, folders, dataset, new)
    assert (kept(dataset), kept(new)) == ([], ["3.jpg"])
    # A rebalanced copy has them as long as it likes.
    picture_files(folders.home).copy(new, "copy")
    drop_dataset(store, folders, new)
    assert (kept(new), kept("copy")) == ([], ["3.jpg"])
    picture_files(folders.home).drop("copy")
    assert [path.name for path in (folders.home / "uploads").iterdir()] == [".lock"]
