"""Embeddings from the command line: added from files, neighbours and near duplicates."""

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from cobalance.graph.tasks.lifecycle import read_task
from tests.app.cli.conftest import table

IDS = ["a", "b", "c", "d", "e"]
VECTORS = [[1, 0, 0], [0.999, 0.01, 0], [0, 2, 0], [0, 2, 0.001], [1, 1, 0]]


@pytest.fixture
def loaded(run, dataset, tmp_path):
    rows = ["id,class,concepts", "a,cat,x", "b,dog,x", "c,cat,x", "d,cat,x", "e,dog,x"]
    (tmp_path / "pets.csv").write_text("\n".join([*rows, ""]))
    run("ingest", tmp_path / "pets.csv", "--dataset", dataset)
    return dataset


def test_similar_images_and_near_duplicates(run, loaded, tmp_path):
    file = tmp_path / "pets.parquet"
    frame = pd.DataFrame({"id": [*IDS, "z"], "clip": [*VECTORS, [0, 0, 1]]})
    assert "no embeddings" in run("embeddings", "similar", loaded, "a", exit_code=1).stderr
    frame.to_parquet(file)
    said = run("embeddings", "add", loaded, file).stderr
    assert f"6 vectors kept; 5 images of {loaded} have one." in said
    found = table(run("embeddings", "similar", loaded, "a", "-n", 3, "-f", "csv"))
    assert found["id"].tolist() == ["b", "e", "c"]
    assert found["similarity"].tolist() == pytest.approx([0.99995, 0.70711, 0], abs=1e-5)
    done = run("embeddings", "duplicates", loaded, "-f", "csv")
    assert "2 groups, 1 of them in several classes." in done.stderr
    assert table(done).to_numpy().tolist() == [
        [1, "a", "cat", "cat + dog"],
        [1, "b", "dog", "cat + dog"],
        [2, "c", "cat", "cat"],
        [2, "d", "cat", "cat"],
    ]
    assert (
        "unknown embedded image 'z'"
        in run("embeddings", "similar", loaded, "z", exit_code=2).stderr
    )
    run("tags", "add", loaded, "copy", "b", "--role", "exclude")
    run("tags", "apply", loaded)
    assert "1 group, 0 of them" in run("embeddings", "duplicates", loaded).stderr
    new = f"{loaded} renamed"
    run("datasets", "rename", loaded, new)
    assert len(table(run("embeddings", "similar", new, "a", "-f", "csv"))) == 3


def test_files_that_cannot_be_used_say_why(run, loaded, tmp_path):
    array, ids, file = tmp_path / "v.npy", tmp_path / "ids.txt", tmp_path / "v.parquet"
    np.save(array, np.array(VECTORS))
    assert "which image" in run("embeddings", "add", loaded, array, exit_code=1).stderr
    ids.write_text("a\nb\n")
    add = ("embeddings", "add", loaded)
    assert "2 ids" in run(*add, array, "--ids", ids, exit_code=1).stderr
    ids.write_text("a\nb\nc\nd\na\n")
    assert "'a' is there twice" in run(*add, array, "--ids", ids, exit_code=1).stderr
    ids.write_text("\n".join(IDS))
    assert "5 images" in run(*add, array, "--ids", ids).stderr
    for column, message in (
        ([[1.0], [1.0, 2.0]], "not all of one length"),
        ([[1.0], None], "not all of one length"),
        ([[1.0], [np.nan]], "row 1"),
        (["a", "b"], "of lists: none"),
    ):
        pd.DataFrame({"id": ["a", "b"], "v": column}).to_parquet(file)
        assert message in run(*add, file, exit_code=1).stderr
    pd.DataFrame({"id": ["x", "y"], "v": [[1.0], [2.0]]}).to_parquet(file)
    assert "none of its 2 ids" in run(*add, file, exit_code=2).stderr
    file.write_bytes(b"not parquet")
    assert "cannot be read" in run(*add, file, exit_code=1).stderr
    assert len(table(run("embeddings", "similar", loaded, "a", "-f", "csv"))) == 4


def test_arrays_with_their_ids_and_csv_are_read_as_parquet_is(run, loaded, tmp_path):
    arrays, text = tmp_path / "v.npz", tmp_path / "v.CSV"
    add = ("embeddings", "add", loaded)
    rows = [f"{id_},{x},{y},{z}" for id_, (x, y, z) in zip(IDS, VECTORS, strict=True)]
    text.write_text("\n".join(["name,0,1,2", *rows, ""]))
    np.savez_compressed(arrays, id=np.array(IDS), clip=np.array(VECTORS))
    for given in ((arrays,), (text, "--id-column", "name")):
        assert f"5 images of {loaded} have one." in run(*add, *given).stderr
        found = table(run("embeddings", "similar", loaded, "a", "-n", 3, "-f", "csv"))
        assert found["id"].tolist() == ["b", "e", "c"]
        assert found["similarity"].tolist() == pytest.approx([0.99995, 0.70711, 0], abs=1e-5)


