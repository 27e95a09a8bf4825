"""Progress of jobs and their queries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from cobalance.base import NO_LIMIT, inflect, require_one, text_if
from cobalance.graph.database import JOB, GraphStore, Row
from cobalance.graph.jobs import reads
from cobalance.graph.jobs.lifecycle import QUERY_STATES, JobState, QueryState, query_id
from cobalance.graph.jobs.reports import ALIVE_S


@dataclass(frozen=True)
class Job:
    """A job and its progress, as `cobalance.graph.database.job_nodes.JOB` says.

    Parameters
    ----------
    state : JobState
        As in `cobalance.graph.jobs.lifecycle`.
    created_by, error, note : str
        Empty where there is none.
    created_at, started_at, ended_at : datetime or None
        In UTC.
    queries : mapping of QueryState to int
        How many of its queries are in each state.
    accepted : int
        Of all candidates: by hand, more may be accepted than wanted.
    seconds : float
        What all candidates took, on whichever workers.
    workers : int
        Workers alive that are at it, or at nothing and could take it.
    dataset_changed : bool
        Whether images of the dataset have changed since it was ordered.
    best_of : int
        1 before the first round.
    unmade : int
        0 where none are to choose from.
    expected, expected_low, expected_high : int or None
        Candidates at its end, as the acceptance was when its round began; None before the second
        round, and where the best of several are chosen.
    requested : int or None
        Images that servers were asked for; None where none was.
    """

    id: str
    dataset: str
    plan: str
    state: JobState
    settings: Mapping[str, Any]
    extra: str | None
    created_by: str
    error: str
    note: str
    created_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    queries: Mapping[QueryState, int]
    short: int
    wanted: int
    covered: int
    accepted: int
    rejected: int
    remaining: int
    seconds: float
    workers: int
    dataset_changed: bool = False
    pending: int = 0
    best_of: int = 1
    unmade: int = 0
    expected: int | None = None
    expected_low: int | None = None
    expected_high: int | None = None
    requested: int | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks for people: why the job failed, notes on its images, changes since."""
        remarks = [self.error, self.note]
        if self.requested is not None:
            remarks.append(self._describe_spending(self.requested))

        if self.dataset_changed:
            remarks.append(
                f"Images of {self.dataset!r} have changed since this job was ordered: it is about "
                "the classes and concepts they had then."
            )
        if self.state in ("queued", "running") and not self.workers:
            remarks.append(waits_for(self.extra))
        return tuple(filter(None, remarks))

    def _describe_spending(self, n_images: int) -> str:
        price = self._image_price
        cost = text_if(price, f", which cost {n_images * price:,.2f} at most")
        return f"Servers were asked for {inflect(n_images, 'images')}{cost}."

    @property
    def is_active(self) -> bool:
        """Whether it has not ended."""
        return self.state in ("preparing", "queued", "running")

    @property
    def progress(self) -> float:
        """Accepted share of the wanted images, from 0 to 1.

        While a job makes several candidates of each image, it is the share of these that are made.
        """
        done, wanted = self.steps
        return done / wanted if wanted else 0.0

    @property
    def steps(self) -> tuple[int, int]:
        """How many steps are done, and of how many: candidates made, where the best are chosen.

        In a job that makes one candidate of an image, or has ended, they are the accepted images.
        """
        candidates = self.wanted * self.best_of
        if self.best_of == 1 or not self.is_active:
            return self.covered * self.best_of, candidates

        return min(self.made, candidates - self.unmade), candidates

    @property
    def made(self) -> int:
        """All candidates so far."""
        return self.accepted + self.rejected + self.pending

    @property
    def seconds_per_image(self) -> float | None:
        """Measured time per accepted image, including rejected ones.

        With several candidates of each image it is the time of so many of them.
        """
        candidates = self.made if self.best_of > 1 else self.accepted
        if not candidates or not self.seconds:
            return None
        return self.best_of * self.seconds / candidates

    @property
    def seconds_left(self) -> float | None:
        """Estimated time left at the rate so far with its workers; None without a measurement.

        With no worker alive it is the time that one would need.
        """
        if not self.is_active or self.seconds_per_image is None:
            return None
        candidates_left = self.candidates_left
        if candidates_left is not None:
            seconds = candidates_left[0] * self.seconds / self.made
        else:
            # Of the candidates to choose from, so many count as an image.
            images = self.unmade / self.best_of if self.best_of > 1 else self.remaining
            seconds = images * self.seconds_per_image
        return seconds / max(self.workers, 1)

    @property
    def candidates_left(self) -> tuple[int, int, int] | None:
        """Candidates still to make, and both limits of their 95% interval; None if unknown."""
        totals = self.expected, self.expected_low, self.expected_high
        if not self.is_active or not self.made or None in totals:
            return None
        likely, low, high = (max(0, (total or 0) - self.made) for total in totals)
        return likely, low, high

    @property
    def accepted_per_second(self) -> float | None:
        """Accepted images a second of a worker's time; None without a measurement."""
        seconds = self.seconds_per_image
        return None if seconds is None else 1 / seconds

    @property
    def cost(self) -> float | None:
        """Cost of the candidates so far by the prices of its settings; None without a price."""
        hour_price = self.settings.get("hour_price")
        if hour_price is None and not self._image_price:
            return None
        # A server is paid for each request, one that gave no candidate included.
        n_paid = self.made if self.requested is None else self.requested
        return self.seconds / 3600 * (hour_price or 0.0) + n_paid * self._image_price

    @property
    def _image_price(self) -> float:
        """Price of an image from a server; 0 where this machine makes them."""
        return self.settings.get("making", {}).get("price") or 0.0

    @property
    def cost_left(self) -> float | None:
        """Estimated cost of the candidates still to make; None without a price or an estimate."""
        candidates_left = self.candidates_left
        if self.cost is None or candidates_left is None:
            return None
        return candidates_left[0] * self.cost / self.made

    @property
    def accepted_per_money(self) -> float | None:
        """Accepted images for a unit of the price's currency; None where nothing was paid."""
        return self.accepted / self.cost if self.cost else None


