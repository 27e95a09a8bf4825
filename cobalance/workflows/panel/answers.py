"""People who judge, their tasks, and their answers: one by one, or as a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from cobalance.annotation import ANSWERS
from cobalance.base import DataError, OptionError, Setting, check_known, clean_name
from cobalance.evaluation import tasks_of
from cobalance.graph import Audit, GraphStore, Study, read_answers, save_answers
from cobalance.ingest import name_fault

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
    answer_of: dict[Key, str] = {}
    if answers is not None:
        of_person = answers[answers["person"] == person]
        columns = [name for name in panel.kind.columns if name != "person"]
        keys = of_person[columns].itertuples(index=False, name=None)
        answer_of = dict(zip(keys, of_person["answer"], strict=True))

    if isinstance(panel, Audit):
        return list(_audit_questions(panel, person, answer_of))
    return list(_study_questions(panel, person, answer_of))


def _audit_questions(
    audit: Audit, person: str, answers: Mapping[Key, str]
) -> Iterator[tuple[Key, Task]]:
    """Whether each image of a person's sample shows its concepts."""
    labels = audit.labels_of(person)[["image", "concept", "uri"]]
    for image, concept, uri in labels.to_numpy().tolist():
        key = (image, concept)
        yield key, Task((uri,), ANSWERS, answers.get(key), concepts=audit.members(concept))


def _study_questions(
    study: Study, person: str, answers: Mapping[Key, str]
) -> Iterator[tuple[Key, Task]]:
    """Questions on each pair of a person's sample."""
    position = study.people.index(person) if person in study.people else -1
    assigned = [
        (assignment.pair, assignment.original_first)
        for assignment in study.assignments
        if assignment.person == position
    ]

    for study_task in tasks_of(assigned):
        pair, question = study.pairs[study_task.pair], study_task.question
        uris = {"original": pair.original_uri, "edited": pair.uri}
        key = (pair.candidate, question.key)
        yield (
            key,
            Task(
                tuple(uris[side] for side in study_task.shown),
                question.choices_among(study.groups),
                answers.get(key),
                text=question.text,
                sentence="" if question.choices else pair.sentence,
            ),
        )


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
    questions = _list_questions(panel, person)
    if not 0 <= number < len(questions):
        raise OptionError(
            f"{person!r} has no task {number + 1:,} in the {panel.kind.name} {panel.id}. Reload it."
        )
    key, task = questions[number]
    check_known("answer", [answer], task.choices)
    _save(store, panel, {(person, *key): answer})


def _save(store: GraphStore, panel: Audit | Study, answers: Mapping[Key, str]) -> None:
    names = [*dict.fromkeys(["person", *panel.kind.columns]), "answer"]
    rows = [(*key, answer) for key, answer in answers.items()]
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
    # The table names the tasks of a study by their numbers, and the graph by pair and question.
    keys = ["person", "image", "concept"] if isinstance(panel, Audit) else ["person", "task"]
    graph_keys: dict[Key, Key] = {}
    choices: dict[Key, Sequence[str]] = {}
    for person in panel.people:
        for number, (key, task) in enumerate(_list_questions(panel, person), 1):
            sheet_key = (person, *key) if isinstance(panel, Audit) else (person, str(number))
            graph_keys[sheet_key] = (person, *key)
            choices[sheet_key] = task.choices

    answers = _read_sheet(sheet, keys, choices, f"the {panel.kind.name} {panel.id}")
    _save(store, panel, {graph_keys[key]: answer for key, answer in answers.items()})
    return len(answers)


def panel_progress(store: GraphStore, panel: Audit | Study) -> pd.DataFrame:
    """How far each person is: ``person``, ``answered``, ``tasks``."""
    answered = read_answers(store, panel)["person"].value_counts()
    rows = []
    for person in panel.people:
        n_tasks = len(_list_questions(panel, person))
        rows.append((person, int(answered.get(person, 0)), n_tasks))
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

    answers: dict[Key, str] = {}
    places: dict[Key, str] = {}
    cells = sheet[columns].astype(object).fillna("").astype(str).to_numpy().tolist()
    for number, (label, (*values, text)) in enumerate(zip(sheet.index, cells, strict=True), 1):
        if not text.strip():
            continue
        place = label.capitalize() if isinstance(label, str) else f"Row {number}"
        question = ", ".join(f"{name} {value!r}" for name, value in zip(keys, values, strict=True))
        key = tuple(values)
        if key not in choices:
            # Names may have been typed by hand.
            key = tuple(map(clean_name, values))
        if key not in choices:
            raise DataError(
                f"{place}: {what} does not ask {question}. Fill in the table that it has given."
            )

        answer = _find_choice(text.strip(), choices[key])
        if answer is None:
            raise DataError(
                f"{place}: the answer {text!r} is none. Write one of: {', '.join(choices[key])}."
            )
        earlier = answers.setdefault(key, answer)
        first_place = places.setdefault(key, place)
        if earlier != answer:
            raise DataError(
                f"{place}: the answer for {question} is {answer!r}, but {earlier!r} in "
                f"{first_place.lower()}. Keep one of them."
            )
    return answers


def _find_choice(text: str, choices: Sequence[str]) -> str | None:
    """The choice that a text names, in any case of letters; None without one."""
    if text in choices:
        return text
    by_folded = {choice.casefold(): choice for choice in choices}
    return by_folded.get(text.casefold())


def clean_people(given: Sequence[str]) -> list[str]:
    """Clean and check names of people.

    Raises
    ------
    OptionError
        There is none, one is there twice, or one is no name.
    """
    people = list(map(clean_name, given))

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
