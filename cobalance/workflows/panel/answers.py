"""Who answers, and answers that people filled into a table."""

from collections.abc import Mapping, Sequence

import pandas as pd

from cobalance.graph.errors import OptionError, Setting
from cobalance.graph.names import clean_name
from cobalance.ingest.names import name_fault

Key = tuple[str, ...]


def filled_in(
    sheet: pd.DataFrame, keys: Sequence[str], choices: Mapping[Key, Sequence[str]], what: str
) -> dict[Key, str]:
    """Check the answers of a table; all of them by what was asked, or an error for the first fault.

    A row that is there twice counts once. Two different answers of a person to one question are
    refused: which one is meant, nobody can tell.

    Parameters
    ----------
    sheet : pandas.DataFrame
        The columns `keys`, the first with people, and ``answer``; others are ignored, and so are
        rows whose answer is empty. Errors name rows by an index of texts, such as "line 2", or
        count them from 1.
    choices : mapping of tuple of str to sequence of str
        The answers to choose from, by the values of `keys`.
    what : str
        What asks them, for errors.

    Raises
    ------
    OptionError
        A column is missing, nobody was asked that, an answer is none of the choices, or a row
        contradicts an earlier one.

    Examples
    --------
    >>> sheet = pd.DataFrame({"person": ["ann", "bob"], "task": 1, "answer": ["Yes ", None]})
    >>> filled_in(sheet, ["person", "task"], {("ann", "1"): ["yes", "no"]}, "the study")
    {('ann', '1'): 'yes'}
    """
    columns = [*keys, "answer"]
    missing = [name for name in columns if name not in sheet]
    if missing:
        raise OptionError(
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
            raise OptionError(
                f"{place}: {what} does not ask {described}. Fill in the table that it has given."
            )
        known = {choice.casefold(): choice for choice in choices[key]}
        known |= {choice: choice for choice in choices[key]}
        answer = known.get(said.strip(), known.get(said.strip().casefold()))
        if answer is None:
            raise OptionError(
                f"{place}: the answer {said!r} is none. Write one of: {', '.join(choices[key])}."
            )
        before, earlier = given.setdefault(key, (place, answer))
        if earlier != answer:
            raise OptionError(
                f"{place}: the answer for {described} is {answer!r}, but {earlier!r} in "
                f"{before.lower()}. Keep one of them."
            )
    return {key: answer for key, (_, answer) in given.items()}


def people_named(given: Sequence[str]) -> list[str]:
    """Names of people as the graph has them.

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
