"""Frames of jobs, tasks and candidates, and any frame as CSV and JSON."""

import json
import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from cobalance.graph.jobs.candidate_pages import Candidate
from cobalance.graph.jobs.status import Job
from cobalance.graph.tasks.status import Task


def to_csv(frame: pd.DataFrame) -> bytes:
    r"""A frame as CSV in UTF-8 with a line of column names; lists in cells are JSON text.

    Examples
    --------
    >>> to_csv(pd.DataFrame({"concepts": [("cow", "road")], "images": [3]})).decode()
    'concepts,images\n"[""cow"", ""road""]",3\n'
    """
    return frame.map(_as_json_if_list).to_csv(index=False, lineterminator="\n").encode()


def to_json(frame: pd.DataFrame) -> bytes:
    """A frame as a JSON list of objects; missing and infinite values are null.

    Examples
    --------
    >>> to_json(pd.DataFrame({"lift": [1.5, float("inf")]})).decode().split()
    ['[', '{', '"lift":', '1.5', '},', '{', '"lift":', 'null', '}', ']']
    """
    rows = [
        {name: _json_value(value) for name, value in row.items()}
        for row in frame.to_dict(orient="records")
    ]
    return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode()


def jobs_frame(found: Iterable[Job]) -> pd.DataFrame:
    """A row for each job: state, counts of images, workers."""
    return pd.DataFrame(
        [
            (
                job.id,
                job.dataset,
                job.plan,
                job.state,
                job.wanted,
                job.accepted,
                job.rejected,
                job.pending,
                job.queries["failed"],
                job.workers,
                job.created_at and job.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
            for job in found
        ],
        columns=[
            *("job", "dataset", "plan", "state", "wanted", "accepted", "rejected", "pending"),
            *("failed_queries", "workers", "created_at"),
        ],
    )


def tasks_frame(found: Iterable[Task]) -> pd.DataFrame:
    """A row for each task: what it is, state, progress, time left in its stage, workers."""
    names = ["kind", "dataset", "state", "stage", "done", "total", "seconds_left"]
    names += ["extra", "workers", "hosts", "error"]
    rows = [
        [
            task.id,
            *(", ".join(task.hosts) if name == "hosts" else getattr(task, name) for name in names),
            task.created_at and task.created_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        ]
        for task in found
    ]
    return pd.DataFrame(rows, columns=["task", *names, "created_at"]).astype(
        {"done": "Int64", "total": "Int64", "seconds_left": "float64"}
    )


def candidates_frame(found: Iterable[Candidate]) -> pd.DataFrame:
    """A row for each candidate: class and concepts, verdict, scores, and the image's location."""
    columns = [
        *("id", "query", "class_name", "concepts", "verdict", "rank", "reason", "scores", "uri"),
        *("source_image", "source_uri", "mask_uri", "seed", "seconds", "decided_by", "created_at"),
    ]
    rows = [[getattr(candidate, name) for name in columns] for candidate in found]
    return pd.DataFrame(rows, columns=columns)


def _as_json_if_list(value: Any) -> Any:
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(_json_value(value), ensure_ascii=False)
    return value


def _json_value(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_json_value(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _json_value(part) for key, part in value.items()}
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if hasattr(value, "item"):
        return _json_value(value.item())
    return value
