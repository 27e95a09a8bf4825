"""Human studies: pairs of an edited image and its original that people judge."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from typing import Any

import pandas as pd

from cobalance.base import require_one
from cobalance.graph.database import GraphStore, Row
from cobalance.graph.jobs import read_job
from cobalance.graph.panels.panel import Panel, create_panel
from cobalance.graph.panels.statements import CLOSE_STUDY, PAIRS, STUDY_KIND


@dataclass(frozen=True)
class StudyPair:
    """An edited image and its original, as they were when the study was drawn.

    Parameters
    ----------
    candidate, original : str
        Ids of the candidate and of the image that was edited.
    uri, original_uri : str
        Where their files are.
    asked, own : str
        The group that was asked for, and the original's; that is empty where it is not known.
    sentence : str
        A sentence with a gap where a word for the group stands.
    """

    candidate: str
    original: str
    uri: str
    original_uri: str
    asked: str
    own: str
    sentence: str


@dataclass(frozen=True)
class Assignment:
    """A pair that a person judges: positions of both, and whether the original is on the left."""

    person: int
    pair: int
    original_first: bool


@dataclass(frozen=True)
class Study(Panel):
    """A human study, as `cobalance.graph.database.panel_nodes.STUDY` says.

    The assignments are in the order in which each person judges; it was closed at a time in UTC.
    """

    kind = STUDY_KIND

    job: str
    groups: tuple[str, ...]
    pairs: tuple[StudyPair, ...]
    assignments: tuple[Assignment, ...]
    closed_at: datetime | None

    @classmethod
    def parse(cls, stored: Row) -> dict[str, Any]:
        """See `Panel.parse`."""
        values = super().parse(stored)
        tasks = values.pop("tasks")
        return values | {
            "groups": tuple(stored["groups"]),
            "pairs": tuple(StudyPair(**pair) for pair in stored["pairs"]),
            "assignments": tuple(Assignment(*task) for task in tasks),
        }


def read_pairs(store: GraphStore, job: str) -> pd.DataFrame:
    """Read a job's accepted edits whose files, and whose originals', are known.

    Returns
    -------
    pandas.DataFrame
        ``candidate``, ``uri``, ``original``, ``original_uri``, ``asked``, ``own`` (empty where it
        is not known) and ``caption``, edited for the group that was asked for.
    """
    return store.read_frame(PAIRS, job=job)


def create_study(
    store: GraphStore,
    job: str,
    *,
    groups: Sequence[str],
    people: Sequence[str],
    pairs: Sequence[StudyPair],
    assignments: Sequence[Assignment],
    settings: Mapping[str, Any] | None = None,
) -> str:
    """Create a study of a job's images, and return its id.

    Raises
    ------
    NotFoundError
        There is no such job.
    StaleError, ConflictError
        Its dataset is being loaded, dropped or renamed.
    """
    return create_panel(
        store,
        STUDY_KIND,
        read_job(store, job).dataset,
        job,
        people=people,
        settings=settings,
        groups=list(groups),
        pairs=json.dumps([asdict(pair) for pair in pairs], ensure_ascii=False),
        tasks=json.dumps([astuple(assignment) for assignment in assignments]),
    )


def close_study(store: GraphStore, study: str) -> None:
    """Close a study, so that it takes no more answers; raises NotFoundError."""
    require_one(store.write(CLOSE_STUDY, study=study), "study", study)
