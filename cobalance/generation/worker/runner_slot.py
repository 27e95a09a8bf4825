"""Keep one job runner open: the device has memory for one model."""

import contextlib
import gc
import json
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.backend import Backend
from cobalance.generation.backends.remote.account import PaidBackend
from cobalance.generation.filters import FILTERS
from cobalance.generation.jobs.people_consent import check_consent
from cobalance.generation.jobs.variants import check_scales
from cobalance.generation.worker.job_account import JobAccount
from cobalance.generation.worker.job_runner import JobRunner
from cobalance.generation.worker.resources import RetryingStore, WorkerBusy, WorkerResources
from cobalance.graph import CONCEPT, read_names, read_query_progress


class RunnerSlot:
    """Holds the runner that was opened last; for any number of threads."""

    def __init__(self, store: RetryingStore, resources: WorkerResources) -> None:
        self._store, self._resources = store, resources
        self._device = threading.Lock()
        self._changed = threading.Condition()
        self._runner: JobRunner | None = None
        self._opened_for, self._users, self._taken = ("", 0, ""), 0, False
        self._opened_as: tuple[str, str] | None = None

    @contextlib.contextmanager
    def use(self, job: str, attempt: int, dataset: str) -> Iterator[JobRunner]:
        """Use the runner of an attempt of a job, opened unless it is the open one.

        Waits while another one is in use. A runner is opened anew when its job is queued again, and
        when its dataset is renamed.

        Raises
        ------
        WorkerBusy
            A task has the device, or waits for it.
        OptionError, UnknownNameError, MissingExtraError, JobBlockedError, OutOfMemoryError
            It cannot be opened.
        """
        opening_for = (job, attempt, dataset)
        with self._changed:
            while self._users and self._opened_for != opening_for and not self._taken:
                self._changed.wait()
            if self._taken:
                raise WorkerBusy
            if self._runner is None or self._opened_for != opening_for:
                self._runner = self._open(job, dataset)
                self._opened_for = opening_for
            runner = self._runner
            self._users += 1

        try:
            yield runner
        finally:
            # This frame must not keep the runner's memory from the next one.
            del runner
            with self._changed:
                self._users -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def leave_empty(self) -> Iterator[None]:
        """Close the runner, and keep any from being opened: a task has the device to itself.

        Waits until the chunks that use the runner have ended.

        Raises
        ------
        WorkerBusy
            Another task has the device.
        """
        with self._changed:
            if self._taken:
                raise WorkerBusy
            self._taken = True
            self._changed.notify_all()
            while self._users:
                self._changed.wait()
            self._runner, self._opened_for, self._opened_as = None, ("", 0, ""), None
        gc.collect()

        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()

    def _open(self, job: str, dataset: str) -> JobRunner:
        """Open the runner of a job, with the backend of the last one if it is the same."""
        settings = self._store.job_settings(job)
        queries = {
            query.position: query.to_plan(query.n)
            for query in self._store.run(lambda store: read_query_progress(store, job))
        }
        edits = [query.edit for query in queries.values()]
        edited = {edit.source_image for edit in edits if edit is not None}
        groups = {query.class_name for query in queries.values()}
        check_consent(settings, sorted(groups), is_edit=bool(edited))

        opened_as = (settings.backend, json.dumps(settings.making, sort_keys=True))
        backend = self._take_backend(opened_as)
        if backend is None:
            # Frames of past errors hold objects of the last backend, and these the device's memory.
            gc.collect()
            backend = BACKENDS.open(settings.backend, settings.making)
        check_scales(settings.variants, backend, settings.backend)
        filters = {
            name: FILTERS.open(name, self._with_vocabulary(name, options, dataset))
            for name, options in settings.filter_options().items()
        }

        sources = self._store.run(
            lambda store: self._resources.open_sources(store, dataset, settings)
        )
        if sources is not None and edited and all(edits):
            # Images that the plan left out lend no object either.
            sources = sources.only(edited)
        self._opened_as = opened_as
        account = None
        if isinstance(backend, PaidBackend):
            account = backend.account = JobAccount(self._store, self._resources.folder, job)
        return JobRunner(job, settings, queries, backend, filters, sources, self._device, account)

    def _take_backend(self, opened_as: tuple[str, str]) -> Backend | None:
        """Drop the last runner, whose memory the next needs; its backend if it is the same."""
        runner, self._runner = self._runner, None
        if runner is None or opened_as != self._opened_as:
            return None
        return runner.backend

    def _with_vocabulary(
        self, name: str, options: Mapping[str, Any], dataset: str
    ) -> Mapping[str, Any]:
        """Add the dataset's concepts to the options of a filter that takes them."""
        if not FILTERS[name].takes_vocabulary or "vocabulary" in options:
            return options
        vocabulary = self._store.run(partial(read_names, dataset=dataset, node=CONCEPT))
        return {**options, "vocabulary": vocabulary}
