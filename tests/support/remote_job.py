"""A job whose images two servers make, while its workers are killed."""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from cobalance.base.records import Annotations, ImageRecord, Mention
from cobalance.generation.output.job_manifest import manifest_name
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.write import write_annotations
from cobalance.graph.jobs.candidate_pages import list_candidates
from cobalance.graph.jobs.lifecycle import create_job
from cobalance.graph.jobs.status import Job, read_job
from tests.support.image_servers import (
    FAULTS,
    MODEL,
    OpenAiHandler,
    Painter,
    image_server,
)
from tests.support.manifests import read_manifest
from tests.support.waiting import until
from tests.support.worker_processes import Workers

AT_ONCE = 2
SOURCES = 8
SIDES = (40, 48)
OBJECT = (slice(10, 30), slice(12, 36))


def write_sources(store: GraphStore, dataset: str, folder: Path) -> dict[str, Any]:
    """Write a dataset of noise, with pictures and masks in folders; give the settings of masks."""
    records = []
    mask = np.zeros(SIDES, np.uint8)
    mask[OBJECT] = 255
    for name in ("pictures", "masks"):
        (folder / name).mkdir(exist_ok=True)
    for i in range(SOURCES):
        pixels = np.random.default_rng(i).integers(0, 256, (*SIDES, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "pictures" / f"{i}.png")
        Image.fromarray(mask).save(folder / "masks" / f"{i}.png")
        mentions = (Mention("cow"), Mention("gate"))
        records.append(ImageRecord(f"{i}", ("country", "urban")[i % 2], mentions, uri=f"{i}.png"))
    write_annotations(store, dataset, Annotations.from_records(records), source="test")
    return {"masks": "files", "mask_folder": str(folder / "masks")}


def job_settings(url: str, masks: Mapping[str, Any], **making: Any) -> dict[str, Any]:
    """Settings of a job that a server makes images for, with short pauses."""
    quick = {"native_px": 64, "pause_s": 0.01, "timeout_s": 20, "model": MODEL}
    return {
        "recipe": "http",
        "making": {"url": url, **quick, **making},
        "masks": dict(masks),
        "filters": {"sanity": {}},
        "chunk_size": 8,
    }


@dataclass
class Outcome:
    """What a job has led to.

    Parameters
    ----------
    budget : int
        The images that the job might ask for.
    painters : list of Painter
        The servers.
    candidates : list of str
        Of the graph.
    manifest : pandas.DataFrame
        Its rows.
    folder : Path
        Of pictures and images.
    """

    job: Job
    budget: int
    painters: list[Painter]
    candidates: list[str]
    manifest: pd.DataFrame
    folder: Path
    seconds: float

    @property
    def painted(self) -> int:
        """Images that the servers have painted, delivered or not."""
        return sum(painter.painted.total() for painter in self.painters)

    @property
    def delivered(self) -> int:
        """Images that the servers have sent whole."""
        return sum(painter.delivered.total() for painter in self.painters)

    def check(self, images: int) -> None:
        """Each image once, within the budget, with its provenance and the source's pixels."""
        job, manifest = self.job, self.manifest
        assert (job.state, job.covered, job.rejected) == ("done", images, 0), job
        assert len(self.candidates) == images
        assert sorted(self.candidates) == sorted(manifest["candidate"])
        assert manifest["seed"].is_unique

        assert job.requested is not None
        assert images <= self.painted <= job.requested <= self.budget

        urls = {painter.url for painter in self.painters}
        seeds = {seed for painter in self.painters for seed in painter.delivered}
        for row in manifest.itertuples():
            settings = json.loads(row.settings)
            (facts,) = settings["answers"]
            seed = 1 + row.seed % (2**31 - 1)
            assert facts["server"] in urls
            assert facts["request_id"] == f"r-{seed}"
            assert seed in seeds
            assert {"created", "usage", "revised_prompt"} <= facts.keys()
            assert (row.backend, row.model) == ("http", MODEL)
            self.check_pixels(row.path, row.source_uri)
        assert not (self.folder / "generated" / job.id / "answers").exists()

    def check_pixels(self, path: str, source_uri: str) -> None:
        """The object's pixels are the source's, and all others are not."""
        made = np.asarray(Image.open(self.folder / "generated" / path))
        source = np.asarray(Image.open(self.folder / "pictures" / source_uri))
        assert np.array_equal(made[OBJECT], source[OBJECT])
        outside = np.ones(SIDES, bool)
        outside[OBJECT] = False
        assert (made[outside] != source[outside]).any(axis=1).mean() > 0.9


def draw_faults(random: Random, share: float) -> Callable[[], str]:
    """A function that gives a fault for so many of the requests, and none for the others."""
    return lambda: random.choice(FAULTS) if random.random() < share else ""


def run_killed(
    store: GraphStore,
    dataset: str,
    environment: Mapping[str, str],
    folder: Path,
    *,
    images: int,
    kills: int,
    share: float,
    random: Random,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Run a job with two servers and two workers, of which one is killed now and then.

    Parameters
    ----------
    environment : mapping of str to str
        Of processes that find the store.
    share : float
        Of the requests that fail.
    """
    masks = write_sources(store, dataset, folder)
    environment = {
        **environment,
        "COBALANCE_QUEUE": f"sqlite:///{folder}/queue.sqlite",
        "COBALANCE_OUTPUT": str(folder / "generated"),
        "COBALANCE_IMAGES": str(folder / "pictures"),
        "OMP_NUM_THREADS": "1",
    }
    budget, workers, began = 2 * images, Workers(environment, folder), time.monotonic()
    with ExitStack() as servers:
        faults = draw_faults(random, share)
        painters = [servers.enter_context(image_server(OpenAiHandler, faults)) for _ in range(2)]
        url = " ".join(painter.url for painter in painters)
        making = {"at_once": AT_ONCE, "max_images": budget, "tries": 12, "timeout_s": 2.0}
        queries = [("country", ("cow",), images - images // 2), ("urban", ("gate",), images // 2)]
        settings = job_settings(url, masks, **making)
        job = create_job(store, dataset, "plan", queries, settings=settings)
        try:
            for which in "ab":
                workers.start(which)
            # While images are on their way.
            for goal in sorted(random.sample(range(1, images), kills)):
                until(lambda goal=goal: sum(len(p.requests) for p in painters) >= goal)
                which = random.choice("ab")
                workers.kill(which)
                say(f"kill -9 of worker {which} at {read_job(store, job).made} images")
                workers.start(which)
            until(lambda: not read_job(store, job).is_active, 540)
            ended = read_job(store, job)
            assert ended.state == "done", (ended, workers.logs())
        finally:
            workers.end()

    manifest = read_manifest(folder / "generated" / manifest_name(job))
    page = list_candidates(store, job, per_page=10 * images)
    candidates = [candidate.id for candidate in page.candidates]
    seconds = time.monotonic() - began
    return Outcome(ended, budget, painters, candidates, manifest, folder, seconds)
