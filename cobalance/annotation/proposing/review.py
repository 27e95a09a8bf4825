"""Decisions on attributes as a table that people fill in."""

from collections.abc import Callable, Collection, Hashable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from cobalance.base.errors import InputError
from cobalance.base.names import clean_name
from cobalance.graph.annotations.attributes import AttributeKey, Decision
from cobalance.ingest.names import name_fault
from cobalance.ingest.tables.sheets import read_sheet

COLUMNS = (
    *("category", "proposed", "name", "level", "caption", "votes", "rounds", "flags", "state"),
    *("decision", "into"),
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
    return pd.DataFrame(
        {
            **{name: attributes[name] for name in COLUMNS[:7]},
            "flags": ["; ".join(flags) for flags in attributes["flags"]],
            "state": attributes["state"],
            "decision": "",
            "into": [" / ".join(into) if into else "" for into in attributes["merged_into"]],
        },
        columns=list(COLUMNS),
    )


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
    now = dict(zip(keys, attributes.to_dict("records"), strict=True))
    found: dict[AttributeKey, Decision] = {}
    for where, row in rows:
        fault = partial(InputError, file, where)
        said = row["decision"].strip().casefold()
        if not said:
            continue
        key = (row["category"].strip(), row["proposed"].strip())
        if key not in now:
            remedy = "Leave the columns category and proposed as they were written."
            raise fault(f"the dataset has no attribute {' / '.join(key)!r}", remedy)
        if key in found:
            raise fault(f"{' / '.join(key)!r} is decided a second time", "Keep one.")
        found[key] = _decision(key, said, row, now, fault)
    return list(found.values())


def accept_all(attributes: pd.DataFrame) -> list[Decision]:
    """Accept all attributes that nobody has decided on, flagged ones too."""
    open_ = attributes[attributes["state"] == "proposed"]
    return [
        Decision(key, "accepted") for key in zip(open_["category"], open_["proposed"], strict=True)
    ]


def _decision(
    key: AttributeKey,
    said: str,
    row: dict[str, str],
    now: Mapping[AttributeKey, Mapping[Hashable, Any]],
    fault: Callable[[str, str], InputError],
) -> Decision:
    if said not in DECISIONS:
        raise fault(f"the decision {said!r} is none", f"Write {', '.join(DECISIONS)}.")
    if said == "reject":
        return Decision(key, "rejected")
    if said == "merge":
        return Decision(key, "merged", _other(key, row.get("into", ""), now, fault))
    changes = {}
    for name in CHANGED:
        before = str(now[key][name])
        value = row.get(name, before)
        if clean_name(value) == clean_name(before):
            continue
        changes[name] = clean_name(value)
        if problem := name_fault(changes[name]):
            raise fault(f"the {name} {problem}", "Write another.")
    if changes.get("level", "image") not in _LEVELS:
        raise fault(f"the level {changes['level']!r} is unknown", f"Write {' or '.join(_LEVELS)}.")
    if said == "rename" and "name" not in changes:
        raise fault("it has no new name", "Write one in the column name.")
    return Decision(key, "accepted", changes=changes)


def _other(
    key: AttributeKey,
    into: str,
    keys: Collection[AttributeKey],
    fault: Callable[[str, str], InputError],
) -> AttributeKey:
    wanted = into.strip()
    whole = [one for one in keys if " / ".join(one) == wanted]
    by_name = [one for one in keys if one[1] == wanted]
    same = [one for one in by_name if one[0] == key[0]]
    for found in (whole, same, by_name):
        if len(found) == 1 and found[0] != key:
            return found[0]
    several = "several attributes" if len(by_name) > 1 else "no other attribute"
    raise fault(f"{wanted!r} is {several} to merge into", "Write category / name into into.")
