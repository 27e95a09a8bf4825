"""kill -9 at random moments: run again, the graph is the one that was never interrupted."""

import os
import signal
import subprocess
import sys
from random import Random

import pytest

from app.services.stores import open_store
from graph.database.local import server as local_server
from graph.dataset.drop_rename import drop_dataset
from graph.dataset.state import find_dataset

IMAGES = 6_000
DATASET = "interrupted"
COMMAND = [sys.executable, "-m", "app"]


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


def start(environment, annotations):
    return subprocess.Popen(
        [*COMMAND, "ingest", str(annotations), "--dataset", DATASET],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(environment, annotations):
    process = start(environment, annotations)
    _, errors = process.communicate()
    assert process.returncode == 0, errors


def mine(environment):
    subprocess.run(
        [*COMMAND, "mine", DATASET, "--max-size", "3"],
        env=environment,
        check=True,
        capture_output=True,
    )


def interrupt(own, process, victim, after_s):
    """Kill the ingesting process or the server after some seconds, if it has not ended by then."""
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        if victim == "ingest":
            process.kill()
        else:
            server = local_server.status(own.local_server())
            if server is not None:
                os.kill(server.pid, signal.SIGKILL)
    process.communicate()


def check_rounds(own, environment, annotations, dump_of, rounds, seed):
    finish(environment, annotations)
    mine(environment)
    with open_store(own) as store:
        whole = dump_of(store, DATASET)
        drop_dataset(store, DATASET)
    # From the import of the program to the last write, on a fast machine and on a slow one.
    random = Random(seed)
    for victim in ["ingest", "server"] * (rounds // 2):
        for _ in range(random.randint(1, 3)):
            interrupt(own, start(environment, annotations), victim, random.uniform(0.5, 8))
        finish(environment, annotations)
        mine(environment)
        with open_store(own) as store:
            assert dump_of(store, DATASET) == whole, victim
            drop_dataset(store, DATASET)
            assert find_dataset(store, DATASET) is None


def test_a_few_kills(own, environment, annotations, dump_of):
    check_rounds(own, environment, annotations, dump_of, rounds=2, seed=1)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_twenty_kills_of_each(own, environment, annotations, dump_of):
    check_rounds(own, environment, annotations, dump_of, rounds=40, seed=2)
