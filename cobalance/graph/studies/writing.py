"""Create human studies, and write what people answer."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from typing import Any

from cobalance.graph.database.panel_nodes import STUDY, STUDY_ANSWER
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.errors import ConflictError, NotFoundError, StoreError
from cobalance.graph.jobs.status import read_job
from cobalance.graph.studies import statements
from cobalance.graph.studies.reading import Assignment, StudyPair, read_study


def create_study(
    store: GraphStore,
    job: str,
    *,
    groups: Sequence[str],
    people: Sequence[str],
    pairs: Sequence[StudyPair],
    assignments: Sequence[Assignment],
    settings: Mapping[str, Any] | None = None,
    created_by: str = "",
) -> str:
    """Create a study of a job's images, and return its id.

    Raises
    ------
    NotFoundError
        There is no such job.
    StaleError
        Its dataset is being loaded.
    """
    dataset = read_job(store, job).dataset
    dataset_state(store, dataset).require_complete()
    properties = {
        "groups": list(groups),
        "people": list(people),
        "pairs": json.dumps([asdict(pair) for pair in pairs], ensure_ascii=False),
        "tasks": json.dumps([astuple(each) for each in assignments]),
        "settings": json.dumps(dict(settings or {}), ensure_ascii=False, sort_keys=True),
        "created_by": created_by,
    }
    study = uuid.uuid4().hex[:16]
    row = {"key": study, "properties": STUDY.check(properties)}
    if not store.write(statements.CREATE_STUDY, job=job, row=row):
        raise StoreError(
            f"{dataset!r} is being dropped, renamed or loaded. Create the study again when that "
            "has ended."
        )
    return study


def save_answer(
    store: GraphStore, study: str, candidate: str, person: str, question: str, answer: str
) -> None:
    """Write a person's answer to a question about a pair, in place of an earlier one.

    Raises
    ------
    NotFoundError
        There is no such study, or its candidate is gone.
    ConflictError
        The study is closed.
    """
    properties = {
        "study": study,
        "candidate": candidate,
        "person": person,
        "question": question,
        "answer": answer,
    }
    row = {
        "key": [study, candidate, person, question],
        "properties": STUDY_ANSWER.check(properties),
    }
    (done,) = store.write(statements.SAVE_ANSWER, study=study, candidate=candidate, row=row)
    if done["written"]:
        return
    if read_study(store, study).closed_at is not None:
        raise ConflictError("The study is closed, and takes no more answers. Create another.")
    raise NotFoundError("candidate", candidate)


def close_study(store: GraphStore, study: str) -> None:
    """Take no more answers of a study; NotFoundError if there is none."""
    if not store.write(statements.CLOSE_STUDY, study=study):
        raise NotFoundError("study", study)
