"""Tables of jobs, tasks and candidates."""

from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter

import pandas as pd

from cobalance.graph import Candidate, Job, Task


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
