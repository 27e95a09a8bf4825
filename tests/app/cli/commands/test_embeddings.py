"""Embeddings from the command line: added from files, neighbours and near duplicates."""

import numpy as np
import pandas as pd
import pytest

from tests.app.cli.commands.conftest import table

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
    assert "no embeddings" in run("embeddings", "similar", loaded, "a", exit_code=2).stderr
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
