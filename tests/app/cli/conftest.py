"""Commands with an output folder and a queue of the test's own."""

import io

import pandas as pd
import pytest

from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import find_dataset
from tests.app.cli.calling import call, spawn
from tests.browser.server import environment_of


@pytest.fixture
def environment(settings, tmp_path):
    return environment_of(settings) | {
        "COBALANCE_OUTPUT": str(tmp_path / "generated"),
        "COBALANCE_QUEUE": f"sqlite:///{tmp_path}/queue.sqlite",
        "PYTHONWARNINGS": "error",
    }


@pytest.fixture
def run(environment):
    def command(*arguments, exit_code=0):
        # A worker's process is its own: it ends with what it registers for signals and the queue.
        done = (spawn if arguments[0] == "work" else call)(environment, *arguments)
        assert done.returncode == exit_code, done.stderr
        return done

    return command


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
    run("plan", dataset, "--planner", "conbias", "--max-size", 2, "--min-size", 1)
    yield dataset
    if find_dataset(store, f"{dataset}-rebalanced") is not None:
        drop_dataset(store, f"{dataset}-rebalanced")


def table(done):
    return pd.read_csv(io.StringIO(done.stdout))
