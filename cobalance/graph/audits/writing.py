"""Create audits, and write what people answer."""

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cobalance.graph.annotations.runs import read_run
from cobalance.graph.audits import statements
from cobalance.graph.audits.reading import COUNTS, LABELS, TASKS
from cobalance.graph.database.panel_nodes import AUDIT, AUDIT_ANSWER
from cobalance.graph.database.store import GraphStore
from cobalance.graph.dataset.state import dataset_state
from cobalance.graph.errors import NotFoundError, StoreError
from cobalance.graph.records import plain_values


def create_audit(
    store: GraphStore,
    run: str,
    *,
    people: Sequence[str],
    labels: pd.DataFrame,
    tasks: pd.DataFrame,
    counts: pd.DataFrame,
    settings: Mapping[str, Any] | None = None,
    created_by: str = "",
) -> str:
    """Create an audit of a run's labels, and return its id.

    Parameters
    ----------
    labels, tasks, counts : pandas.DataFrame
        As `cobalance.graph.audits.reading.Audit` has them.

    Raises
    ------
    NotFoundError
        There is no such run.
    StaleError
        Its dataset is being loaded.
    """
    dataset = read_run(store, run).dataset
    dataset_state(store, dataset).require_complete()
    properties = {
        "people": list(people),
        "concepts": list(dict.fromkeys(plain_values(counts["concept"]))),
        "labels": _text(labels, LABELS),
        "tasks": _text(tasks, TASKS),
        "counts": _text(counts, COUNTS),
        "settings": json.dumps(dict(settings or {}), ensure_ascii=False, sort_keys=True),
        "created_by": created_by,
    }
    audit = uuid.uuid4().hex[:16]
    row = {"key": audit, "properties": AUDIT.check(properties)}
    if not store.write(statements.CREATE_AUDIT, run=run, row=row):
        raise StoreError(
            f"{dataset!r} is being dropped, renamed or loaded. Create the audit again when that "
            "has ended."
        )
    return audit


def save_answers(store: GraphStore, audit: str, answers: pd.DataFrame) -> None:
    """Write what people answer, in place of earlier answers of theirs.

    Parameters
    ----------
    answers : pandas.DataFrame
        ``image``, ``concept``, ``person`` and ``answer``.

    Raises
    ------
    NotFoundError
        There is no such audit.
    """
    names = ("image", "concept", "person", "answer")
    rows = []
    for image, concept, person, answer in zip(
        *(plain_values(answers[name]) for name in names), strict=True
    ):
        values = {"image": image, "concept": concept, "person": person, "answer": answer}
        properties = AUDIT_ANSWER.check({"audit": audit, **values})
        rows.append({"key": [audit, image, concept, person], "properties": properties})
    if not rows:
        return
    (done,) = store.write(statements.SAVE_ANSWERS, audit=audit, rows=rows) or [{"written": 0}]
    if not done["written"]:
        raise NotFoundError("audit", audit)


def _text(frame: pd.DataFrame, columns: Sequence[str]) -> str:
    rows = zip(*(plain_values(frame[name]) for name in columns), strict=True)
    return json.dumps([list(row) for row in rows], ensure_ascii=False)
