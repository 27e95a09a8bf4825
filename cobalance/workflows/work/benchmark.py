"""Measure a worker beside a loop that only makes the same images, on drawn data."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cobalance.base import OptionError, Progress, silent
from cobalance.generation import (
    BENCH_DATASET,
    RECIPES,
    WorkerBench,
    WorkerSpeed,
    draw_originals,
    read_job_settings,
)
from cobalance.graph import write_annotations
from cobalance.graph.database.local import server_control as local_server
from cobalance.workflows.settings import Settings
from cobalance.workflows.store import open_store
from cobalance.workflows.work.run import worker_resources


def measure_worker(
    settings: Settings,
    job: Mapping[str, Any],
    *,
    images: int = 64,
    side_px: int = 512,
    turns: int = 1,
    queue_url: str | None = None,
    progress: Progress = silent,
) -> Iterator[WorkerSpeed]:
    """Measure a worker on drawn images, in folders and a local server that are gone afterwards.

    Parameters
    ----------
    job : mapping
        The job's settings, from `cobalance.workflows.order.settings.check_settings`.
    side_px : int
        Side of the drawn images.
    queue_url : str, optional
        A queue that no other worker uses; by default SQLite in a folder of its own.

    Yields
    ------
    WorkerSpeed
        One for each turn.

    Raises
    ------
    OptionError
        The recipe edits images that a plan names.
    CobalanceError
        The job fails.
    """
    if RECIPES[read_job_settings(job).recipe].plan is not None:
        raise OptionError("Its recipe edits images that a plan names. Take another one.")

    folder = Path(tempfile.mkdtemp(prefix="cobalance-"))
    changes = {
        "cobalance_output": str(folder / "generated"),
        "cobalance_images": (str(folder / "originals"),),
        "cobalance_home": folder / "home",
        "neo4j_uri": None,
    }
    alone = settings.model_copy(update=changes)
    masks = {"masks": "files", "mask_folder": str(folder / "originals" / "masks")}
    # As many candidates as images, whatever the filters say: none is made anew.
    values = {**job, "masks": masks, "candidates_per_image": 1}

    try:
        annotations = draw_originals(folder / "originals", side_px)
        with open_store(alone, progress) as store:
            write_annotations(store, BENCH_DATASET, annotations, source="benchmark")
            bench = WorkerBench(
                store,
                worker_resources(alone),
                values,
                queue_url or f"sqlite:///{folder}/queue.sqlite",
                progress,
            )
            for _ in range(turns):
                yield bench.measure(images)
    finally:
        local_server.stop(alone.local_server())
        shutil.rmtree(folder, ignore_errors=True)
