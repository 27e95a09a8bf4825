"""Part of a report on the jobs of its plan: acceptance by query, accepted in time and money."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from cobalance.base import NO_LIMIT, inflect
from cobalance.graph import ALIVE_S, GraphStore, Job, list_jobs, read_queries
from cobalance.statistics import proportions
from cobalance.workflows.cells import is_missing
from cobalance.workflows.report.markup import Column, paragraph, table
from cobalance.workflows.work.tables import acceptance_texts, add_acceptance

MAX_JOBS = 5
MAX_QUERIES = 20
JOBS_READ = {"limit": 100, "alive_ms": int(1000 * ALIVE_S)}
"""Parameters with which jobs are read."""
QUERIES_READ = {"state": None, "skip": 0, "limit": NO_LIMIT}
"""Parameters with which a job's queries are read."""


def read_making(store: GraphStore, dataset: str, plan: str) -> tuple[list[Job], pd.DataFrame]:
    """Read the newest jobs of a plan, and the queries of the first with its acceptance."""
    jobs = [job for job in list_jobs(store, dataset) if job.plan == plan][:MAX_JOBS]
    if not jobs:
        return [], pd.DataFrame()
    return jobs, add_acceptance(jobs[0], read_queries(store, jobs[0].id))


def draw_making(jobs: Sequence[Job], queries: pd.DataFrame) -> Iterator[str]:
    """Draw the jobs of a plan, and the queries of the newest with the lowest acceptance."""
    if not jobs:
        return
    yield table("Jobs that make it", _job_columns(jobs))

    judged = queries[queries["acceptance"].notna()]
    if judged.empty:
        return
    lowest = judged.sort_values(["acceptance_high", "position"]).head(MAX_QUERIES)
    yield table(
        f"Queries of job {jobs[0].id} with the lowest acceptance, by its upper limit",
        [
            Column("class", lowest["class_name"].tolist()),
            Column("concepts", list(map(tuple, lowest["concepts"]))),
            Column("accepted", lowest["accepted"].tolist(), True),
            Column("wanted", lowest["n"].tolist(), True),
            Column("of the candidates, %", acceptance_texts(lowest), True),
        ],
    )
    n_short = int(((judged["state"] == "done") & (judged["accepted"] < judged["n"])).sum())
    if n_short:
        words = f"{inflect(n_short, 'queries')} of it gave up with fewer images than wanted."
        yield paragraph(words)


def _job_columns(jobs: Sequence[Job]) -> list[Column]:
    """A row for each job."""
    # Where the best of several are chosen, filters reject none of them as such.
    accepted = np.array([job.accepted for job in jobs], dtype=np.float64)
    judged = np.array([job.made if job.best_of == 1 else 0 for job in jobs], dtype=np.float64)
    shares = pd.DataFrame(
        np.transpose(proportions(accepted, judged)),
        columns=["acceptance", "acceptance_low", "acceptance_high"],
    )

    return [
        Column("job", [job.id for job in jobs]),
        Column("state", [job.state for job in jobs]),
        Column("wanted", [job.wanted for job in jobs], True),
        Column("accepted", [job.accepted for job in jobs], True),
        Column("candidates", [job.made for job in jobs], True),
        Column("accepted, %", acceptance_texts(shares), True),
        Column("accepted a second", [_rate_text(job.accepted_per_second) for job in jobs], True),
        Column("for a unit of money", [_rate_text(job.accepted_per_money) for job in jobs], True),
    ]


def _rate_text(rate: float | None) -> str:
    return "" if is_missing(rate) else f"{rate:.3g}"
