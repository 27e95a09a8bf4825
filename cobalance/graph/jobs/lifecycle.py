"""Create, cancel and retry rebalancing jobs.

A job runs copies of its plan's queries, so that planning or mining anew does not change it. Each
copy keeps class, concepts, number of images and the image to edit as properties, and edges to its
class, and to its clique or that image, for as long as these exist.

A job is ``preparing`` while its queries are written, then ``queued``, ``running``, and at its end
``done``, ``failed`` (it could not go on) or ``cancelled``. A query is ``queued``, ``running``,
``done``, or ``failed`` with its job. Workers' reports are in `cobalance.graph.jobs.reports`, their
images in `cobalance.graph.jobs.candidates`, progress in `cobalance.graph.jobs.status`.

Every write takes the lock of its job first, so that any number of processes may write at once; so
do a drop and a rename of the dataset.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

from cobalance.base import (
    ConflictError,
    DataError,
    NotFoundError,
    PlannedQuery,
    Progress,
    StoreError,
    require_one,
    silent,
)
from cobalance.graph.database import JOB, JOB_COUNTERS, JOB_QUERY, GraphStore, Row, schema
from cobalance.graph.database.sync import batches
from cobalance.graph.dataset import (
    busy_dataset,
    check_images,
    check_name,
    edit_properties,
    state_with_names,
)
from cobalance.graph.jobs import reads, statements

JobState = Literal["preparing", "queued", "running", "done", "failed", "cancelled"]
QueryState = Literal["queued", "running", "done", "failed"]
Verdict = Literal["accepted", "rejected"]
CandidateState = Literal["pending", "accepted", "rejected"]

QUERY_STATES: tuple[QueryState, ...] = ("queued", "running", "done", "failed")
VERDICTS: tuple[Verdict, ...] = ("accepted", "rejected")
CANDIDATE_STATES: tuple[CandidateState, ...] = ("pending", *VERDICTS)

MAX_IMAGES = 10**9
"""Of a query."""


def create_job(
    store: GraphStore,
    dataset: str,
    plan: str,
    queries: Sequence[PlannedQuery],
    *,
    settings: Mapping[str, Any] | None = None,
    extra: str | None = None,
    created_by: str = "",
    job: str | None = None,
    progress: Progress = silent,
) -> str:
    """Create a job that runs a plan's queries, and return its id.

    Parameters
    ----------
    plan : str
        The plan's name. It need not be in the graph: the queries are copied.
    queries : sequence of PlannedQuery
        In the order in which to run them.
    settings : mapping, optional
        How to make the images, such as backend and preset; anything that JSON can hold.
    extra : str, optional
        What its workers need installed, as `cobalance.base.plugins.join_needs` says it; by
        default, any can make it.
    created_by : str
        Who orders it; empty without a login.
    job : str, optional
        The id to give it. With the id of a job whose creation was interrupted, this goes on; with
        that of a complete one, nothing changes. Without one, nothing is left of an interrupted job.

    Raises
    ------
    DataError
        There is no query, one asks for no images, two edit the same image to show the same group,
        or the dataset does not have an image that is to be edited.
    UnknownNameError
        A query names a class or concept that the dataset does not have; an image may be edited to
        show a group that is no class.
    NotFoundError, StaleError
        There is no such dataset, or it is not complete.
    """
    check_name(plan, "plan")
    queries = [PlannedQuery(*query) for query in queries]
    _check_queries(queries)
    _check_known(store, dataset, queries)

    settings = settings or {}
    properties = {
        "plan": plan,
        "settings": json.dumps(dict(settings), ensure_ascii=False),
        "recipe": settings.get("recipe"),
        "backend": settings.get("backend"),
        "extra": extra,
        "created_by": created_by,
        "state": "preparing",
        "complete": False,
        "attempt": 0,
        "best_of": 1,
        **{counter.name: 0 for counter in JOB_COUNTERS},
    }

    can_go_on = job is not None
    job = job or uuid.uuid4().hex[:16]
    try:
        _write_job(store, dataset, job, properties, queries, progress)
    except BaseException:
        # An interrupt, too: without its id nobody can go on with the job.
        if not can_go_on:
            with suppress(StoreError):
                store.write_in_batches(statements.DISCARD_QUERIES, job=job)
                store.write(statements.DISCARD_JOB, job=job)
        raise
    return job


def _write_job(
    store: GraphStore,
    dataset: str,
    job: str,
    properties: Mapping[str, Any],
    queries: Sequence[PlannedQuery],
    progress: Progress,
) -> None:
    """Write a job and its queries, or the rest of them after an interrupted call."""
    row = {"key": job, "properties": JOB.check(properties)}
    created = store.write(statements.CREATE_JOB, dataset=dataset, row=row)
    if not created:
        raise busy_dataset(dataset)
    if created[0]["state"] != "preparing":
        return

    rows = [_query_row(job, position, query) for position, query in enumerate(queries)]
    written = 0
    for batch in batches(rows):
        store.write_all(statements.ADD_QUERIES, len(batch), job=job, rows=batch)
        written += len(batch)
        progress("write job", written, len(rows))
    store.write(statements.COMPLETE_JOB, job=job)


def _query_row(job: str, position: int, query: PlannedQuery) -> Row:
    """Key and properties of a job's query."""
    class_name, concepts, n, edit, sources = query
    properties = {
        "position": position,
        "class_name": class_name,
        "concepts": list(concepts),
        "n": n,
        "sources": list(sources) or None,
        **edit_properties(edit),
        "state": "queued",
        "accepted": 0,
        "rejected": 0,
        "pending": 0,
        "seconds": 0.0,
        "message": "",
    }
    return {"key": query_id(job, position), "properties": JOB_QUERY.check(properties)}


