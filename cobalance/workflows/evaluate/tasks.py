"""The tasks of evaluations, as workers execute them."""

from cobalance.base import needs_extra
from cobalance.generation.worker.resources import RunTask, TaskRun
from cobalance.graph import KIND
from cobalance.workflows.evaluate.images import KnownDatasets
from cobalance.workflows.folders import Folders


def evaluation_tasks(folders: Folders) -> dict[str, RunTask]:
    """Functions that execute tasks of evaluations, by kind."""
    # Evaluations that are ordered together have the same datasets, so that they stay read.
    known: KnownDatasets = {}

    def run(task: TaskRun) -> str:
        with needs_extra("An evaluation", "evaluate"):
            from cobalance.workflows.evaluate.train import run_evaluation
        return run_evaluation(task.graph, folders, task.id, task.progress, known)

    return {KIND: run}