def test_arrays_and_csv_that_cannot_be_used_say_why(run, loaded, tmp_path):
    add, arrays, text = ("embeddings", "add", loaded), tmp_path / "v.npz", tmp_path / "v.csv"
    for held, message in (
        ({"ids": IDS, "v": VECTORS}, "its arrays are ids (5,)"),
        ({"id": IDS, "v": VECTORS, "w": VECTORS}, "of rows: v, w"),
        ({"id": IDS[:2], "v": VECTORS}, "there are 2 ids"),
        ({"id": np.array(IDS, dtype=object), "v": VECTORS}, "allow_pickle=False"),
        ({"id": np.array(IDS, dtype="S"), "v": VECTORS}, "text or whole numbers"),
        ({}, "its arrays are none"),
    ):
        np.savez(arrays, **held)
        assert message in run(*add, arrays, exit_code=1).stderr
    np.savez_compressed(arrays, id=np.array(IDS), v=np.array(VECTORS))
    whole = arrays.read_bytes()
    broken = bytearray(whole)
    broken[60:90] = b"\xff" * 30
    for content in (b"", whole[:100], bytes(broken), b"id,v"):
        arrays.write_bytes(content)
        assert "cannot be read" in run(*add, arrays, exit_code=1).stderr
    for content, message in (
        ("name,v\na,1\n", "of ids: id"),
        ("id,v,w\na,1,cat\n", "not of numbers: w"),
        ("id,v\na,1\nb,\n", "row 1: a value is not a finite number"),
        ("id,v\na,1\na,2\n", "'a' is there twice"),
        ("id,v\na\n", "cannot be read"),
        ("id\na\n", "it has no vectors"),
        ("", "cannot be read"),
    ):
        text.write_text(content)
        assert message in run(*add, text, exit_code=1).stderr


def test_vectors_of_pixels_are_ordered_and_computed(run, environment, store, dataset, tmp_path):
    rows = ["id,class,concepts,path"]
    for at, name in enumerate("abcd"):
        pixels = np.random.default_rng(at % 3).integers(0, 255, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")
        rows.append(f"{name},{'cat' if at < 2 else 'dog'},sofa,{name}.png")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "pets.csv").write_text("\n".join([*rows, ""]))
    run("ingest", tmp_path / "elsewhere" / "pets.csv", "--dataset", dataset)
    compute = ("embeddings", "compute", dataset, "--features", "pixels", "--here")
    assert "4 images could not be read, such as a: " in run(*compute, exit_code=1).stderr
    environment["COBALANCE_IMAGES"] = str(tmp_path)
    done = run("embeddings", "compute", dataset, "--features", "pixels")
    assert "cobalance work --until-idle" in done.stderr
    assert read_task(store, done.stdout.strip()).state == "queued"
    run("jobs", "cancel", done.stdout.strip())
    run(*compute, "--set", "components=2")
    found = table(run("embeddings", "duplicates", dataset, "-f", "csv"))
    assert found["id"].tolist() == ["a", "d"]
    assert (
        "unknown features 'eyes'"
        in run("embeddings", "compute", dataset, "--features", "eyes", exit_code=2).stderr
    )
    said = run("properties", dataset, exit_code=1).stderr
    assert "have not been measured. Have a worker measure them" in said
    measured = run("properties", dataset, "--here", "--as-concept", "brightness", "-f", "json")
    assert "cobalance mine" in measured.stderr
    (row,) = json.loads(measured.stdout.partition("\n")[2])  # two of a class are not ranked
    assert (row["property"].rpartition(" ")[0], row["q_value"]) == ("dominant hue", 1)
    listed = table(run("properties", dataset, "--extremes", "brightness", "-f", "csv"))
    assert sorted(listed["id"]) == ["a", "b", "c", "d"]
    assert listed.columns.tolist() == ["class", "extreme", "id", "brightness"]
    shown = run("cypher", "concepts", "-d", dataset).stdout
    assert "image: brightness below" in shown


def test_clusters_and_near_duplicates_in_several_splits_are_listed(run, dataset, tmp_path):
    rows = ["id,class,concepts,split,video", "a,cat,x,train,v", "b,dog,x,val,w", "c,cat,x,val,v"]
    rows += ["d,cat,x,train,", "e,dog,x,,w"]
    (tmp_path / "pets.csv").write_text("\n".join([*rows, ""]))
    run("ingest", tmp_path / "pets.csv", "--dataset", dataset, "--cluster-column", "video")
    found = run("datasets", "check", dataset, "-f", "csv")
    assert "cluster in several splits: 1" in found.stderr
    cluster = [
        ["cluster", "v", "train, val", "train", "a"],
        ["cluster", "v", "train, val", "val", "c"],
    ]
    assert table(found).to_numpy().tolist() == cluster
    np.save(tmp_path / "v.npy", np.array(VECTORS))
    (tmp_path / "ids.txt").write_text("\n".join(IDS))
    run("embeddings", "add", dataset, tmp_path / "v.npy", "--ids", tmp_path / "ids.txt")
    found = table(run("datasets", "check", dataset, "-f", "csv"))
    near = found[found["what"] == "near duplicates"]
    assert sorted(near["id"]) == ["a", "b", "c", "d"]
    assert near["group"].astype(int).nunique() == 2
    run("datasets", "check", dataset, "--similarity", 0.9999999)
