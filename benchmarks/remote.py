"""Images by two servers with faults, and two workers that are killed: once each, within the budget.

    python -m benchmarks.remote [--images 300] [--kills 2] [--faults 0.3] [--seed 0]

Two servers on this machine speak OpenAI's API of images and paint by seed. Of their answers so many
are faults, in equal shares: busy (429), failed (500), slower than the worker waits, cut off, of
another size. Two processes of `cobalance work` share the job, and one of them is killed by kill -9
at drawn moments while images are on their way; another one takes its place.

It ends with an error unless each image was made once, with its provenance and the source's pixels
where these are kept, and unless the servers painted no more than the job's budget. Everything is in
folders and servers of its own, which are gone afterwards.
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from random import Random

from cobalance.graph.database.local import server_control as local_server
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from tests.support.remote_job import Outcome, run_killed


def run(images: int, kills: int, share: float, seed: int) -> Outcome:
    """Run the job on a local Neo4j of its own, and check what it has led to."""
    folder = Path(tempfile.mkdtemp(prefix="cobalance-"))
    settings = Settings(cobalance_home=folder / "home", neo4j_uri=None)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEO4J_", "COBALANCE_"))
    }
    environment["COBALANCE_HOME"] = str(folder / "home")

    try:
        with open_store(settings) as store:
            outcome = run_killed(
                store,
                "benchmark",
                environment,
                folder,
                images=images,
                kills=kills,
                share=share,
                random=Random(seed),
                say=print,
            )
            outcome.check(images)
        return outcome
    finally:
        local_server.stop(settings.local_server())
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Run the job and print what it has led to."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=300)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--faults", type=float, default=0.3, help="share of the answers")
    parser.add_argument("--seed", type=int, default=0, help="of faults and kills")
    arguments = parser.parse_args()

    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    outcome = run(arguments.images, arguments.kills, arguments.faults, arguments.seed)
    requests = [len(painter.requests) for painter in outcome.painters]
    print(
        f"{outcome.job.accepted} of {arguments.images} images accepted, each once; "
        f"{outcome.seconds:.0f} s\n"
        f"requests to the servers: {requests[0]} and {requests[1]}\n"
        f"painted: {outcome.painted}, delivered whole: {outcome.delivered}\n"
        f"counted: {outcome.job.requested}, budget: {outcome.budget}"
    )


if __name__ == "__main__":
    main()
