"""What a person of an audit is asked, and their answers: one by one, or as a table."""

from dataclasses import dataclass

import pandas as pd

from annotation.auditing.answers import ANSWERS
from graph.audits.reading import Audit, read_answers, read_audit
from graph.audits.writing import save_answers
from graph.database.store import GraphStore
from graph.errors import OptionError, check_known
from graph.names import clean_name

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
        See `graph.audits.reading.read_answers`; the person's, or everybody's.
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
    JobNotFoundError
        There is no such audit.
    OptionError
        The person has no such task.
    UnknownNameError
        It is none of `annotation.auditing.answers.ANSWERS`.
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

    A row that is there twice counts once. Two different answers of a person to one question are
    refused: which one is meant, nobody can tell.

    Parameters
    ----------
    sheet : pandas.DataFrame
        Texts in the columns ``person``, ``image``, ``concept`` and ``answer``; others are ignored,
        and so are rows whose answer is empty. Errors name rows by an index of texts, such as
        "line 2", or count them from 1.

    Raises
    ------
    OptionError
        A column is missing, an answer is none of `annotation.auditing.answers.ANSWERS`, a row is no
        task of its person, or contradicts an earlier one. Nothing is recorded then.
    """
    columns = ["person", "image", "concept", "answer"]
    missing = [name for name in columns if name not in sheet]
    if missing:
        raise OptionError(
            f"The answers have no column {missing[0]!r}. Their columns are {', '.join(columns)}."
        )
    tasks = {
        (person, image, concept)
        for person in audit.people
        for image, concept in audit.labels_of(person)[["image", "concept"]].to_numpy().tolist()
    }
    given: dict[tuple[str, str, str], tuple[str, str]] = {}
    cells = sheet[columns].fillna("").astype(str).to_numpy().tolist()
    for at, (label, (person, image, concept, said)) in enumerate(
        zip(sheet.index, cells, strict=True), 1
    ):
        answer = said.strip().lower()
        if not answer:
            continue
        place = label.capitalize() if isinstance(label, str) else f"Row {at}"
        key = (clean_name(person), image, clean_name(concept))
        if key not in tasks:
            raise OptionError(
                f"{place}: {person!r} is not asked whether the image {image!r} shows {concept!r} "
                f"in the audit {audit.id}. Fill in the table that this audit has given."
            )
        if answer not in ANSWERS:
            raise OptionError(
                f"{place}: the answer {said!r} is none. Write {', '.join(ANSWERS[:-1])} or "
                f"{ANSWERS[-1]}."
            )
        before, earlier = given.setdefault(key, (place, answer))
        if earlier != answer:
            raise OptionError(
                f"{place}: {person!r} answers {answer!r} for the image {image!r} and {concept!r}, "
                f"but {earlier!r} in {before.lower()}. Keep one of them."
            )
    rows = [(*key, answer) for key, (_, answer) in given.items()]
    save_answers(store, audit.id, pd.DataFrame(rows, columns=columns, dtype=object))
    return len(given)


def audit_progress(store: GraphStore, audit: Audit) -> pd.DataFrame:
    """How far each person is: ``person``, ``answered``, ``tasks``."""
    answered = read_answers(store, audit.id)["person"].value_counts()
    rows = [
        (person, int(answered.get(person, 0)), len(audit.labels_of(person)))
        for person in audit.people
    ]
    return pd.DataFrame(rows, columns=["person", "answered", "tasks"])
