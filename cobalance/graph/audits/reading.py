"""Read audits and their answers."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd

from cobalance.graph.audits import statements
from cobalance.graph.database.store import GraphStore, Row
from cobalance.graph.errors import NotFoundError
from cobalance.graph.jobs.lifecycle import utc_time

LABELS = ("image", "uri", "concept", "class_name", "labelled")
TASKS = ("person", "label")
COUNTS = ("concept", "class_name", "labelled", "unlabelled")
CLIQUES = "cliques"
"""The setting with the concepts of each clique that is checked as one, by its name."""


@dataclass(frozen=True, eq=False)
class Audit:
    """An audit of a labelling run.

    Parameters
    ----------
    id, dataset, run : str
        Its own name, and those of its dataset and run.
    people : tuple of str
        Names, or addresses where people log in.
    concepts : tuple of str
        Whose labels are checked; a clique by its name, see `members`.
    labels : pandas.DataFrame
        What is checked, as it was when it was drawn: `LABELS`, an image and concept once.
    tasks : pandas.DataFrame
        Who checks which label, in order: `TASKS`, positions in `people` and `labels`.
    counts : pandas.DataFrame
        Images with and without the label, of each concept and class: `COUNTS`.
    settings : mapping
        What the sample was drawn with.
    created_by : str
        Who created it; empty without a login.
    created_at : datetime or None
        In UTC.
    """

    id: str
    dataset: str
    run: str
    people: tuple[str, ...]
    concepts: tuple[str, ...]
    labels: pd.DataFrame
    tasks: pd.DataFrame
    counts: pd.DataFrame
    settings: Mapping[str, Any]
    created_by: str
    created_at: datetime | None

    def members(self, concept: str) -> tuple[str, ...]:
        """The concepts that a checked image shows all of: of a clique several, ascending."""
        return tuple(self.settings.get(CLIQUES, {}).get(concept, (concept,)))

    def labels_of(self, person: str) -> pd.DataFrame:
        """The labels that a person checks, in order; none for others."""
        at = self.people.index(person) if person in self.people else -1
        own = self.tasks.loc[self.tasks["person"] == at, "label"]
        return self.labels.iloc[own].reset_index(drop=True)


def clique_name(concepts: Collection[str]) -> str:
    """What a clique is called where its labels are checked.

    Examples
    --------
    >>> clique_name(["road", "cow"])
    'cow + road'
    """
    return " + ".join(sorted(concepts))


def read_audit(store: GraphStore, audit: str) -> Audit:
    """Read an audit; NotFoundError if there is none of that id."""
    rows = store.read(statements.AUDIT_OF_ID, audit=audit)
    if not rows:
        raise NotFoundError("audit", audit)
    return _audit(rows[0]["audit"])


def audits_of_run(store: GraphStore, run: str) -> list[Audit]:
    """List a run's audits, newest first."""
    return [_audit(row["audit"]) for row in store.read(statements.AUDITS_OF_RUN, run=run)]


def audits_of_dataset(store: GraphStore, dataset: str) -> list[Audit]:
    """List the audits of all runs of a dataset, newest first."""
    rows = store.read(statements.AUDITS_OF_DATASET, dataset=dataset)
    return [_audit(row["audit"]) for row in rows]


def read_answers(store: GraphStore, audit: str, person: str | None = None) -> pd.DataFrame:
    """Read an audit's answers; all, or those of a person.

    Returns
    -------
    pandas.DataFrame
        ``image``, ``concept``, ``person``, ``answer``.
    """
    return store.read_frame(statements.ANSWERS, audit=audit, person=person)


def _audit(stored: Row) -> Audit:
    return Audit(
        id=stored["id"],
        dataset=stored["dataset"],
        run=stored["run"],
        people=tuple(stored["people"]),
        concepts=tuple(stored["concepts"]),
        labels=_frame(stored["labels"], LABELS),
        tasks=_frame(stored["tasks"], TASKS).astype("int64"),
        counts=_frame(stored["counts"], COUNTS),
        settings=json.loads(stored["settings"]),
        created_by=stored["created_by"] or "",
        created_at=utc_time(stored["created_at"]),
    )


def _frame(stored: str, columns: tuple[str, ...]) -> pd.DataFrame:
    return pd.DataFrame(json.loads(stored), columns=list(columns))
