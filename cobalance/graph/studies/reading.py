"""Read human studies and their answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pandas as pd

from cobalance.graph.database.store import GraphStore, Row
from cobalance.graph.errors import NotFoundError
from cobalance.graph.jobs.lifecycle import utc_time
from cobalance.graph.studies import statements


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
class Study:
    """A human study.

    Parameters
    ----------
    id, dataset, job : str
        Its own name, and those of the job and its dataset.
    groups : tuple of str
        That people choose from.
    people : tuple of str
        Names, or addresses where people log in.
    pairs : tuple of StudyPair
        What is judged.
    assignments : tuple of Assignment
        In the order in which each person judges.
    settings : mapping
        What the sample was drawn with.
    created_by : str
        Who created it; empty without a login.
    created_at, closed_at : datetime or None
        In UTC; the last is since when no answer is taken.
    """

    id: str
    dataset: str
    job: str
    groups: tuple[str, ...]
    people: tuple[str, ...]
    pairs: tuple[StudyPair, ...]
    assignments: tuple[Assignment, ...]
    settings: Mapping[str, Any]
    created_by: str
    created_at: datetime | None
    closed_at: datetime | None


def read_pairs(store: GraphStore, job: str) -> pd.DataFrame:
    """Read a job's accepted edits whose files, and whose originals', are known.

    Returns
    -------
    pandas.DataFrame
        ``candidate``, ``uri``, ``original``, ``original_uri``, ``asked``, ``own`` (empty where it
        is not known) and ``caption``, edited for the group that was asked for.
    """
    return store.read_frame(statements.PAIRS, job=job)


def read_study(store: GraphStore, study: str) -> Study:
    """Read a study; NotFoundError if there is none of that id."""
    rows = store.read(statements.STUDY_OF_ID, study=study)
    if not rows:
        raise NotFoundError("study", study)
    return _study(rows[0]["study"])


def studies_of_job(store: GraphStore, job: str) -> list[Study]:
    """List a job's studies, newest first."""
    return [_study(row["study"]) for row in store.read(statements.STUDIES_OF_JOB, job=job)]


def studies_of_dataset(store: GraphStore, dataset: str) -> list[Study]:
    """List the studies of all jobs of a dataset, newest first."""
    rows = store.read(statements.STUDIES_OF_DATASET, dataset=dataset)
    return [_study(row["study"]) for row in rows]


def read_answers(store: GraphStore, study: str, person: str | None = None) -> pd.DataFrame:
    """Read a study's answers; all, or those of a person.

    Returns
    -------
    pandas.DataFrame
        ``pair`` (the candidate's id), ``person``, ``question``, ``answer``.
    """
    return store.read_frame(statements.ANSWERS, study=study, person=person)


def _study(stored: Row) -> Study:
    return Study(
        id=stored["id"],
        dataset=stored["dataset"],
        job=stored["job"],
        groups=tuple(stored["groups"]),
        people=tuple(stored["people"]),
        pairs=tuple(StudyPair(**pair) for pair in json.loads(stored["pairs"])),
        assignments=tuple(Assignment(*each) for each in json.loads(stored["tasks"])),
        settings=json.loads(stored["settings"]),
        created_by=stored["created_by"] or "",
        created_at=utc_time(stored["created_at"]),
        closed_at=utc_time(stored["closed_at"]),
    )
