"""Parquet files whose images stay there, from the command line."""

import json
from collections import Counter
from itertools import combinations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cobalance.graph.dataset.drop_rename import drop_dataset
from tests.app.cli.conftest import table

IMAGES = [
    *[("farm", ["cow", "field"])] * 40,
    *[("farm", ["cow"])] * 3,
    *[("town", ["field", "sign"])] * 7,
    *[("town", ["cow", "sign"])] * 5,
    *[("town", [])] * 2,
]


@pytest.fixture
def folder(dataset, store, tmp_path):
    """A folder of the dataset's name, with its images in three files."""
    path = tmp_path / dataset
    path.mkdir()
    for number in range(3):
        labels, concepts = zip(*IMAGES[number::3], strict=True)
        pq.write_table(
            pa.table({"label": labels, "concepts": concepts}), path / f"{number}.parquet"
        )
    yield path
    drop_dataset(store, dataset)


def expected():
    """Images of farm and of town with each combination."""
    counts = Counter(
        (names, label)
        for label, concepts in IMAGES
        for size in (1, 2)
        for names in combinations(sorted(concepts), size)
    )
    return {names: (counts[names, "farm"], counts[names, "town"]) for names, _ in counts}


def counted(run, dataset):
    listed = table(run("imbalances", dataset, "--limit", 100, "-f", "csv")).to_dict("records")
    return {
        tuple(json.loads(row["concepts"])): (row["count_farm"], row["count_town"]) for row in listed
    }


def test_files_are_loaded_and_mined_by_one_command(run, folder, dataset):
    printed = run("mine", folder, "--out-of-core", "--max-size", 2, "--any-class").stderr
    assert "Counted 57 images." in printed
    assert counted(run, dataset) == expected()

    # Again: nothing changes, and the options are those of the last time.
    again = run("mine", folder, "--out-of-core").stderr
    assert "0 new, 0 changed, 0 deleted" in again


def test_what_was_loaded_out_of_core_is_mined_there(run, folder, dataset):
    run("ingest", folder, "-d", dataset, "--keep-images", "sample", "--engine", "out-of-core")
    run("mine", dataset, "--max-size", 2, "--any-class")
    assert counted(run, dataset) == expected()

    labels, concepts = zip(*IMAGES[:5], strict=True)
    pq.write_table(pa.table({"label": labels, "concepts": concepts}), folder / "3.parquet")
    refused = run("mine", dataset, exit_code=1).stderr
    assert "have changed since they were loaded" in refused
