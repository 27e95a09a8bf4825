"""Tables of jobs, tasks, candidates and models."""

from collections.abc import Callable, Iterable
from datetime import datetime
from operator import attrgetter

import pandas as pd

from cobalance.base import is_installed, torch
from cobalance.generation import FAMILIES, Family
from cobalance.graph import Candidate, Job, Task
from cobalance.vision import choose_device, gpu_memory_gb


def jobs_frame(jobs: Iterable[Job]) -> pd.DataFrame:
    """A row for each job: state, counts of images, workers."""
    names = ["dataset", "plan", "state", "wanted", "accepted", "rejected", "pending"]
    read = attrgetter(*names)
    rows = [
        [job.id, *read(job), job.queries["failed"], job.workers, _utc_text(job.created_at)]
        for job in jobs
    ]
    return pd.DataFrame(rows, columns=["job", *names, "failed_queries", "workers", "created_at"])


def tasks_frame(tasks: Iterable[Task]) -> pd.DataFrame:
    """A row for each task: kind, state, progress, time left in its stage, workers."""
    names = ["kind", "dataset", "state", "stage", "done", "total", "seconds_left"]
    names += ["extra", "workers", "hosts", "error"]
    read = attrgetter(*names)
    rows = [[task.id, *read(task), _utc_text(task.created_at)] for task in tasks]
    frame = pd.DataFrame(rows, columns=["task", *names, "created_at"])
    frame["hosts"] = frame["hosts"].map(", ".join)
    return frame.astype({"done": "Int64", "total": "Int64", "seconds_left": "float64"})


def _utc_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def candidates_frame(candidates: Iterable[Candidate]) -> pd.DataFrame:
    """A row for each candidate: class and concepts, verdict, scores, and the image's location."""
    columns = [
        "id",
        "query",
        "class_name",
        "concepts",
        "verdict",
        "rank",
        "reason",
        "scores",
        "uri",
        "source_image",
        "source_uri",
        "mask_uri",
        "seed",
        "seconds",
        "decided_by",
        "created_at",
    ]
    return pd.DataFrame(list(map(attrgetter(*columns), candidates)), columns=columns)


def list_families() -> pd.DataFrame:
    """A row for each published model that is known to run.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``backends`` (lists, the ones that take it unasked first), ``licence``,
        ``steps``, ``memory_gb`` (of its weights in half precision), ``here`` (whether it runs on
        this machine, in words) and ``note``.
    """
    describe_fit = _fits_here()
    rows = [
        {
            "model": family.model,
            "backends": list(family.backends),
            "licence": family.licence,
            "steps": family.steps,
            "memory_gb": round(family.memory_gb),
            "here": describe_fit(family),
            "note": _describe_use(family),
        }
        for family in FAMILIES
    ]
    return pd.DataFrame(rows)


def _describe_use(family: Family) -> str:
    """The options that a model asks for, and what else to know."""
    uses = [f"making.{name}={value:g}" for name, value in family.making.items()]
    if family.note:
        uses.append(family.note)
    return ", ".join(uses)


def _fits_here() -> Callable[[Family], str]:
    """A function that says how a model runs on the device that a worker here would choose."""
    if not is_installed("models"):
        return lambda _: "needs the extra models"

    device = choose_device()
    if device.type != "cuda":
        return lambda _: f"slowly, on the {device.type.upper()}"

    name = torch.cuda.get_device_name(device)
    memory_gb = gpu_memory_gb()
    offload = f"with making.offload=model, on {name} of {memory_gb:.0f} GB"
    return lambda family: f"yes, on {name}" if family.memory_gb <= memory_gb else offload
