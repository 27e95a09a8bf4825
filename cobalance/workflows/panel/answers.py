"""People who judge, their tasks, and their answers: one by one, or as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from cobalance.annotation.auditing.consensus import ANSWERS
from cobalance.base.errors import DataError, OptionError, Setting, check_known
from cobalance.base.names import clean_name
from cobalance.evaluation.study.questions import tasks_of
from cobalance.graph.database.store import GraphStore
from cobalance.graph.panels.audits import Audit
from cobalance.graph.panels.panel import read_answers, save_answers
from cobalance.graph.panels.studies import Study
from cobalance.ingest.names import name_fault

Key = tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """A task as a person sees it.

    Nothing tells the class or label of an audited image, or the groups of a study and which image
    was edited.

    Parameters
    ----------
    images : tuple of str or None
        Addresses of the images, from left to right.
    choices : tuple of str
        The answers to choose from.
    answer : str or None
        The person's own so far.
    concepts : tuple of str
        Of an audit: what the image may show, all of them.
    text : str
        Of a study: the question.
    sentence : str
        Of a study: with a gap to fill, for questions about a group.
    """

    images: tuple[str | None, ...]
    choices: tuple[str, ...]
    answer: str | None = None
    concepts: tuple[str, ...] = ()
    text: str = ""
    sentence: str = ""


def person_tasks(panel: Audit | Study, person: str, answers: pd.DataFrame) -> list[Task]:
    """All tasks of a person, in order.

    Parameters
    ----------
    answers : pandas.DataFrame
        See `cobalance.graph.panels.panel.read_answers`; the person's, or everybody's.
    """
    return [task for _, task in _list_questions(panel, person, answers)]


def _list_questions(
    panel: Audit | Study, person: str, answers: pd.DataFrame | None = None
) -> list[tuple[Key, Task]]:
    """Keys and tasks of a person in order, without answers where none are given."""
    given = {}
    if answers is not None:
        own = answers[answers["person"] == person]
        columns = [own[name] for name in panel.kind.columns if name != "person"]
        given = dict(zip(zip(*columns, strict=True), own["answer"], strict=True))
    result: list[tuple[Key, Task]] = []
    if isinstance(panel, Audit):
        labels = panel.labels_of(person)[["image", "concept", "uri"]].to_numpy().tolist()
        for image, concept, uri in labels:
            key = (image, concept)
            shown = Task((uri,), ANSWERS, given.get(key), concepts=panel.members(concept))
            result.append((key, shown))
        return result
    at = panel.people.index(person) if person in panel.people else -1
    mine = ((each.pair, each.original_first) for each in panel.assignments if each.person == at)
    for task in tasks_of(mine):
        pair, question = panel.pairs[task.pair], task.question
        uris = {"original": pair.original_uri, "edited": pair.uri}
        key = (pair.candidate, question.key)
        shown = Task(
            tuple(uris[side] for side in task.shown),
            question.choices_among(panel.groups),
            given.get(key),
            text=question.text,
            sentence="" if question.choices else pair.sentence,
        )
        result.append((key, shown))
    return result


def answer_task(
    store: GraphStore, panel: Audit | Study, person: str, number: int, answer: str
) -> None:
    """Record a person's answer to one of their tasks, in place of an earlier one.

    Parameters
    ----------
    number : int
        Position of the task among the person's.

    Raises
    ------
    NotFoundError
        The panel is gone.
    OptionError
        The person has no such task.
    UnknownNameError
        The answer is none of the choices.
    ConflictError
        The study is closed.
    """
    asked = _list_questions(panel, person)
    if not 0 <= number < len(asked):
        raise OptionError(
            f"{person!r} has no task {number + 1:,} in the {panel.kind.name} {panel.id}. Reload it."
        )
    key, task = asked[number]
    check_known("answer", [answer], task.choices)
    _save(store, panel, {(person, *key): answer})


def _save(store: GraphStore, panel: Audit | Study, given: Mapping[Key, str]) -> None:
    names = ["person", *(name for name in panel.kind.columns if name != "person"), "answer"]
    rows = [(*key, answer) for key, answer in given.items()]
    save_answers(store, panel, pd.DataFrame(rows, columns=names, dtype=object))


def answer_sheet(store: GraphStore, panel: Audit | Study) -> pd.DataFrame:
    """All tasks with the answers so far: see `cobalance.notebook.panels.Audit.sample`."""
    answers = read_answers(store, panel)
    rows = []
    for person in panel.people:
        for number, (key, task) in enumerate(_list_questions(panel, person, answers), 1):
            if isinstance(panel, Audit):
                image, concept = key
                row: dict[str, object] = {"image": image, "uri": task.images[0], "concept": concept}
            else:
                row = {"task": number, "question": task.text, "sentence": task.sentence}
                row |= {"images": task.images, "choices": task.choices}
            rows.append({"person": person, **row, "answer": task.answer})
    return pd.DataFrame(rows).astype({"answer": object})


def take_answers(store: GraphStore, panel: Audit | Study, sheet: pd.DataFrame) -> int:
    """Record the answers of a table, in place of earlier ones; how many.

    Parameters
    ----------
    sheet : pandas.DataFrame
        ``person`` and ``answer``; of an audit ``image`` and ``concept``, of a study ``task``. Rows
        without an answer are ignored, and so are other columns. Errors name rows by an index of
        texts, such as "line 2", or count them from 1.

    Raises
    ------
    DataError
        A column is missing, an answer is none of its choices, a row is no task of its person, or
        contradicts an earlier one. Nothing is recorded then.
    ConflictError
        The study is closed.
    """
    keys = ["person", "image", "concept"] if isinstance(panel, Audit) else ["person", "task"]
    tasks: dict[Key, tuple[Key, Task]] = {}
    for person in panel.people:
        for number, (key, task) in enumerate(_list_questions(panel, person), 1):
            named = key if isinstance(panel, Audit) else (str(number),)
            tasks[(person, *named)] = ((person, *key), task)
    choices = {named: task.choices for named, (_, task) in tasks.items()}
    given = _read_sheet(sheet, keys, choices, f"the {panel.kind.name} {panel.id}")
    _save(store, panel, {tasks[named][0]: answer for named, answer in given.items()})
    return len(given)


def panel_progress(store: GraphStore, panel: Audit | Study) -> pd.DataFrame:
    """How far each person is: ``person``, ``answered``, ``tasks``."""
    answered = read_answers(store, panel)["person"].value_counts()
    rows = [
        (who, int(answered.get(who, 0)), len(_list_questions(panel, who))) for who in panel.people
    ]
    return pd.DataFrame(rows, columns=["person", "answered", "tasks"])


def _read_sheet(
    sheet: pd.DataFrame, keys: Sequence[str], choices: Mapping[Key, Sequence[str]], what: str
) -> dict[Key, str]:
    """Read the answers of a table by their `keys`, the first of which are people.

    A row that is there twice counts once. Two different answers of a person to one question are
    refused: which one is meant, nobody can tell.
    """
    columns = [*keys, "answer"]
    missing = [name for name in columns if name not in sheet]
    if missing:
        raise DataError(
            f"The answers have no column {missing[0]!r}. Their columns are {', '.join(columns)}."
        )
    given: dict[Key, tuple[str, str]] = {}
    cells = sheet[columns].astype(object).fillna("").astype(str).to_numpy().tolist()
    for at, (label, (*asked, said)) in enumerate(zip(sheet.index, cells, strict=True), 1):
        if not said.strip():
            continue
        place = label.capitalize() if isinstance(label, str) else f"Row {at}"
        key = tuple(asked) if tuple(asked) in choices else tuple(map(clean_name, asked))
        described = ", ".join(f"{name} {value!r}" for name, value in zip(keys, asked, strict=True))
        if key not in choices:
            raise DataError(
                f"{place}: {what} does not ask {described}. Fill in the table that it has given."
            )
        known = {choice.casefold(): choice for choice in choices[key]}
        known |= {choice: choice for choice in choices[key]}
        answer = known.get(said.strip(), known.get(said.strip().casefold()))
        if answer is None:
            raise DataError(
                f"{place}: the answer {said!r} is none. Write one of: {', '.join(choices[key])}."
            )
        before, earlier = given.setdefault(key, (place, answer))
        if earlier != answer:
            raise DataError(
                f"{place}: the answer for {described} is {answer!r}, but {earlier!r} in "
                f"{before.lower()}. Keep one of them."
            )
    return {key: answer for key, (_, answer) in given.items()}


def clean_people(given: Sequence[str]) -> list[str]:
    """Clean and check names of people.

    Raises
    ------
    OptionError
        There is none, one is there twice, or one is no name.
    """
    people = [clean_name(name) for name in given]
    if not people:
        raise OptionError("Nobody is named who judges. Name them with ", Setting("people"), ".")
    for name in people:
        fault = name_fault(name)
        if fault is None and people.count(name) > 1:
            fault = "is there twice"
        if fault is not None:
            raise OptionError(
                f"{name!r} among the people who judge {fault}. Give a name for each with ",
                Setting("people"),
                ".",
            )
    return people
