"""What a person of a human study is asked, and their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from cobalance.evaluation.study.tasks import Task, tasks_of
from cobalance.graph.database.store import GraphStore
from cobalance.graph.errors import OptionError, check_known
from cobalance.graph.studies.reading import Study, read_answers, read_study
from cobalance.graph.studies.writing import save_answer
from cobalance.workflows.panel.answers import Key, filled_in

SHEET = ("person", "task", "question", "sentence", "images", "choices", "answer")
"""Columns of the table of answers. Addresses of images may tell which one was edited."""


class Asked(Protocol):
    """A task of a person, of a study or of anything else that people answer one by one."""

    @property
    def answer(self) -> str | None:
        """The person's own answer so far."""


@dataclass(frozen=True)
class ShownTask:
    """What a person sees of a task, and nothing that tells groups or which image was edited.

    Parameters
    ----------
    text : str
        The question.
    sentence : str
        With a gap to fill, for questions about a group; else empty.
    images : tuple of str
        Addresses of the images, from left to right.
    choices : tuple of str
        The answers to choose from.
    answer : str or None
        The person's own so far.
    """

    text: str
    sentence: str
    images: tuple[str, ...]
    choices: tuple[str, ...]
    answer: str | None


def shown_tasks(study: Study, person: str, answers: pd.DataFrame) -> list[ShownTask]:
    """All tasks of a person, in order.

    Parameters
    ----------
    answers : pandas.DataFrame
        See `cobalance.graph.studies.reading.read_answers`; the person's, or everybody's.
    """
    own = answers[answers["person"] == person]
    given = dict(zip(zip(own["pair"], own["question"], strict=True), own["answer"], strict=True))
    return [_shown(study, task, given) for task in _tasks(study, person)]


def first_open(tasks: Sequence[Asked]) -> int:
    """Position of the first task without an answer; behind the last one where all have one."""
    return next((at for at, task in enumerate(tasks) if task.answer is None), len(tasks))


def answer_task(store: GraphStore, study: str, person: str, number: int, answer: str) -> None:
    """Record a person's answer to one of their tasks, in place of an earlier one.

    Parameters
    ----------
    number : int
        Position of the task among the person's.

    Raises
    ------
    NotFoundError
        There is no such study.
    OptionError
        The person has no such task.
    UnknownNameError
        The answer is none of the choices.
    ConflictError
        The study is closed.
    """
    found = read_study(store, study)
    tasks = _tasks(found, person)
    if not 0 <= number < len(tasks):
        raise OptionError(f"{person!r} has no task {number + 1:,} in the study {study}. Reload it.")
    task = tasks[number]
    check_known("answer", [answer], task.question.choices_among(found.groups))
    candidate = found.pairs[task.pair].candidate
    save_answer(store, study, candidate, person, task.question.key, answer)


def task_sheet(store: GraphStore, study: Study) -> pd.DataFrame:
    """All tasks of a study with the answers so far, None without one; columns `SHEET`."""
    answers = read_answers(store, study.id)
    rows = [
        (person, number, each.text, each.sentence, each.images, each.choices, each.answer)
        for person in study.people
        for number, each in enumerate(shown_tasks(study, person, answers), 1)
    ]
    return pd.DataFrame(rows, columns=list(SHEET)).astype({"answer": object})


def take_tasks(store: GraphStore, study: Study, sheet: pd.DataFrame) -> int:
    """Record the answers of a table, in place of earlier ones; how many.

    Parameters
    ----------
    sheet : pandas.DataFrame
        ``person``, ``task`` (from 1) and ``answer``; see `cobalance.workflows.panel.answers`.

    Raises
    ------
    OptionError
        A column is missing, a person has no such task, an answer is none of its choices, or a row
        contradicts an earlier one. Nothing is recorded then.
    ConflictError
        The study is closed.
    """
    asked: dict[Key, Task] = {
        (person, str(number)): task
        for person in study.people
        for number, task in enumerate(_tasks(study, person), 1)
    }
    choices = {key: task.question.choices_among(study.groups) for key, task in asked.items()}
    given = filled_in(sheet, ["person", "task"], choices, f"the study {study.id}")
    for key, answer in given.items():
        candidate, question = study.pairs[asked[key].pair].candidate, asked[key].question.key
        save_answer(store, study.id, candidate, key[0], question, answer)
    return len(given)


def progress_frame(store: GraphStore, study: Study) -> pd.DataFrame:
    """How far each person is: ``person``, ``answered``, ``tasks``."""
    answered = read_answers(store, study.id)["person"].value_counts()
    rows = [
        (person, int(answered.get(person, 0)), len(_tasks(study, person)))
        for person in study.people
    ]
    return pd.DataFrame(rows, columns=["person", "answered", "tasks"])


def _tasks(study: Study, person: str) -> list[Task]:
    if person not in study.people:
        return []
    at = study.people.index(person)
    own = (each for each in study.assignments if each.person == at)
    return tasks_of((each.pair, each.original_first) for each in own)


def _shown(study: Study, task: Task, given: dict[tuple[str, str], str]) -> ShownTask:
    pair = study.pairs[task.pair]
    uris = {"original": pair.original_uri, "edited": pair.uri}
    asks_group = not task.question.choices
    return ShownTask(
        task.question.text,
        pair.sentence if asks_group else "",
        tuple(uris[side] for side in task.shown),
        task.question.choices_among(study.groups),
        given.get((pair.candidate, task.question.key)),
    )
