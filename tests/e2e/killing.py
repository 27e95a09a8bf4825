"""Workers that are killed by force at random progress of a job."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from random import Random

from cobalance.graph.database.store import GraphStore
from cobalance.graph.jobs.status import read_job
from tests.support.waiting import until


def kill_workers(
    store: GraphStore, job: str, environment: Mapping[str, str], wanted: int, kills: int
) -> Iterator[None]:
    """Start a worker and kill it, several times; yield after each kill."""
    for made in sorted(Random().sample(range(wanted + 1), kills)):
        worker = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.scored_worker"],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            until(
                lambda made=made, worker=worker: (
                    read_job(store, job).made >= made or worker.poll() is not None
                ),
                240,
            )
        finally:
            worker.kill()
            worker.wait()
        yield