def query_id(job: str, position: int) -> str:
    """Id of a job's query at a position, from 0."""
    return f"{job}/{position:06d}"


def cancel_job(store: GraphStore, job: str) -> JobState:
    """Cancel a job unless it has ended; return its state.

    Running queries are queued; reports of workers are still accepted. Raises NotFoundError.
    """
    row = require_one(store.write(statements.CANCEL_JOB, job=job), "job", job)
    return row["state"]


def retry_job(store: GraphStore, job: str, *, short: bool = False) -> int:
    """Queue a job's failed queries again; return their number.

    A cancelled job goes on with its remaining queries. Accepted candidates stay.

    Parameters
    ----------
    short : bool
        Also those that are done with fewer accepted images than wanted, because a worker gave up
        or a person has rejected some since.

    Raises
    ------
    NotFoundError
        There is no such job.
    ConflictError
        It was cancelled before all of its queries were written.
    """
    rows = store.write(statements.RETRY_JOB, job=job, short=short)

    if not rows:
        if store.read(reads.HAS_JOB, job=job):
            raise ConflictError(
                f"Job {job!r} was cancelled while it was being written, and has a part of its "
                "queries. Order the plan's images again."
            )
        raise NotFoundError("job", job)

    return rows[0]["queued"]


def drop_short(store: GraphStore, job: str) -> int:
    """Want no more images of queries that are done with too few; return how many these are.

    They keep what is accepted, and are no longer short. Raises NotFoundError.
    """
    words = ["Dropped: ", " of ", " images are enough."]
    rows = store.write(statements.DROP_SHORT, job=job, words=words)

    dropped: int = require_one(rows, "job", job)["dropped"]
    return dropped


def _check_queries(queries: Sequence[PlannedQuery]) -> None:
    """Raise DataError unless there are queries, each for images that no other asks for."""
    if not queries:
        raise DataError("The plan asks for no images. Choose cliques that have a gap.")

    seen = set[tuple[str, str]]()
    for class_name, concepts, n, edit, _ in queries:
        if not 1 <= n <= MAX_IMAGES or not (concepts or edit):
            raise DataError(
                f"A query for {class_name!r} with {concepts} asks for {n} images. Ask for 1 or "
                f"more, and {MAX_IMAGES:,} or fewer, with one concept or more."
            )
        if edit is None:
            continue
        if (class_name, edit.source_image) in seen:
            raise DataError(
                f"Two queries ask for the image {edit.source_image!r} edited to show "
                f"{class_name!r}. Keep one of them."
            )
        seen.add((class_name, edit.source_image))


def _check_known(store: GraphStore, dataset: str, queries: Sequence[PlannedQuery]) -> None:
    """Raise an error unless the dataset has the classes, concepts and images of all queries."""
    class_names, concepts, images = set[str](), set[str](), list[str]()
    for query in queries:
        concepts.update(query.concepts)
        if query.edit is None:
            class_names.add(query.class_name)
        else:
            images.append(query.edit.source_image)

    names = {schema.CLASS: sorted(class_names), schema.CONCEPT: sorted(concepts)}
    state_with_names(store, dataset, names)
    check_images(store, dataset, images)
