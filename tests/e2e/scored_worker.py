"""A worker process whose filter gives known scores, to be killed."""

import sys

from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import worker_resources
from tests.e2e import scored

if __name__ == "__main__":
    sys.modules["cobalance.generation.filters.blank"] = scored
    settings = Settings.from_environment()
    Worker(
        worker_resources(settings),
        WorkerOptions(settings.queue_url(), poll_s=0.05, dead_after_s=3, until_idle=True),
    ).run()
