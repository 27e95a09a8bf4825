"""A dataset with a plan, for commands that order images."""

import io

import pandas as pd
import pytest

from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import find_dataset

ROWS = "id,class,concepts\n" + "".join(
    f"{i},{name},{concepts}\n"
    for i, (name, concepts) in enumerate(
        [("country", "cow|road")] * 6 + [("country", "sign")] + [("urban", "road|sign")] * 5
        + [("urban", "cow")] * 2
    )
)  # fmt: skip

ORDER = ("enqueue", "--without-images")
SMALL = ("--set", "making.width_px=32", "--set", "making.height_px=32")


@pytest.fixture
def planned(run, store, dataset, tmp_path):
    (tmp_path / "cars.csv").write_text(ROWS)
    run("ingest", tmp_path / "cars.csv", "--dataset", dataset)
    run("mine", dataset, "--max-size", 2)
    run("plan", dataset, "--max-size", 2, "--min-size", 1)
    yield dataset
    if find_dataset(store, f"{dataset}-rebalanced") is not None:
        drop_dataset(store, f"{dataset}-rebalanced")


def table(done):
    return pd.read_csv(io.StringIO(done.stdout))
