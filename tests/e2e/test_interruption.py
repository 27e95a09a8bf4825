"""kill -9 at random progress: run again, the graph is the one that was never interrupted.

Each round kills the process while the program is still being imported, before the first write, and
then it or its server between the first image and the last.
"""

import os
import signal
import subprocess
import sys
from random import Random

import pandas as pd
import pytest

from cobalance.base.errors import StoreUnavailableError
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.dataset.drop_rename import drop_dataset
from cobalance.graph.dataset.state import find_dataset
from cobalance.workflows.store import open_store
from tests.app.cli.calling import call
from tests.support.waiting import until

IMAGES = 3_000
DATASET = "interrupted"
MODULES = 1_000  # fewer than the program imports
INGEST = ["ingest", "--dataset", DATASET]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def own(settings, home):
    """A local server of these tests' own, which they may kill."""
    own = settings.model_copy(update={"cobalance_home": home, "neo4j_uri": None})
    try:
        yield own
    finally:
        local_server.stop(own.local_server())


@pytest.fixture(scope="module")
def environment(own):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    return {
        **kept,
        "COBALANCE_HOME": str(own.cobalance_home),
        "COBALANCE_CACHE": str(own.cobalance_cache),
    }


@pytest.fixture(scope="module")
def annotations(home):
    random = Random(5)
    concepts = [f"concept {i}" for i in range(30)]
    lines = ["id,class,concepts"]
    for i in range(IMAGES):
        names = "|".join(random.sample(concepts, random.randint(0, 6)))
        lines.append(f"{i},{random.choice(['urban', 'country'])},{names}")
    file = home / "annotations.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.fixture(scope="module")
def log(home):
    """What an interrupted process says on standard error: a line for each module it imports."""
    return home / "log"


def start(environment, log, *arguments):
    with log.open("w") as errors:
        return subprocess.Popen(
            [sys.executable, "-X", "importtime", "-m", "cobalance.app", *map(str, arguments)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )


def run(environment, *arguments):
    done = call(environment, *arguments)
    assert done.returncode == 0, done.stderr


def finish(environment, annotations):
    run(environment, *INGEST, annotations)


def mine(environment):
    run(environment, "mine", DATASET, "--max-size", 3)


def imported(log):
    """How many modules the process has imported."""
    return log.read_text().count("\n")


class Written:
    """Counts what the graph has, by one connection for as long as its server lives."""

    def __init__(self, own, label="Image"):
        self._own = own
        self._text = f"MATCH (n:{label} {{dataset: $dataset}}) RETURN count(n) AS written"
        self._store = None

    def count(self):
        """How many there are; none while no server answers."""
        if self._store is None and local_server.status(self._own.local_server()) is None:
            return 0
        try:
            self._store = self._store or open_store(self._own)
            (row,) = self._store.read(self._text, dataset=DATASET)
        except StoreUnavailableError:
            self.close()
            return 0
        return row["written"]

    def close(self):
        if self._store is not None:
            self._store.close()
            self._store = None


def reach(process, progress, goal):
    """Wait until the progress is at its goal, or the process has ended."""
    until(lambda: process.poll() is not None or progress() >= goal, 240)


def kill(own, process, victim):
    server = local_server.status(own.local_server())
    if victim == "ingest":
        process.kill()
        process.wait()
    elif server is not None:
        os.kill(server.pid, signal.SIGKILL)


def check_rounds(own, environment, annotations, log, dump_of, rounds, seed):
    finish(environment, annotations)
    mine(environment)
    with open_store(own) as store:
        whole = dump_of(store, DATASET)
        drop_dataset(store, DATASET)
    random = Random(seed)
    images = Written(own)
    for victim in ["ingest", "server"] * (rounds // 2):
        if victim == "ingest":
            process = start(environment, log, *INGEST, annotations)
            reach(process, lambda: imported(log), random.randrange(MODULES))
            assert process.poll() is None
            assert images.count() == 0
            kill(own, process, victim)
        process = start(environment, log, *INGEST, annotations)
        reach(process, images.count, random.randrange(1, IMAGES))
        kill(own, process, victim)
        process.wait()
        images.close()
        finish(environment, annotations)
        mine(environment)
        with open_store(own) as store:
            assert dump_of(store, DATASET) == whole, victim
            drop_dataset(store, DATASET)
            assert find_dataset(store, DATASET) is None


def test_a_few_kills(own, environment, annotations, log, dump_of):
    check_rounds(own, environment, annotations, log, dump_of, rounds=2, seed=1)


@pytest.fixture(scope="module")
def parquet(home, annotations):
    """The same images as a Parquet file, which the dataset is called by."""
    table = pd.read_csv(annotations, dtype=str)
    table["concepts"] = (
        table["concepts"].fillna("").str.split("|").map(lambda names: [*filter(None, names)])
    )
    file = home / f"{DATASET}.parquet"
    table.to_parquet(file, row_group_size=1_000)
    return file


def test_files_that_memory_does_not_hold(own, environment, parquet, log, dump_of):
    """Killed while it writes the counts, then the cliques, then the sample; run to the end."""
    command = ["mine", parquet, "--out-of-core", "--max-size", 3]
    run(environment, *command)
    with open_store(own) as store:
        whole = dump_of(store, DATASET)
        drop_dataset(store, DATASET)

    random = Random(3)
    for label in ("Concept", "Clique", "Image"):
        written = Written(own, label)
        process = start(environment, log, *command)
        reach(process, written.count, random.randrange(1, 30))
        process.kill()
        process.wait()
        written.close()

    run(environment, *command)
    with open_store(own) as store:
        assert dump_of(store, DATASET) == whole
        drop_dataset(store, DATASET)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_twenty_kills_of_each(own, environment, annotations, log, dump_of):
    check_rounds(own, environment, annotations, log, dump_of, rounds=40, seed=2)
