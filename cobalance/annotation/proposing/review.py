"""Decisions on attributes as a table that people fill in."""

from collections.abc import Callable, Collection, Hashable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from cobalance.base import InputError, clean_name
from cobalance.graph import AttributeKey, Decision
from cobalance.ingest import name_fault, read_sheet

COLUMNS = (
    "category",
    "proposed",
    "name",
    "level",
    "caption",
    "votes",
    "rounds",
    "flags",
    "state",
    "decision",
    "into",
)
CHANGED = ("name", "level", "caption")
DECISIONS = ("accept", "reject", "rename", "merge")
_LEVELS = ("image", "object")


def review_frame(attributes: pd.DataFrame) -> pd.DataFrame:
    """A row for each attribute, with columns to decide in.

    Parameters
    ----------
    attributes : pandas.DataFrame
        From `cobalance.graph.annotations.attributes.list_attributes`.

    Returns
    -------
    pandas.DataFrame
        `COLUMNS`: flags joined with semicolons; ``decision`` empty; ``into`` the attribute that one
        is merged into.
    """
    frame = attributes[list(COLUMNS[:7])].assign(
        flags=attributes["flags"].map("; ".join),
        state=attributes["state"],
        decision="",
        into=[" / ".join(into or ()) for into in attributes["merged_into"]],
    )
    return frame[list(COLUMNS)]


def read_decisions(text: str, file: str, attributes: pd.DataFrame) -> list[Decision]:
    """Read the decisions of a table that people filled in.

    ``accept`` and ``rename`` take the name, level and caption as the row has them; ``merge`` needs
    the other attribute in ``into``, as "category / name" or by its name alone. Rows without a
    decision change nothing.

    Parameters
    ----------
    text : str
        CSV with the columns ``category``, ``proposed`` and ``decision`` at least.
    file : str
        For errors.
    attributes : pandas.DataFrame
        From `cobalance.graph.annotations.attributes.list_attributes`.

    Raises
    ------
    InputError
        A column is missing, or a row names no attribute, an unknown decision, no attribute to merge
        into, a faulty name or an unknown level; with its line.
    """
    rows = read_sheet(
        text,
        file,
        ("category", "proposed", "decision"),
        "Write the table with review, and fill in its column decision.",
    )
    keys = list(zip(attributes["category"], attributes["proposed"], strict=True))
    known = dict(zip(keys, attributes.to_dict("records"), strict=True))

    decisions: dict[AttributeKey, Decision] = {}
    for where, row in rows:
        fault = partial(InputError, file, where)
        word = row["decision"].strip().casefold()
        if not word:
            continue

        key = (row["category"].strip(), row["proposed"].strip())
        if key not in known:
            remedy = "Leave the columns category and proposed as they were written."
            raise fault(f"the dataset has no attribute {' / '.join(key)!r}", remedy)
        if key in decisions:
            raise fault(f"{' / '.join(key)!r} is decided a second time", "Keep one.")
        decisions[key] = _decision(key, word, row, known, fault)
    return list(decisions.values())


def accept_all(attributes: pd.DataFrame) -> list[Decision]:
    """Accept all attributes that nobody has decided on, flagged ones too."""
    undecided = attributes[attributes["state"] == "proposed"]
    keys = zip(undecided["category"], undecided["proposed"], strict=True)
    return [Decision(key, "accepted") for key in keys]


def _decision(
    key: AttributeKey,
    word: str,
    row: dict[str, str],
    known: Mapping[AttributeKey, Mapping[Hashable, Any]],
    fault: Callable[[str, str], InputError],
) -> Decision:
    """The decision that a row's word stands for; InputError where it cannot be taken."""
    if word not in DECISIONS:
        raise fault(f"the decision {word!r} is none", f"Write {', '.join(DECISIONS)}.")
    if word == "reject":
        return Decision(key, "rejected")
    if word == "merge":
        return Decision(key, "merged", _merge_target(key, row.get("into", ""), known, fault))

    changes = {}
    for name in CHANGED:
        before = str(known[key][name])
        value = clean_name(row.get(name, before))
        if value == clean_name(before):
            continue
        changes[name] = value
        if problem := name_fault(value):
            raise fault(f"the {name} {problem}", "Write another.")

    if changes.get("level", "image") not in _LEVELS:
        raise fault(f"the level {changes['level']!r} is unknown", f"Write {' or '.join(_LEVELS)}.")
    if word == "rename" and "name" not in changes:
        raise fault("it has no new name", "Write one in the column name.")
    return Decision(key, "accepted", changes=changes)


def _merge_target(
    key: AttributeKey,
    into: str,
    keys: Collection[AttributeKey],
    fault: Callable[[str, str], InputError],
) -> AttributeKey:
    """The attribute that is written as one to merge into; InputError unless it is one alone."""
    target = into.strip()
    by_key = [other for other in keys if " / ".join(other) == target]
    by_name = [other for other in keys if other[1] == target]
    same_category = [other for other in by_name if other[0] == key[0]]
    for matches in (by_key, same_category, by_name):
        if len(matches) == 1 and matches[0] != key:
            return matches[0]

    number = "several attributes" if len(by_name) > 1 else "no other attribute"
    raise fault(f"{target!r} is {number} to merge into", "Write category / name into into.")
