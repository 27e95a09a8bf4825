"""Proposed attributes of a dataset, and the decisions on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd

from cobalance.base import ConflictError, OptionError, UnknownNameError
from cobalance.graph.annotations import statements
from cobalance.graph.database import ATTRIBUTE, GraphStore

Level = Literal["image", "object"]
AttributeState = Literal["proposed", "accepted", "rejected", "merged"]
AttributeKey = tuple[str, str]
"""Category, and the name that was proposed."""

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
    "decided_by",
    "merged_into",
    "run",
    "concept",
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
    rows = []
    for position, attribute in enumerate(attributes):
        properties = dict(vars(attribute))
        properties["flags"] = list(attribute.flags)
        properties |= {"position": position, "state": "proposed"}
        rows.append({"key": list(attribute.key), "properties": ATTRIBUTE.check(properties)})

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
    attributes = pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
    attributes["flags"] = attributes["flags"].map(tuple)
    attributes["merged_into"] = attributes["merged_into"].map(lambda into: into and tuple(into))
    return attributes


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
    attributes = list_attributes(store, dataset)
    keys = list(zip(attributes["category"], attributes["proposed"], strict=True))
    states: dict[AttributeKey, str] = dict(zip(keys, attributes["state"], strict=True))

    # Decisions may build on each other: an attribute may be accepted and another merged into it.
    states |= {decision.key: decision.state for decision in decisions}
    for decision in decisions:
        _check_known(decision, keys)
        _check_decision(decision, states)

    rows = []
    for decision in decisions:
        values = {**ATTRIBUTE.check(dict(decision.changes)), "state": decision.state}
        into = None if decision.into is None else list(decision.into)
        rows.append({"key": list(decision.key), "values": values, "into": into})
    if rows:
        n_attributes = len({decision.key for decision in decisions})
        store.write_all(
            statements.DECIDE_ATTRIBUTES,
            n_attributes,
            dataset=dataset,
            rows=rows,
            decided_by=decided_by,
        )


def _check_known(decision: Decision, keys: Sequence[AttributeKey]) -> None:
    for key in (decision.key, decision.into):
        if key is not None and key not in keys:
            names = [" / ".join(known_key) for known_key in keys]
            raise UnknownNameError("attribute", " / ".join(key), names)


def _check_decision(decision: Decision, states: Mapping[AttributeKey, str]) -> None:
    """Raise an error unless a decision is possible among the states that all attributes get."""
    name, into = decision.key[1], decision.into
    if (decision.state == "merged") != (into is not None):
        raise OptionError(f"{name!r} is merged: name the attribute that stands for both.")
    if into is not None and (into == decision.key or states[into] != "accepted"):
        raise ConflictError(
            f"{name!r} cannot be merged into {into[1]!r}, which is not accepted. "
            "Accept that one first."
        )
    for property_name, value in decision.changes.items():
        if not value.strip():
            raise OptionError(f"The {property_name} of {name!r} is empty. Write one.")


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
