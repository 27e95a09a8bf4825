"""A worker process whose task counts to three and then waits to be killed, once."""

from dataclasses import replace
from pathlib import Path

from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import worker_resources


def count(run):
    """Write down how far it is; the first time, wait for the end of the process."""
    folder = Path(run.settings["folder"])
    first = not (folder / "0").exists()
    for step in range(5):
        run.progress("count", step, 5)
        (folder / str(step)).touch()
        while first and step == 2:
            run.progress("wait", 0, None)
    return "counted"


if __name__ == "__main__":
    settings = Settings.from_environment()
    Worker(
        replace(worker_resources(settings), tasks={"count": count}),
        WorkerOptions(settings.queue_url(), poll_s=0.05, dead_after_s=3, until_idle=True),
    ).run()
