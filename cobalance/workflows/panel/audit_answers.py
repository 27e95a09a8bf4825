"""What a person of an audit is asked, and their answers: one by one, or as a table."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from cobalance.annotation.auditing.answers import ANSWERS
from cobalance.graph.audits.reading import Audit, read_answers, read_audit
from cobalance.graph.audits.writing import save_answers
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import OptionError, check_known
from cobalance.workflows.panel.answers import Key, filled_in

SHEET = ("person", "image", "uri", "concept", "answer")
"""Columns of the table of answers: it tells neither class nor verdict."""


@dataclass(frozen=True)
class AuditTask:
    """What a person sees of a task, and nothing that tells the class or the label.

    Parameters
    ----------
    image : str
        The image's id.
    concepts : tuple of str
        What it may show: all of them, where it is a clique that is checked.
    uri : str or None
        Where its file is.
    answer : str or None
        The person's own so far.
    """

    image: str
    concepts: tuple[str, ...]
    uri: str | None
    answer: str | None


def audit_tasks(audit: Audit, person: str, answers: pd.DataFrame) -> list[AuditTask]:
    """All tasks of a person, in order.

    Parameters
    ----------
    answers : pandas.DataFrame
        See `cobalance.graph.audits.reading.read_answers`; the person's, or everybody's.
    """
    own = answers[answers["person"] == person]
    given = dict(zip(zip(own["image"], own["concept"], strict=True), own["answer"], strict=True))
    labels = audit.labels_of(person)
    return [
        AuditTask(image, audit.members(concept), uri, given.get((image, concept)))
        for image, concept, uri in zip(
            labels["image"], labels["concept"], labels["uri"], strict=True
        )
    ]


def answer_audit(store: GraphStore, audit: str, person: str, number: int, answer: str) -> None:
    """Record a person's answer to one of their tasks, in place of an earlier one.

    Parameters
    ----------
    number : int
        Position of the task among the person's.

    Raises
    ------
    NotFoundError
        There is no such audit.
    OptionError
        The person has no such task.
    UnknownNameError
        It is none of `cobalance.annotation.auditing.answers.ANSWERS`.
    """
    labels = read_audit(store, audit).labels_of(person)
    if not 0 <= number < len(labels):
        raise OptionError(f"{person!r} has no task {number + 1:,} in the audit {audit}. Reload it.")
    check_known("answer", [answer], ANSWERS)
    row = labels.iloc[[number]][["image", "concept"]].assign(person=person, answer=answer)
    save_answers(store, audit, row)


def answer_sheet(store: GraphStore, audit: Audit) -> pd.DataFrame:
    """All tasks of an audit with the answers so far, None without one; columns `SHEET`."""
    answers = read_answers(store, audit.id)
    rows = [
        (person, task.image, task.uri, concept, task.answer)
        for person in audit.people
        for concept, task in zip(
            audit.labels_of(person)["concept"], audit_tasks(audit, person, answers), strict=True
        )
    ]
    return pd.DataFrame(rows, columns=list(SHEET), dtype=object)


def take_answers(store: GraphStore, audit: Audit, sheet: pd.DataFrame) -> int:
    """Record the answers of a table, in place of earlier ones; how many.

    Parameters
    ----------
    sheet : pandas.DataFrame
        ``person``, ``image``, ``concept`` and ``answer``; see
        `cobalance.workflows.panel.answers`.

    Raises
    ------
    OptionError
        A column is missing, an answer is none of `cobalance.annotation.auditing.answers.ANSWERS`, a
        row is no task of its person, or contradicts an earlier one. Nothing is recorded then.
    """
    keys = ["person", "image", "concept"]
    asked: dict[Key, Sequence[str]] = {
        (person, image, concept): ANSWERS
        for person in audit.people
        for image, concept in audit.labels_of(person)[["image", "concept"]].to_numpy().tolist()
    }
    given = filled_in(sheet, keys, asked, f"the audit {audit.id}")
    rows = [(*key, answer) for key, answer in given.items()]
    save_answers(store, audit.id, pd.DataFrame(rows, columns=[*keys, "answer"], dtype=object))
    return len(given)


def audit_progress(store: GraphStore, audit: Audit) -> pd.DataFrame:
    """How far each person is: ``person``, ``answered``, ``tasks``."""
    answered = read_answers(store, audit.id)["person"].value_counts()
    rows = [
        (person, int(answered.get(person, 0)), len(audit.labels_of(person)))
        for person in audit.people
    ]
    return pd.DataFrame(rows, columns=["person", "answered", "tasks"])