def waits_for(extra: str | None) -> str:
    """Say that a job or task waits for a worker with plug-ins; empty if it needs none."""
    # The first need is an extra of the package, or nothing.
    _, *plugins = (extra or "").split(", ")
    return f"It waits for a worker that has the {' and the '.join(plugins)}." if plugins else ""


def list_jobs(store: GraphStore, dataset: str | None, *, limit: int = 100) -> list[Job]:
    """List the jobs of a dataset, or of all for None; newest first."""
    rows = store.read(
        reads.JOBS if dataset is None else reads.JOBS_OF_DATASET,
        dataset=dataset,
        limit=limit,
        alive_ms=int(ALIVE_S * 1000),
    )
    return [_job(row) for row in rows]


def read_job(store: GraphStore, job: str) -> Job:
    """Read a job; raises NotFoundError."""
    rows = store.read(reads.JOB, job=job, alive_ms=int(ALIVE_S * 1000))
    return _job(require_one(rows, "job", job))


def read_queries(
    store: GraphStore,
    job: str,
    *,
    state: QueryState | None = None,
    skip: int = 0,
    limit: int | None = None,
    seconds_per_image: float | None = None,
) -> pd.DataFrame:
    """Read a job's queries in the order to run them.

    Parameters
    ----------
    state, skip, limit
        Only those in this state; skip this many, and return at most this many.
    seconds_per_image : float or None
        The job's own rate, for queries that have none yet; see `Job.seconds_per_image`.

    Returns
    -------
    pandas.DataFrame
        ``id``, ``position``, ``class_name``, ``concepts`` (tuple of str), ``n``, ``state``,
        ``accepted``, ``rejected``, ``pending``, ``seconds``, ``message``, ``retries``, ``surplus``;
        ``seconds_left``, what one worker needs for the images that are missing, at the query's own
        rate or else the job's; NaN where it has ended, and where nothing is measured yet.
    """
    # Positions leave no gap, so that the ids of a page are known.
    by_id = state is None and limit is not None
    frame = store.read_frame(
        reads.QUERIES_BY_ID if by_id else reads.QUERIES,
        job=job,
        state=state,
        skip=skip,
        limit=NO_LIMIT if limit is None else limit,
        ids=[query_id(job, position) for position in range(skip, skip + (limit or 0))],
    )
    frame["concepts"] = frame["concepts"].map(tuple)
    accepted = frame["accepted"].astype(np.float64)
    best_of = frame.pop("best_of").astype(np.float64)
    further = frame.pop("more").astype(np.float64)

    # Where the best of several candidates are chosen, so many of them count as an image.
    candidates = accepted + frame["rejected"] + frame["pending"]
    images = accepted.where(best_of == 1, candidates / best_of)
    missing = (frame["n"].astype(np.float64) + further / best_of - images).clip(lower=0)

    own_rate = frame["seconds"].astype(np.float64) / images.where(images > 0)
    rate = own_rate.where(own_rate > 0).fillna(seconds_per_image or np.nan)
    is_open = frame["state"].isin(["queued", "running"])
    frame["seconds_left"] = (missing * rate).where(is_open)
    return frame


def read_speeds(store: GraphStore, *, limit: int = 20) -> pd.DataFrame:
    """Measured time per image of the latest jobs of all datasets.

    Returns
    -------
    pandas.DataFrame
        ``job``, ``dataset``, ``plan``, ``settings`` (JSON), ``images`` accepted, ``best_of`` and
        ``seconds_per_candidate``; ``seconds_per_image``, the time of the rejected ones included, is
        that of `best_of` candidates where the best is chosen. Newest first.
    """
    return store.read_frame(reads.SPEEDS, limit=limit)


def _job(row: Row) -> Job:
    """The job of a row, whose node counts its queries by state and its time in microseconds."""
    stored = JOB.parse(row.pop("job"))
    queries = {state: stored.pop(state) for state in QUERY_STATES}
    seconds = stored.pop("microseconds") / 1e6

    texts = {name: stored[name] or "" for name in ("error", "note")}
    return Job(queries=queries, seconds=seconds, **stored | row | texts)
