"""Bench of a worker beside a loop that only makes the same images.

The loop calls `Backend.generate` for batch after batch of prepared requests. The worker makes a job
of the same size, in chunks of the same size with the same settings: it takes them from the queue,
reads sources and masks, judges the images, writes every file, and reports to the graph.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from PIL import Image

from cobalance.base import (
    Annotations,
    CobalanceError,
    ImageRecord,
    Mention,
    PlannedQuery,
    Progress,
)
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.backend import Backend
from cobalance.generation.image_request import ImageRequest
from cobalance.generation.jobs.chunks import cut_round
from cobalance.generation.jobs.settings import JobSettings, read_job_settings
from cobalance.generation.worker.job_runner import JobRunner
from cobalance.generation.worker.resources import WorkerResources
from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.graph import GraphStore, Round, Span, create_job, read_job

BENCH_DATASET = "benchmark"
_CLASSES = ("country", "urban")
_CONCEPTS = ("cow", "forest road", "gate", "street sign")
_ORIGINALS = 64
# Few, as most cliques of a plan miss few.
_PER_QUERY = 6

_POLL_S = 0.25
"""Between looks at the job: each takes Python's lock from what is measured."""
_PARTS = {"dbos-executor": "chunks", "queue-": "queue", "worker": "supervisor"}
"""What a worker's threads do, by how their names begin."""


@dataclass(frozen=True)
class WorkerSpeed:
    """The same images by a loop and by a worker, one after the other in one process.

    Parameters
    ----------
    loop_s, worker_s : float
        Seconds that they took; a worker's from the order to the job's end.
    loop_cpu_s, worker_cpu_s : float
        Processor time of the loop, and of the worker's threads; the graph's server is a process of
        its own.
    device_s : float
        Seconds in which the worker's backend or filters computed.
    cpu_by_part : mapping of str to float
        The worker's processor time by what its threads do: ``chunks`` (make, judge, save, report),
        ``queue``, ``supervisor`` and ``rest``.
    first_chunk_s : float
        Seconds of a first chunk before that, with loading and, if asked for, compiling.
    """

    images: int
    loop_s: float
    worker_s: float
    loop_cpu_s: float
    worker_cpu_s: float
    device_s: float
    cpu_by_part: Mapping[str, float]
    first_chunk_s: float

    @property
    def images_ratio(self) -> float:
        """The worker's images a second by the loop's."""
        return self.loop_s / self.worker_s

    @property
    def cpu_ratio(self) -> float:
        """The loop's processor time by the worker's."""
        return self.loop_cpu_s / self.worker_cpu_s


