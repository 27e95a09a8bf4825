"""Run workers: in this process, until some jobs have ended, or one on each GPU."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial
from typing import Any, ParamSpec, TypedDict

from cobalance.base import (
    EXTRAS,
    CobalanceError,
    MissingExtraError,
    NotFoundError,
    OptionError,
    Progress,
    T,
    inflect,
    needs_extra,
    silent,
    text_if,
)
from cobalance.generation import (
    SEGMENTERS,
    FindInstances,
    FindParts,
    GenerationError,
    InstanceSegmenter,
    JobSettings,
    ObjectMasks,
    Segment,
    Sources,
    find_parts,
)
from cobalance.generation.worker.resources import WorkerResources
from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.graph import ALIVE_S, GraphStore, Job, Task, read_job, read_task
from cobalance.vision import ImageFileError, ImageRoots, read_regions
from cobalance.workflows.embed.compute import embedding_tasks
from cobalance.workflows.evaluate.tasks import evaluation_tasks
from cobalance.workflows.label.work import annotation_tasks
from cobalance.workflows.order.job import source_images
from cobalance.workflows.plugins import usable_plugins
from cobalance.workflows.properties import property_tasks
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store

_P = ParamSpec("_P")

_running_here = threading.Lock()
"""The queue is one a process, see `cobalance.generation.jobs.job_queue`."""


def worker_resources(settings: Settings) -> WorkerResources:
    """Open the resources of workers in this process.

    Raises
    ------
    OptionError
        The output folder cannot be opened.
    """
    roots_of = lru_cache(1)(ImageRoots)

    def read_image(dataset: str, uri: str) -> bytes:
        # Folders may be added while a worker runs.
        roots = settings.folders().image_roots(dataset)
        try:
            return roots_of(roots).find(uri).read()
        except ImageFileError as error:
            raise GenerationError(*error.parts) from error

    def open_sources(store: GraphStore, dataset: str, job: JobSettings) -> Sources | None:
        images = source_images(store, dataset, job)
        if not any(of_class.ids for of_class in images.values()):
            return None

        folder = settings.folders().regions
        return Sources(
            images,
            partial(read_image, dataset),
            ObjectMasks(
                job.masks,
                lambda ids: read_regions(folder, dataset, ids),
                **_open_segmenters(job),
            ),
        )

    return WorkerResources(
        lambda: open_store(settings),
        settings.folders().open_output(),
        open_sources,
        tasks={
            **evaluation_tasks(settings.folders()),
            **annotation_tasks(settings.folders()),
            **embedding_tasks(settings.folders()),
            **property_tasks(settings.folders()),
        },
        plugins=usable_plugins(),
    )


class _Segmenting(TypedDict, total=False):
    """Arguments of `ObjectMasks` for a job's segmenters."""

    segment: Segment
    segmented_by: Mapping[str, Any]
    find_instances: FindInstances
    find_parts: FindParts


def _open_segmenters(job: JobSettings) -> _Segmenting:
    """Open a job's segmenters, for the object and for its parts; one computes at a time."""
    lock = threading.Lock()
    opened = _Segmenting()
    provenance = dict[str, Any]()
    if job.object_segmenter is not None:
        segmenter = SEGMENTERS.open(job.object_segmenter, job.segmenter_options)
        opened["segment"] = _run_alone(lock, segmenter.segment)
        if isinstance(segmenter, InstanceSegmenter):
            opened["find_instances"] = _run_alone(lock, segmenter.instances)
        provenance |= segmenter.describe()

    if job.parts is not None:
        parts = SEGMENTERS.open(job.parts, job.parts_options)
        opened["find_parts"] = _run_alone(lock, find_parts(parts, job.parts))
        provenance["parts"] = dict(parts.describe())
    if provenance:
        opened["segmented_by"] = provenance
    return opened


def _run_alone(lock: threading.Lock, function: Callable[_P, T]) -> Callable[_P, T]:
    def call_alone(*args: _P.args, **options: _P.kwargs) -> T:
        with lock:
            return function(*args, **options)

    return call_alone


def run_worker(
    settings: Settings,
    *,
    until_idle: bool = False,
    idle_s: float | None = None,
    dead_after_s: float = ALIVE_S,
    say: Callable[[str], None],
    progress_bars: Callable[[], AbstractContextManager[Progress]],
) -> None:
    """Run a worker in this process until it is stopped by a signal, or has nothing left to do.

    Parameters
    ----------
    until_idle, idle_s, dead_after_s
        See `cobalance.generation.worker.worker.WorkerOptions`.
    say : callable
        Prints a message.
    progress_bars : callable
        Opens a progress callback.

    Raises
    ------
    CobalanceError
        `until_idle`, and not all jobs are done.
    """
    options = WorkerOptions(
        settings.queue_url(), dead_after_s=dead_after_s, until_idle=until_idle, idle_s=idle_s
    )
    with progress_bars() as progress:
        worker = Worker(worker_resources(settings), options, progress)
        with _stopping(worker, say) as was_stopped:
            hint = text_if(idle_s is None, " (Ctrl-C ends it)")
            say(f"Worker {worker.id} writes to {settings.folders().output}{hint}.")
            worker.run()

    if not (worker.seen or worker.left or was_stopped()):
        say("There was nothing to do.")

    failed = _say_results(worker, settings, say)
    if was_stopped():
        raise KeyboardInterrupt
    if until_idle and (failed or worker.left):
        raise CobalanceError(
            f"Not all jobs are done: {failed:,} failed, {len(worker.left):,} left to others."
        )


