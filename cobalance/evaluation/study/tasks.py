"""A person's tasks in order: groups of single images first, then pairs side by side."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cobalance.evaluation.study.questions import QUESTIONS, Question

Side = Literal["original", "edited"]


@dataclass(frozen=True)
class Task:
    """A question about a pair, or about one of its images.

    Parameters
    ----------
    pair : int
        Position of the pair.
    question : Question
        What is asked.
    shown : tuple of Side
        The images beside it, from left to right.
    """

    pair: int
    question: Question
    shown: tuple[Side, ...]


def tasks_of(assigned: Iterable[tuple[int, bool]]) -> list[Task]:
    """All tasks of a person.

    The group is asked for one image of each pair, then for the other one of each, so that as many
    images as can be are between twins; only then are both seen together. The image that is on the
    left is also the first to be seen, so that neither tells which one was edited.

    Parameters
    ----------
    assigned : iterable of (int, bool)
        Position of each pair, and whether its original is on the left, see
        `cobalance.evaluation.study.sample.assign`.

    Examples
    --------
    >>> for task in tasks_of([(7, True), (3, False)]):
    ...     print(task.pair, task.question.key, *task.shown)
    7 group_original original
    3 group_edited edited
    7 group_edited edited
    3 group_original original
    7 objects original edited
    7 colours original edited
    3 objects edited original
    3 colours edited original
    """
    sides: list[tuple[int, tuple[Side, Side]]] = [
        (pair, ("original", "edited") if original_first else ("edited", "original"))
        for pair, original_first in assigned
    ]
    singles = [
        Task(pair, question, (shown[at],))
        for at in (0, 1)
        for pair, shown in sides
        for question in QUESTIONS
        if question.shown == shown[at]
    ]
    together = [
        Task(pair, question, shown)
        for pair, shown in sides
        for question in QUESTIONS
        if question.shown == "pair"
    ]
    return singles + together