def draw_originals(folder: Path, side_px: int) -> Annotations:
    """Write images that are smooth, as photographs are, each with a mask of an ellipse."""
    (folder / "images").mkdir(parents=True)
    (folder / "masks").mkdir()
    y, x = np.mgrid[:side_px, :side_px] / side_px

    records = []
    for number in range(_ORIGINALS):
        rng = np.random.default_rng(number)
        coarse = Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8))
        smooth = coarse.resize((side_px, side_px), Image.Resampling.BICUBIC)
        grain = rng.normal(0, 4, (side_px, side_px, 3))
        pixels = (np.asarray(smooth) + grain).clip(0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{number}.jpg", quality=95)

        is_inside = ((x - rng.uniform(0.4, 0.6)) / 0.2) ** 2 + ((y - 0.5) / 0.3) ** 2 < 1
        Image.fromarray(is_inside).save(folder / "masks" / f"{number}.png")

        mentions = (Mention(_CONCEPTS[number % 4]), Mention(_CONCEPTS[number // 4 % 4]))
        class_name = _CLASSES[number % 2]
        records.append(ImageRecord(f"{number}", class_name, mentions, uri=f"images/{number}.jpg"))
    return Annotations.from_records(records)


@dataclass(frozen=True)
class WorkerBench:
    """Bench of a worker in this process, beside a loop on the same drawn images.

    Parameters
    ----------
    store : GraphStore
        With the dataset of `draw_originals` in it, under the name `BENCH_DATASET`.
    job : mapping
        The job's settings.
    queue_url : str
        A queue that no other worker uses.
    """

    store: GraphStore
    resources: WorkerResources
    job: Mapping[str, Any]
    queue_url: str
    progress: Progress

    def measure(self, images: int) -> WorkerSpeed:
        """Have the loop make some images, then the worker."""
        settings = read_job_settings(self.job)
        self.progress("the loop", 0, None)
        loop_s, loop_cpu_s = self._run_loop(settings, images)

        self.progress("the worker", 0, None)
        with self._working() as worker_thread:
            began = time.perf_counter()
            self._run_job(settings.chunk_size, worker_thread)
            first_chunk_s = time.perf_counter() - began

            before = _cpu_by_thread()
            began = time.perf_counter()
            device_s = self._run_job(images, worker_thread)
            worker_s = time.perf_counter() - began
            cpu_by_part = _cpu_by_part(before)

        return WorkerSpeed(
            images,
            loop_s,
            worker_s,
            loop_cpu_s,
            sum(cpu_by_part.values()),
            device_s,
            cpu_by_part,
            first_chunk_s,
        )

    def _run_loop(self, settings: JobSettings, images: int) -> tuple[float, float]:
        """Make some images and nothing else; the seconds, and the processor's."""
        backend: Backend = BACKENDS.open(settings.backend, settings.making)
        batches = self._batches(settings, backend, images)
        backend.generate(batches[0])

        began, cpu_before = time.perf_counter(), time.process_time()
        for batch in batches:
            backend.generate(batch)
        return time.perf_counter() - began, time.process_time() - cpu_before

    def _batches(
        self, settings: JobSettings, backend: Backend, images: int
    ) -> list[list[ImageRequest]]:
        """The requests of a job of this size, in a worker's chunks."""
        queries = _queries(images)
        spans = tuple(Span(position, 0, query.n) for position, query in enumerate(queries))
        runner = JobRunner(
            "loop",
            settings,
            dict(enumerate(queries)),
            backend,
            filters={},
            sources=self.resources.open_sources(self.store, BENCH_DATASET, settings),
            device=nullcontext(),
        )

        chunks = cut_round("loop", Round(0, 0, spans), settings.chunk_size)
        return [runner.requests(chunk)[0] for chunk in chunks]

    @contextmanager
    def _working(self) -> Iterator[threading.Thread]:
        """Run a worker in a thread."""
        worker = Worker(self.resources, WorkerOptions(self.queue_url))
        thread = threading.Thread(target=worker.run, name="worker")
        thread.start()
        try:
            yield thread
        finally:
            worker.stop()
            thread.join()

    def _run_job(self, images: int, worker_thread: threading.Thread) -> float:
        """Order a job and wait for its end; the seconds in which its images were made."""
        settings = read_job_settings(self.job)
        job = create_job(
            self.store,
            BENCH_DATASET,
            "benchmark",
            _queries(images),
            settings=dict(self.job),
            extra=settings.needs,
        )

        status = read_job(self.store, job)
        while status.is_active and worker_thread.is_alive():
            time.sleep(_POLL_S)
            status = read_job(self.store, job)
        if status.state != "done":
            raise CobalanceError(f"The job is {status.state}. {status.error}")
        return status.seconds


def _queries(images: int) -> list[PlannedQuery]:
    """Queries of a job: pairs of concepts, for either class in turn."""
    pairs = [(a, b) for a in _CONCEPTS for b in _CONCEPTS if a < b]
    sizes = [min(_PER_QUERY, images - start) for start in range(0, images, _PER_QUERY)]
    return [
        PlannedQuery(_CLASSES[number % 2], pairs[number % len(pairs)], size)
        for number, size in enumerate(sizes)
    ]


def _cpu_by_thread() -> dict[int, float]:
    """Processor time of this process's threads, in seconds by their native ids."""
    threads = psutil.Process().threads()
    return {thread.id: thread.user_time + thread.system_time for thread in threads}


def _cpu_by_part(before: Mapping[int, float]) -> dict[str, float]:
    """Processor time since then by part, without that of this thread."""
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    seconds: defaultdict[str, float] = defaultdict(float)
    for native_id, total_s in _cpu_by_thread().items():
        if native_id == threading.get_native_id():
            continue
        name = names.get(native_id, "")
        parts = [part for start, part in _PARTS.items() if name.startswith(start)]
        seconds[parts[0] if parts else "rest"] += total_s - before.get(native_id, 0.0)
    return dict(seconds)
