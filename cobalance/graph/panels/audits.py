"""Audits: a sample of a run's labels that people check."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cobalance.base import plain_values
from cobalance.graph.annotations import read_run
from cobalance.graph.database import GraphStore, Row
from cobalance.graph.panels.panel import Panel, create_panel
from cobalance.graph.panels.statements import AUDIT_KIND

LABELS = ("image", "uri", "concept", "class_name", "labelled")
TASKS = ("person", "label")
COUNTS = ("concept", "class_name", "labelled", "unlabelled")
CLIQUES = "cliques"
"""The setting with the concepts of each clique that is checked as one, by its name."""


@dataclass(frozen=True, eq=False)
class Audit(Panel):
    """An audit of a labelling run.

    Parameters
    ----------
    run : str
        The id of the run.
    concepts : tuple of str
        Whose labels are checked; a clique by its name, see `members`.
    labels : pandas.DataFrame
        What is checked, as it was when it was drawn: `LABELS`, an image and concept once.
    tasks : pandas.DataFrame
        Who checks which label, in order: `TASKS`, positions in `people` and `labels`.
    counts : pandas.DataFrame
        Images with and without the label, of each concept and class: `COUNTS`.
    """

    kind = AUDIT_KIND

    run: str
    concepts: tuple[str, ...]
    labels: pd.DataFrame
    tasks: pd.DataFrame
    counts: pd.DataFrame

    @classmethod
    def parse(cls, stored: Row) -> dict[str, Any]:
        """See `Panel.parse`."""
        return super().parse(stored) | {
            "concepts": tuple(stored["concepts"]),
            "labels": pd.DataFrame(stored["labels"], columns=list(LABELS)),
            "tasks": pd.DataFrame(stored["tasks"], columns=list(TASKS), dtype="int64"),
            "counts": pd.DataFrame(stored["counts"], columns=list(COUNTS)),
        }

    def members(self, concept: str) -> tuple[str, ...]:
        """The concepts that a checked image shows all of: of a clique several, ascending."""
        return tuple(self.settings.get(CLIQUES, {}).get(concept, (concept,)))

    def labels_of(self, person: str) -> pd.DataFrame:
        """The labels that a person checks, in order; none for others."""
        position = self.people.index(person) if person in self.people else -1
        rows = self.tasks.loc[self.tasks["person"] == position, "label"]
        return self.labels.iloc[rows].reset_index(drop=True)


def clique_name(concepts: Collection[str]) -> str:
    """Name of a clique whose labels are checked."""
    return " + ".join(sorted(concepts))


def create_audit(
    store: GraphStore,
    run: str,
    *,
    people: Sequence[str],
    labels: pd.DataFrame,
    tasks: pd.DataFrame,
    counts: pd.DataFrame,
    settings: Mapping[str, Any] | None = None,
) -> str:
    """Create an audit of a run's labels, see `Audit`, and return its id.

    Raises
    ------
    NotFoundError
        There is no such run.
    StaleError, ConflictError
        Its dataset is being loaded, dropped or renamed.
    """
    return create_panel(
        store,
        AUDIT_KIND,
        read_run(store, run).dataset,
        run,
        people=people,
        settings=settings,
        concepts=list(dict.fromkeys(plain_values(counts["concept"]))),
        labels=_text(labels, LABELS),
        tasks=_text(tasks, TASKS),
        counts=_text(counts, COUNTS),
    )


def _text(frame: pd.DataFrame, columns: Sequence[str]) -> str:
    rows = zip(*(plain_values(frame[name]) for name in columns), strict=True)
    return json.dumps([list(row) for row in rows], ensure_ascii=False)
