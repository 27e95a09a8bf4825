"""Tables of jobs, tasks and candidates."""

from collections.abc import Iterable
from datetime import datetime

import pandas as pd

from cobalance.graph.jobs.candidate_pages import Candidate
from cobalance.graph.jobs.status import Job
from cobalance.graph.tasks.lifecycle import Task


def jobs_frame(found: Iterable[Job]) -> pd.DataFrame:
    """A row for each job: state, counts of images, workers."""
    names = ["dataset", "plan", "state", "wanted", "accepted", "rejected", "pending"]
    rows = [
        [
            job.id,
            *(getattr(job, name) for name in names),
            job.queries["failed"],
            job.workers,
            _utc_text(job.created_at),
        ]
        for job in found
    ]
    return pd.DataFrame(rows, columns=["job", *names, "failed_queries", "workers", "created_at"])


def tasks_frame(found: Iterable[Task]) -> pd.DataFrame:
    """A row for each task: kind, state, progress, time left in its stage, workers."""
    names = ["kind", "dataset", "state", "stage", "done", "total", "seconds_left"]
    names += ["extra", "workers", "hosts", "error"]
    rows = [
        [
            task.id,
            *(", ".join(task.hosts) if name == "hosts" else getattr(task, name) for name in names),
            _utc_text(task.created_at),
        ]
        for task in found
    ]
    return pd.DataFrame(rows, columns=["task", *names, "created_at"]).astype(
        {"done": "Int64", "total": "Int64", "seconds_left": "float64"}
    )


def _utc_text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def candidates_frame(found: Iterable[Candidate]) -> pd.DataFrame:
    """A row for each candidate: class and concepts, verdict, scores, and the image's location."""
    columns = [
        *("id", "query", "class_name", "concepts", "verdict", "rank", "reason", "scores", "uri"),
        *("source_image", "source_uri", "mask_uri", "seed", "seconds", "decided_by", "created_at"),
    ]
    rows = [[getattr(candidate, name) for name in columns] for candidate in found]
    return pd.DataFrame(rows, columns=columns)
