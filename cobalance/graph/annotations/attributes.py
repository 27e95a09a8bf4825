"""Proposed attributes of a dataset, and the decisions on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from cobalance.base.errors import ConflictError, OptionError, UnknownNameError
from cobalance.graph.annotations import statements
from cobalance.graph.database.annotation_nodes import ATTRIBUTE
from cobalance.graph.database.store import GraphStore

Level = Literal["image", "object"]
AttributeState = Literal["proposed", "accepted", "rejected", "merged"]
AttributeKey = tuple[str, str]
"""Category, and the name that was proposed."""

COLUMNS = (
    *("category", "proposed", "name", "level", "caption", "votes", "rounds", "flags", "state"),
    *("decided_by", "merged_into", "run", "concept"),
)


@dataclass(frozen=True)
class ProposedAttribute:
    """An attribute to propose, as `cobalance.graph.database.annotation_nodes.ATTRIBUTE` says.

    Category and name are such as "habitat" and "wetland"; the caption of an object is what a
    detector is asked for.
    """

    category: str
    name: str
    level: Level
    caption: str
    votes: int = 1
    rounds: int = 1
    flags: tuple[str, ...] = ()

    @property
    def key(self) -> AttributeKey:
        """Key in its dataset."""
        return self.category, self.name


@dataclass(frozen=True)
class Decision:
    """Decision on an attribute.

    Parameters
    ----------
    key : AttributeKey
        Of the attribute.
    state : {"accepted", "rejected", "merged", "proposed"}
        The last takes a decision back.
    into : AttributeKey or None
        The attribute that stands for both; only with ``merged``.
    changes : mapping of str to str
        New values of ``name``, ``level`` or ``caption``.
    """

    key: AttributeKey
    state: AttributeState
    into: AttributeKey | None = None
    changes: Mapping[str, str] = field(default_factory=dict)


def save_attributes(store: GraphStore, run: str, attributes: Sequence[ProposedAttribute]) -> None:
    """Write proposed attributes; decisions on known ones stay."""
    rows = [
        {
            "key": list(one.key),
            "properties": ATTRIBUTE.check(
                vars(one) | {"flags": list(one.flags), "position": at, "state": "proposed"}
            ),
        }
        for at, one in enumerate(attributes)
    ]
    if rows:
        store.write_all(statements.SAVE_ATTRIBUTES, len(rows), run=run, rows=rows)


def list_attributes(store: GraphStore, dataset: str) -> pd.DataFrame:
    """List a dataset's attributes, in the order in which they were proposed.

    Returns
    -------
    pandas.DataFrame
        ``category``, ``proposed`` (the name then), ``name`` (now), ``level``, ``caption``,
        ``votes``, ``rounds``, ``flags`` (tuple of str), ``state``, ``decided_by``,
        ``merged_into`` (an `AttributeKey`), ``run`` (that proposed it), ``concept``; None where
        missing.
    """
    rows = store.read(statements.ATTRIBUTES, dataset=dataset)
    found = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    found["flags"] = found["flags"].map(tuple)
    found["merged_into"] = found["merged_into"].map(lambda into: into and tuple(into))
    return found


def decide_attributes(
    store: GraphStore, dataset: str, decisions: Sequence[Decision], decided_by: str = ""
) -> None:
    """Write decisions, all or none.

    Raises
    ------
    UnknownNameError
        The dataset has no such attribute.
    OptionError
        An attribute is merged and none named, or a new value is empty.
    ConflictError
        One would be merged into itself, or into one that is not accepted.
    """
    known = list_attributes(store, dataset)
    keys = list(zip(known["category"], known["proposed"], strict=True))
    state: dict[AttributeKey, str] = dict(zip(keys, known["state"], strict=True))
    state |= {one.key: one.state for one in decisions}
    names = [" / ".join(key) for key in keys]
    for one in decisions:
        for key in (one.key, *([one.into] if one.into else [])):
            if key not in keys:
                raise UnknownNameError("attribute", " / ".join(key), names)
        if (one.state == "merged") != (one.into is not None):
            raise OptionError(f"{one.key[1]!r} is merged: name the attribute that stands for both.")
        if one.into is not None and (one.into == one.key or state[one.into] != "accepted"):
            raise ConflictError(
                f"{one.key[1]!r} cannot be merged into {one.into[1]!r}, which is not accepted. "
                "Accept that one first."
            )
        for name, value in one.changes.items():
            if not value.strip():
                raise OptionError(f"The {name} of {one.key[1]!r} is empty. Write one.")
    rows = [
        {
            "key": list(one.key),
            "values": {**ATTRIBUTE.check(dict(one.changes)), "state": one.state},
            "into": None if one.into is None else list(one.into),
        }
        for one in decisions
    ]
    if rows:
        store.write_all(
            statements.DECIDE_ATTRIBUTES,
            len({one.key for one in decisions}),
            dataset=dataset,
            rows=rows,
            decided_by=decided_by,
        )


def write_flags(
    store: GraphStore, dataset: str, flags: Mapping[AttributeKey, Sequence[str]]
) -> None:
    """Replace the reasons why people should review attributes."""
    rows = [{"key": list(key), "flags": list(reasons)} for key, reasons in flags.items()]
    store.write(statements.WRITE_FLAGS, dataset=dataset, rows=rows)


def link_concepts(store: GraphStore, dataset: str, concepts: Mapping[AttributeKey, str]) -> None:
    """Lead accepted attributes to their concepts, where an image shows these."""
    rows = [{"key": list(key), "concept": name} for key, name in concepts.items()]
    store.write(statements.LINK_CONCEPTS, dataset=dataset, rows=rows)
