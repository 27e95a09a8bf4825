"""Progress of a job, as text and as a bar in a notebook."""

from dataclasses import dataclass

import pandas as pd

from cobalance.display import Result, card, table_html
from cobalance.graph.jobs.status import Job
from cobalance.graph.safe_text import safe_text
from cobalance.workflows.work.tables import jobs_frame


@dataclass(frozen=True, eq=False, repr=False)
class JobProgress(Result):
    """Progress of a job; `record` has its state, counts, workers and times."""

    record: Job

    @property
    def state(self) -> str:
        """``queued``, ``running``, ``done``, ``failed`` or ``cancelled``."""
        return self.record.state

    @property
    def share(self) -> float:
        """Share of the wanted images that are accepted, from 0 to 1."""
        return self.record.progress

    @property
    def frame(self) -> pd.DataFrame:
        """One row: what `Store.jobs` says of the job."""
        return jobs_frame([self.record])

    def title(self) -> str:
        """One line."""
        job = self.record
        made = ""
        if job.is_active and job.best_of > 1:
            made = ", {:,} of {:,} candidates made".format(*job.steps)
        left = "" if job.seconds_left is None else f", about {job.seconds_left:,.0f} s left"
        return (
            f"Job {job.id} is {job.state}: {job.covered:,} of {job.wanted:,} images accepted, "
            f"{job.rejected:,} rejected{made}, {job.workers:,} workers{left}"
        )

    def __repr__(self) -> str:
        return safe_text("\n".join([self.title(), *self.record.remarks]))

    def _repr_html_(self) -> str:
        done = f"{100 * self.share:.1f}%"
        bar = (
            '<div style="border:1px solid rgba(128,128,128,.4);border-radius:3px;height:.8em;'
            f"max-width:30em;background:linear-gradient(to right,#3aa675 {done},transparent {done})"
            '"></div>'
        )
        return card(self.title(), bar, table_html(pd.DataFrame({"note": self.record.remarks})))
