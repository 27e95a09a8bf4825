"""Tables of jobs, tasks, candidates and models."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from operator import attrgetter

import numpy as np
import pandas as pd

from cobalance.base import CobalanceError, inflect, is_installed, torch
from cobalance.generation import (
    FAMILIES,
    Family,
    JobSettings,
    candidate_limit,
    estimate_acceptance,
    read_job_settings,
)
from cobalance.graph import Candidate, Job, Task
from cobalance.vision import choose_device, gpu_memory_gb
from cobalance.workflows.cells import duration_text


def jobs_frame(jobs: Iterable[Job]) -> pd.DataFrame:
    """A row for each job: state, counts of images, workers."""
    names = ["dataset", "plan", "state", "wanted", "accepted", "rejected", "pending"]
    read = attrgetter(*names)
    rows = [
        [job.id, *read(job), job.queries["failed"], job.workers, _utc_text(job.created_at)]
        for job in jobs
    ]
    return pd.DataFrame(rows, columns=["job", *names, "failed_queries", "workers", "created_at"])


def add_acceptance(job: Job, queries: pd.DataFrame) -> pd.DataFrame:
    """Add the acceptance of a job's queries to their table.

    Parameters
    ----------
    queries : pandas.DataFrame
        From `cobalance.graph.jobs.status.read_queries`.

    Returns
    -------
    pandas.DataFrame
        The table with ``acceptance``, ``acceptance_low`` and ``acceptance_high``, the share of
        accepted candidates and its 95% interval, and ``to_make``, the candidates that an open query
        has yet to make. They are NaN without candidates, and where the best of several are chosen,
        which are accepted whatever the filters reject.
    """
    # Settings of a plug-in that is gone cannot be read here.
    settings = JobSettings()
    with suppress(CobalanceError):
        settings = read_job_settings(job.settings)

    n, accepted = queries["n"], queries["accepted"]
    candidates = accepted + queries["rejected"] + queries["pending"]
    limits = candidate_limit(n, queries["retries"], settings.candidates_per_image)
    estimate = estimate_acceptance(n, accepted, candidates, limits, queries["surplus"])

    is_open = queries["state"].isin(["queued", "running"]).to_numpy()
    columns = {
        "acceptance": estimate["acceptance"],
        "acceptance_low": estimate["low"],
        "acceptance_high": estimate["high"],
        "to_make": estimate["to_make"].where(is_open),
    }

    if job.best_of > 1:
        columns = dict.fromkeys(columns, pd.Series(np.nan, queries.index))

    return queries.assign(**{name: column.to_numpy() for name, column in columns.items()})


def acceptance_texts(queries: pd.DataFrame) -> list[str]:
    """The acceptance of each query with its interval, as text; empty where it is unknown.

    Examples
    --------
    >>> columns = ["acceptance", "acceptance_low", "acceptance_high"]
    >>> acceptance_texts(pd.DataFrame([[0.5, 0.31, 0.69], [np.nan] * 3], columns=columns))
    ['50% (31 to 69)', '']
    """
    rates: Iterable[tuple[float, float, float]] = zip(
        queries["acceptance"], queries["acceptance_low"], queries["acceptance_high"], strict=True
    )
    return [
        "" if pd.isna(share) else f"{share:.0%} ({100 * low:.0f} to {100 * high:.0f})"
        for share, low, high in rates
    ]


def describe_pace(job: Job) -> list[str]:
    """Sentences on a job's accepted images in time and money, and on time and cost to its end."""
    sentences = []
    if job.accepted and job.accepted_per_second is not None:
        money = ""
        if job.accepted_per_money is not None:
            money = f" and {job.accepted_per_money:,.3g} for a unit of money"
        rate = f"{job.accepted_per_second:,.3g}"
        sentences.append(f"Accepted: {rate} images a second of a worker's time{money}.")

    if job.candidates_left is not None and job.seconds_left is not None:
        likely, low, high = job.candidates_left
        cost = "" if job.cost_left is None else f", for {job.cost_left:,.2f}"
        sentences.append(
            f"Still to make: about {inflect(likely, 'candidates')} ({low:,} to {high:,}), "
            f"{duration_text(job.seconds_left)} with "
            f"{inflect(max(job.workers, 1), 'workers')}{cost}."
        )
    return sentences


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
    """The options that a model asks for, and its note."""
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