def _say_results(worker: Worker, settings: Settings, say: Callable[[str], None]) -> int:
    """Say the state of each job and task that a worker saw; return how many failed."""
    # Jobs come before tasks.
    for name, (kind, missing) in sorted(worker.left.items(), key=lambda item: item[1][0]):
        _say_left(f"{kind} {name}", missing, say)

    failed = 0
    with open_store(settings) as store:
        for name, kind in sorted(worker.seen.items(), key=lambda item: item[1]):
            try:
                work = read_job(store, name) if kind == "Job" else read_task(store, name)
            except NotFoundError:
                say(f"{kind} {name} is gone.")
                continue
            say(_describe(work))
            for remark in work.remarks:
                say(remark)
            if isinstance(work, Job) and work.state == "done" and work.accepted:
                say(f"Next: cobalance rebalance {name}")
            if work.state == "failed":
                failed += 1
                say(f"When that is mended: cobalance jobs retry {name}")
    return failed


def _say_left(name: str, missing: str, say: Callable[[str], None]) -> None:
    if missing in EXTRAS:
        say(f"{MissingExtraError(name, missing)} It is left to workers that have them.")
    else:
        say(f"{name} is left to workers that have the {missing}; see cobalance plugins.")


def _describe(work: Job | Task) -> str:
    if isinstance(work, Task):
        return f"Task {work.id} ({work.kind} of {work.dataset}) is {work.state}."
    pending = text_if(work.pending, f", {work.pending:,} pending")
    return (
        f"Job {work.id} is {work.state}: {work.accepted:,} of {work.wanted:,} images "
        f"accepted, {work.rejected:,} rejected{pending}."
    )


def run_here(
    settings: Settings, jobs: Collection[str], queue_url: str, progress: Progress = silent
) -> None:
    """Run some jobs in this process until they have ended; one call at a time.

    The worker has a thread of its own: a notebook and a coroutine run an event loop in theirs, in
    which the queue refuses to work. An interrupt ends it when the images under way are done; a
    second one does not wait for that.

    Parameters
    ----------
    queue_url : str
        A queue that no other worker uses.
    progress : Progress
        Called from the worker's thread.
    """
    options = WorkerOptions(queue_url, poll_s=0.2, until_idle=True, jobs=frozenset(jobs))
    worker = Worker(worker_resources(settings), options, progress)

    def run() -> None:
        with _running_here:
            worker.run()

    with ThreadPoolExecutor(1, "worker") as thread:
        try:
            thread.submit(run).result()
        except KeyboardInterrupt:
            worker.stop()
            raise


@contextmanager
def _stopping(worker: Worker, say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Stop the worker on Ctrl-C and SIGTERM: gracefully at the first, at once at the second.

    Yields a function that says whether Ctrl-C has stopped it.
    """
    interrupted = False
    signals = 0

    def stop(number: int, _frame: object) -> None:
        nonlocal signals, interrupted
        signals += 1
        interrupted = interrupted or number == signal.SIGINT
        if signals > 1:
            os._exit(128 + number)
        say("Ending when the images under way are done; once more to end at once.")
        # In a thread: this one may hold the lock of what it waits for.
        threading.Thread(target=worker.stop).start()

    with _handling_signals(stop):
        yield lambda: interrupted


@contextmanager
def _handling_signals(handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Have Ctrl-C and SIGTERM handled, until the block ends."""
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def gpu_numbers(gpus: str) -> list[int]:
    """Parse numbers of GPUs, separated by commas, or ``all``.

    Raises
    ------
    OptionError
        The text is neither, or there is no such GPU.
    """
    with needs_extra("A worker on a GPU", "models"):
        import torch
    available = range(torch.cuda.device_count())
    try:
        numbers = list(available) if gpus == "all" else list(map(int, gpus.split(",")))
    except ValueError:
        raise OptionError(f"--gpus {gpus!r}: give numbers such as 0,1, or all.") from None

    if not numbers or not {*numbers} <= {*available}:
        raise OptionError(
            f"--gpus {gpus!r}: this machine has {inflect(len(available), 'GPUs')} that torch can "
            "use. Leave the option out to work without."
        )
    return numbers


def run_on_gpus(
    numbers: Sequence[int], environment: Mapping[str, str], *, until_idle: bool, dead_after_s: float
) -> None:
    """Run a worker process on each GPU, until all have ended.

    Parameters
    ----------
    environment : mapping of str to str
        The variables from which they read their settings.

    Raises
    ------
    CobalanceError
        Some of them failed.
    """
    command = [sys.executable, "-m", "cobalance.app", "work", "--dead-after", str(dead_after_s)]
    if until_idle:
        command.append("--until-idle")
    workers = [
        subprocess.Popen(command, env={**environment, "CUDA_VISIBLE_DEVICES": str(number)})  # noqa: S603
        for number in numbers
    ]

    def pass_on(number: int, _frame: object) -> None:
        # A terminal sends Ctrl-C to the workers, too.
        if number != signal.SIGINT:
            for worker in workers:
                worker.send_signal(number)

    with _handling_signals(pass_on):
        failed = [worker for worker in workers if worker.wait() != 0]
    if failed:
        raise CobalanceError(f"{len(failed)} of {len(workers)} workers failed; see above.")
