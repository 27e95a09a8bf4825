"""Promises of every export format, whatever is in the dataset."""

import hashlib
import json
import re
import subprocess
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from cobalance.base.errors import OptionError, UnknownNameError
from cobalance.generation.export import ExportError, ExportOptions, export
from tests.generation.export.conftest import REFERRING, WITH_IMAGES, contents, only
from tests.support.manifests import read_manifest


def test_an_unknown_format_lists_the_known_ones(sample, tmp_path):
    with pytest.raises(UnknownNameError, match="coco, folder, imagefolder, webdataset, weights"):
        export(sample.dataset, "zip", tmp_path / "out")


def test_the_same_dataset_gives_the_same_bytes(any_format, sample, tmp_path):
    export(sample.dataset, any_format, tmp_path / "one")
    shuffled = replace(
        sample.dataset,
        real=sample.dataset.real.sample(frac=1, random_state=1),
        generated=sample.dataset.generated.sample(frac=1, random_state=2),
    )
    export(shuffled, any_format, tmp_path / "other" / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "other" / "two")


def test_the_files_say_nothing_of_this_machine(any_format, sample, tmp_path):
    export(sample.dataset, any_format, tmp_path / "out")
    for name, data in contents(tmp_path / "out").items():
        assert str(tmp_path).encode() not in data, name


def test_names_are_safe_and_digests_right(any_format, sample, tmp_path):
    report = export(sample.dataset, any_format, tmp_path / "out")
    found = contents(tmp_path / "out")
    for name in found:
        assert re.fullmatch(r"[A-Za-z0-9_./-]+", name)
        assert max(map(len, name.split("/"))) < 100
    assert len({name.lower() for name in found}) == len(found)
    listed = dict(
        reversed(line.split("  ")) for line in found.pop("SHA256SUMS").decode().splitlines()
    )
    assert listed == {name: hashlib.sha256(data).hexdigest() for name, data in found.items()}
    every = contents(tmp_path / "out")
    assert report.files == len(every)
    assert report.bytes == sum(map(len, every.values()))
    subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path / "out", check=True)


def test_counts_add_up(image_format, sample, tmp_path):
    for uri in ("3.png", "4.png"):
        del sample.stores.real[uri]
    stages = []
    report = export(
        sample.dataset,
        image_format,
        tmp_path / "out",
        ExportOptions(skip_missing=True),
        lambda *stage: stages.append(stage),
    )
    assert report.counts["real images"] == 8
    assert report.counts["real images left out"] == 2
    assert report.counts["generated images"] == 5
    assert stages[0] == ("export", 0, 15)
    assert stages[-1] == ("export", 15, 15)
    table = pq.read_table(tmp_path / "out" / "manifest.parquet").to_pandas()
    assert len(table) == 13
    assert table["synthetic"].sum() == 5
    marker = json.loads((tmp_path / "out" / "cobalance-export.json").read_text())
    assert marker["counts"] == report.counts
    assert marker["format"] == image_format


def test_generated_images_alone(image_format, sample, tmp_path):
    report = export(sample.alone(), image_format, tmp_path / "out")
    assert (report.counts["real images"], report.counts["generated images"]) == (0, 5)
    assert sample.stores.reads == 0


def test_files_are_those_that_were_read(image_format, sample, tmp_path):
    export(sample.dataset, image_format, tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "manifest.parquet").to_pandas()
    expected = {hashlib.sha256(data).hexdigest() for data in sample.stores.real.values()}
    expected |= set(sample.dataset.generated["sha256"])
    assert set(table["sha256"]) == expected
    assert table[["width", "height"]].drop_duplicates().to_numpy().tolist() == [[16, 12]]
    if image_format != "webdataset":
        for row in table.itertuples():
            data = (tmp_path / "out" / row.file).read_bytes()
            assert hashlib.sha256(data).hexdigest() == row.sha256


def test_generated_images_keep_their_provenance(image_format, sample, tmp_path):
    export(sample.dataset, image_format, tmp_path / "out")
    kept = read_manifest(tmp_path / "out" / "generated.parquet")
    moved = ["path", "mask_path"]
    given = sample.dataset.generated
    assert kept.drop(columns=moved).equals(given.drop(columns=moved))
    assert not set(kept["path"]) & set(given["path"])


def test_generated_images_are_of_the_split_of_their_source(sample, tmp_path):
    export(sample.dataset, "folder", tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "manifest.parquet").to_pandas()
    made = table[table["synthetic"]].sort_values("image_id")
    assert made["split"].tolist() == ["train", "train", "a/b: c", "train", "train"]


def test_so_they_are_where_the_source_is_not_exported(image_format, sample, tmp_path):
    real = sample.dataset.real
    alone = replace(sample.alone(), splits=dict(zip(real["id"], real["split"], strict=True)))
    export(alone, image_format, tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "manifest.parquet").to_pandas()
    made = table.sort_values("image_id")
    assert made["synthetic"].all()
    assert made["split"].tolist() == ["train", "train", "a/b: c", "train", "train"]


