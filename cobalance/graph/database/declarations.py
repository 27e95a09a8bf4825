"""Dataclasses that declare nodes, edges and their properties."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import NoneType
from typing import Any, Literal

DATASET = "dataset"
"""The property that keys a node to its dataset."""


class Json:
    """Type of a property that holds JSON text."""


def json_text(values: Mapping[str, Any]) -> str:
    """Values as the graph keeps them: equal ones have equal texts."""
    return json.dumps(dict(values), ensure_ascii=False, sort_keys=True)


def utc_time(milliseconds: int) -> datetime:
    """Convert milliseconds since 1970 to a UTC datetime."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


_PARSERS: dict[Any, Callable[[Any], Any]] = {Json: json.loads, datetime: utc_time}
_ACCEPTED: dict[Any, tuple[type, ...]] = {
    str: (str,),
    int: (int,),
    float: (float,),
    bool: (bool,),
    bytes: (bytes,),
    datetime: (datetime,),
    Json: (str,),
    list[str]: (list, tuple),
    list[int]: (list, tuple),
}


@dataclass(frozen=True)
class Property:
    """A property of a node or an edge; any may be missing, but for a key.

    Parameters
    ----------
    name : str
        As in the database.
    type : type
        ``str``, ``int``, ``float``, ``bool``, ``bytes``, ``datetime``, `Json`, ``list[str]`` or
        ``list[int]``.
    about : str
        What it holds, for the reference of the graph.

    Examples
    --------
    >>> Property("n", int).check([3, None])
    >>> Property("n", int).check([3, "four"])
    Traceback (most recent call last):
    ...
    TypeError: n holds int, not str
    """

    name: str
    type: Any = str
    about: str = ""

    def __post_init__(self) -> None:
        _check_name(self.name)
        if self.type not in _ACCEPTED:
            raise ValueError(f"{self.name}: the database cannot hold {self.type}")

    @property
    def type_name(self) -> str:
        """The type as documentation shows it."""
        if self.type is Json:
            return "JSON"
        is_list = self.type in (list[str], list[int])
        return str(self.type if is_list else self.type.__name__)

    def check(self, values: Iterable[object]) -> None:
        """Raise TypeError if a value has another type; items of a list are not checked."""
        # A set of types costs next to nothing, even for a million values.
        wrong_types = set(map(type, values)) - {*_ACCEPTED[self.type], NoneType}
        if wrong_types:
            names = ", ".join(sorted(wrong_type.__name__ for wrong_type in wrong_types))
            raise TypeError(f"{self.name} holds {self.type_name}, not {names}")


Scope = Literal["dataset", "store", "none"]


@dataclass(frozen=True)
class Definition:
    """A uniqueness constraint or an index."""

    kind: Literal["constraint", "index"]
    name: str
    label: str
    properties: tuple[str, ...]


@dataclass(frozen=True, init=False)
class Node:
    """A kind of node, identified by one property.

    Parameters
    ----------
    label : str
        The Cypher label.
    about : str
        What such a node stands for.
    key : Property
        Identifies the node within its scope.
    *properties : Property
        All others but ``dataset``, in the order in which writes pass them.
    indexed : tuple of tuple of str
        Properties, alone or together, that reads filter or sort by.
    scope : str
        Where its key is unique. ``"dataset"``: in its dataset, which its indexes begin with.
        ``"store"``: in the store, although it belongs to a dataset; such nodes are found by their
        key alone, also while their dataset is being renamed. ``"none"``: in the store, and it
        belongs to no dataset.
    """

    label: str
    about: str
    key: Property
    properties: tuple[Property, ...]
    indexed: tuple[tuple[str, ...], ...]
    scope: Scope

    def __init__(
        self,
        label: str,
        about: str,
        key: Property,
        *properties: Property,
        indexed: tuple[tuple[str, ...], ...] = (),
        scope: Scope = "dataset",
    ) -> None:
        vars(self).update(label=label, about=about, key=key, properties=properties)
        vars(self).update(indexed=indexed, scope=scope)

        _check_name(label)
        unknown = {name for names in indexed for name in names}
        unknown -= {key.name, *self.property_names}
        if unknown:
            raise ValueError(f"{label}: indexed but not declared: {sorted(unknown)}")

    @property
    def property_names(self) -> tuple[str, ...]:
        """Names of the properties, without the key and the dataset."""
        return tuple(declared.name for declared in self.properties)

    @property
    def definitions(self) -> Iterator[Definition]:
        """The constraint on its key, and its indexes."""
        name = self.label.lower()
        within = (DATASET,) if self.scope == "dataset" else ()
        yield Definition("constraint", f"{name}_key", self.label, (*within, self.key.name))

        # The key of a node whose key is unique in the store does not begin with its dataset.
        indexes = [(DATASET,)] if self.scope == "store" else []
        for names in (*indexes, *self.indexed):
            yield Definition("index", f"{name}_{'_'.join(names)}", self.label, (*within, *names))

    def projection(self, variable: str, leave_out: Collection[str] = ()) -> str:
        """Cypher of the entries of a map of its key, dataset and properties, for `parse`.

        Examples
        --------
        >>> tag = Node("Tag", "A tag", Property("name"), Property("at", datetime))
        >>> tag.projection("t", leave_out=["dataset"])
        '.name, at: t.at.epochMillis'
        """
        moments = {declared.name for declared in self.properties if declared.type is datetime}
        names = [self.key.name, DATASET, *self.property_names]
        entries = {name: f".{name}" for name in names if name not in leave_out}
        for name in moments & entries.keys():
            entries[name] = f"{name}: {variable}.{name}.epochMillis"
        return ", ".join(entries.values())

    def parse(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Read a `projection`: moments in UTC, and JSON as what it holds."""
        parsed = dict(stored)
        for declared in self.properties:
            parse = _PARSERS.get(declared.type)
            if parse is not None and parsed.get(declared.name) is not None:
                parsed[declared.name] = parse(parsed[declared.name])
        return parsed

    def check(self, properties: Mapping[str, object]) -> dict[str, object]:
        """Check properties before a write: each must be declared, and of its type.

        Raises
        ------
        TypeError
            One is of another type.
        ValueError
            One is not declared.
        """
        by_name = {declared.name: declared for declared in self.properties}
        for name, value in properties.items():
            if name not in by_name:
                raise ValueError(f"{self.label} has no property {name!r}")
            by_name[name].check([value])
        return dict(properties)


@dataclass(frozen=True, init=False)
class Edge:
    """A kind of relationship, at most once between two nodes."""

    type: str
    start: Node
    end: Node
    about: str
    properties: tuple[Property, ...]

    def __init__(
        self, kind: str, start: Node, end: Node, about: str, *properties: Property
    ) -> None:
        vars(self).update(type=kind, start=start, end=end, about=about, properties=properties)
        _check_name(kind)

    @property
    def property_names(self) -> tuple[str, ...]:
        """Names of the properties."""
        return tuple(declared.name for declared in self.properties)


def _check_name(name: str) -> None:
    if not name.isidentifier():
        raise ValueError(f"{name!r} cannot stand in Cypher unquoted")


CREATED = (Property("created_by"), Property("created_at", datetime))
"""Who made something, and when."""
