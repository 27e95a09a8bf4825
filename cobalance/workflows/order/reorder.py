"""Order the images that a job's queries fell short of with another recipe or other sources."""

from collections.abc import Mapping, Sequence
from typing import Any

from cobalance.base import DataError, PlannedQuery, Progress, silent
from cobalance.graph import GraphStore, Job, drop_short, read_job, read_query_progress
from cobalance.workflows.order.job import order_plan

_OF_ANY_RECIPE = ("hour_price", "image_price", "without_images")
"""Settings that stay with another recipe."""


def settings_again(job: Job, recipe: str | None = None) -> dict[str, Any]:
    """The settings of a job to order with again, or those that another recipe can have, too."""
    settings = dict(job.settings)
    # Whether there is a pilot follows from the images that are ordered.
    settings.pop("pilot", None)
    if recipe is None:
        return settings
    return {
        "recipe": recipe,
        **{name: settings[name] for name in _OF_ANY_RECIPE if name in settings},
    }


def reorder_short(
    store: GraphStore,
    job: str,
    settings: Mapping[str, Any],
    progress: Progress = silent,
    *,
    places: Sequence[str],
    created_by: str = "",
) -> str:
    """Create a job for the images that another one fell short of, and return its id.

    They are no longer wanted of the other job, as with `drop_short`.

    Parameters
    ----------
    job : str
        The job with queries that are done with too few images.
    settings, places, created_by
        As `cobalance.workflows.order.job.order_plan` takes them.

    Raises
    ------
    NotFoundError
        There is no such job.
    DataError
        None of its queries is short.
    OptionError
        The settings do not suit them.
    """
    earlier = read_job(store, job)
    queries = [
        PlannedQuery(
            query.class_name, query.concepts, query.n - query.accepted, query.edit, query.sources
        )
        for query in read_query_progress(store, job)
        if query.state == "done" and query.accepted < query.n
    ]
    if not queries:
        raise DataError(
            f"No query of job {job!r} has given up with fewer images than wanted, so that there is "
            "nothing to order again."
        )

    new_job = order_plan(
        store,
        earlier.dataset,
        earlier.plan,
        queries,
        settings,
        progress,
        places=places,
        created_by=created_by,
    )
    drop_short(store, job)
    return new_job
