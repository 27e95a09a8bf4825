"""A worker process that labels with `tests.e2e.bright`, to be killed."""

import sys

from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.workflows.settings import Settings
from cobalance.workflows.work.run import worker_resources
from tests.e2e import bright

if __name__ == "__main__":
    sys.modules["cobalance.annotation.annotators.owlv2"] = bright
    settings = Settings.from_environment()
    Worker(
        worker_resources(settings),
        WorkerOptions(settings.queue_url(), poll_s=0.05, dead_after_s=3, until_idle=True),
    ).run()