@pytest.mark.parametrize(
    ("split", "wanted", "expected"),
    [("val", None, "train"), ("val", "extra", "extra"), (None, None, None)],
)
def test_generated_images_without_a_source_go_to_training(
    sample, tmp_path, split, wanted, expected
):
    real = sample.dataset.real.assign(split=split)
    made = sample.dataset.generated.assign(source_image=None)
    dataset = replace(sample.dataset, real=real, generated=made)
    export(dataset, "folder", tmp_path / "out", ExportOptions(split=wanted))
    rows = pq.read_table(tmp_path / "out" / "manifest.parquet").to_pylist()
    assert {row["split"] for row in rows if row["synthetic"]} == {expected}


@pytest.mark.parametrize("name", REFERRING)
def test_references_leave_real_images_where_they_are(name, sample, tmp_path):
    report = export(sample.dataset, name, tmp_path / "out", ExportOptions(reference=True))
    assert sample.stores.reads == 0
    assert report.counts["real images"] == 10
    table = pq.read_table(tmp_path / "out" / "manifest.parquet").to_pandas()
    real = table[~table["synthetic"]]
    assert real["uri"].tolist() == real["original_uri"].tolist()
    assert real["file"].isna().all()
    assert len(list((tmp_path / "out" / "images").iterdir())) == 5


@pytest.mark.parametrize("name", sorted(set(WITH_IMAGES) - set(REFERRING)))
def test_formats_that_hold_images_refuse_references(name, sample, tmp_path):
    with pytest.raises(OptionError, match=f"The format {name} holds the images"):
        export(sample.dataset, name, tmp_path / "out", ExportOptions(reference=True))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("fault", ["missing", "no image", "no address"])
def test_a_missing_real_image_is_an_error_that_names_it(image_format, fault, sample, tmp_path):
    dataset = sample.dataset
    if fault == "missing":
        del sample.stores.real["5.png"]
    elif fault == "no image":
        sample.stores.real["5.png"] = b"<html>404</html>"
    else:
        uris = dataset.real["uri"].where(dataset.real["uri"] != "5.png", None)
        dataset = replace(dataset, real=dataset.real.assign(uri=uris))
    with pytest.raises(ExportError, match=r"'long .*skip_missing") as caught:
        export(dataset, image_format, tmp_path / "out")
    assert ("5.png" in str(caught.value)) == (fault != "no address")
    assert ("reference" in str(caught.value)) == (image_format in REFERRING)
    assert only(tmp_path) == []
    report = export(dataset, image_format, tmp_path / "out", ExportOptions(skip_missing=True))
    assert report.counts["real images left out"] == 1


def test_an_export_without_any_image_left_is_none(image_format, sample, tmp_path):
    sample.stores.real.clear()
    dataset = replace(sample.dataset, generated=sample.dataset.generated.iloc[:0])
    with pytest.raises(ExportError, match="None of the images can be read"):
        export(dataset, image_format, tmp_path / "out", ExportOptions(skip_missing=True))
    assert only(tmp_path) == []


@pytest.mark.parametrize("change", ["missing", "other"])
def test_a_generated_image_that_is_not_its_own_is_an_error(image_format, change, sample, tmp_path):
    path = sample.dataset.generated["path"][1]
    if change == "missing":
        del sample.stores.generated[path]
    else:
        sample.stores.generated[path] = sample.stores.generated["5f1c/images/2.png"]
    with pytest.raises(ExportError, match=r"'5f1c/000002/000001'.*Put the file back.*skip_miss"):
        export(sample.dataset, image_format, tmp_path / "out")
    assert only(tmp_path) == []
    report = export(
        sample.dataset, image_format, tmp_path / "out", ExportOptions(skip_missing=True)
    )
    assert report.counts["generated images left out"] == 1
    assert report.counts["generated images"] == 4
    assert report.counts["real images"] == 10
    table = pq.read_table(tmp_path / "out" / "manifest.parquet").to_pandas()
    kept = read_manifest(tmp_path / "out" / "generated.parquet")
    assert set(kept["candidate"]) == set(table["image_id"][table["synthetic"]])
    assert "5f1c/000002/000001" not in set(kept["candidate"])
    assert "- 1 generated image left out" in (tmp_path / "out" / "README.md").read_text()


def test_masks_that_cannot_be_read_are_counted(image_format, sample, tmp_path):
    sample.stores.generated["5f1c/masks/0.png"] = b"no image"
    del sample.stores.generated["5f1c/masks/1.png"]
    report = export(sample.dataset, image_format, tmp_path / "out")
    assert report.counts["masks that cannot be read"] == 2
    assert report.counts["generated images"] == 5


def test_options_are_checked():
    with pytest.raises(OptionError, match="split is empty"):
        ExportOptions(split=" ")


def test_options_of_formats_are_checked(sample, tmp_path):
    for wrong, message in (
        ({"shard_bytes": 0}, "shard_bytes is 0"),
        ({"shard_images": "many"}, "shard_images is 'many'"),
        ({"shards": 2}, "The export format webdataset has no option 'shards'"),
    ):
        options = ExportOptions(format_options=wrong)
        with pytest.raises(OptionError, match=message):
            export(sample.dataset, "webdataset", tmp_path / "out", options)
    assert only(tmp_path) == []
