"""Acceptance of a job's candidates in tables and words: by query, a second and a unit of money."""

from collections.abc import Iterable
from contextlib import suppress

import numpy as np
import pandas as pd

from cobalance.base import CobalanceError, inflect, text_if
from cobalance.generation import JobSettings, estimate_acceptance, read_job_settings
from cobalance.graph import Job
from cobalance.workflows.cells import duration_text


def add_acceptance(job: Job, queries: pd.DataFrame) -> pd.DataFrame:
    """Add the acceptance of a job's queries to their table.

    Parameters
    ----------
    queries : pandas.DataFrame
        From `cobalance.graph.read_queries`.

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
    made = accepted + queries["rejected"] + queries["pending"]
    limits = n * settings.candidates_per_image * (queries["retries"] + 1)
    estimate = estimate_acceptance(n, accepted, made, limits, queries["surplus"])

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
    """Sentences on what a job has accepted in time and money, and on what is still to come."""
    sentences = []
    if job.accepted and job.accepted_per_second is not None:
        money = text_if(
            job.accepted_per_money, f" and {job.accepted_per_money or 0:,.3g} for a unit of money"
        )
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
