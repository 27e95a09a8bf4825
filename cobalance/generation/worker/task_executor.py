"""Execute one task: start, report progress, end; fail on errors."""

import contextlib
import logging
import threading
import time
from functools import partial

from cobalance.base import CobalanceError, Progress, log_run, silent
from cobalance.generation.worker.resources import (
    RetryingStore,
    RunTask,
    TaskCancelled,
    TaskRun,
    WorkerResources,
    WorkerStopped,
)
from cobalance.generation.worker.runner_slot import RunnerSlot
from cobalance.graph import StartedTask, end_task, fail_task, release_task, report_task, start_task

_log = logging.getLogger(__name__)

# A task that ends its worker each time fails after so many starts.
_STARTS = 4
# At least so long passes between two reports of a stage to the graph.
_REPORT_S = 1.0


class TaskExecutor:
    """Executes tasks, one at a time, with no chunk computing beside.

    Attributes
    ----------
    task : str or None
        The task under way.
    """

    def __init__(
        self,
        store: RetryingStore,
        resources: WorkerResources,
        runners: RunnerSlot,
        stopped: threading.Event,
        progress: Progress = silent,
    ) -> None:
        self._store, self._functions, self._runners = store, resources.tasks, runners
        self._stopped, self._progress = stopped, progress
        self.task: str | None = None

    @log_run
    def execute(self, task: str, attempt: int) -> None:
        """Execute an attempt of a task, unless it is not wanted any more.

        Raises
        ------
        WorkerBusy
            Another one is under way.
        """
        with self._runners.leave_empty():
            started = self._store.run(partial(start_task, task=task, attempt=attempt))
            if started is None:
                return
            self.task = task
            try:
                self._execute(task, attempt, started)
            finally:
                self.task = None

    def _execute(self, task: str, attempt: int, started: StartedTask) -> None:
        """Run a task that has started, and end it: with its note, or with an error."""
        run = self._functions.get(started.kind)
        if run is None:
            self._fail(task, attempt, f"This version of cobalance knows no task {started.kind!r}.")
            return
        if started.starts > _STARTS:
            self._fail(task, attempt, "Each attempt to run it ended its worker. See its log.")
            return

        try:
            note = self._run(run, task, attempt, started)
        except TaskCancelled:
            return
        except WorkerStopped:
            with contextlib.suppress(CobalanceError):
                self._store.run_once(partial(release_task, task=task, attempt=attempt))
            raise
        except Exception as error:  # noqa: BLE001 - stored with the task
            if not isinstance(error, CobalanceError):
                _log.warning("task %s", task, exc_info=True)
            self._fail(task, attempt, str(error) or type(error).__name__)
            return
        self._store.run(partial(end_task, task=task, attempt=attempt, note=note))

    def _run(self, run: RunTask, task: str, attempt: int, started: StartedTask) -> str:
        """Call a task's function; its progress goes to the graph, and tells whether to go on."""
        last_stage, last_report = "", -_REPORT_S

        def progress(stage: str, done: int, total: int | None) -> None:
            nonlocal last_stage, last_report
            if self._stopped.is_set():
                raise WorkerStopped
            self._progress(f"{started.kind} {task}: {stage}", done, total)
            now = time.monotonic()
            # The first report of a stage and its last one are always written.
            if stage == last_stage and now - last_report < _REPORT_S and done != total:
                return

            last_stage, last_report = stage, now
            report = partial(
                report_task, task=task, attempt=attempt, stage=stage, done=done, total=total
            )
            if not self._store.run(report):
                raise TaskCancelled

        return run(TaskRun(task, started.dataset, started.settings, self._store.run, progress))

    def _fail(self, task: str, attempt: int, error: str) -> None:
        self._store.run(partial(fail_task, task=task, attempt=attempt, error=error))
