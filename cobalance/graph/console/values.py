"""Convert the server's values and plans to plain Python for tables, JSON and CSV."""

from typing import Any

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector

from cobalance.graph.console.times import UnreadableError

# So many characters of text, or bytes, count as one more value.
CHARACTERS_PER_VALUE = 64
MAX_DEPTH = 100
"""Lists and maps in each other: what takes an answer further calls itself for each."""


class NodeValue(dict[str, Any]):
    """A node, with its ``id``, ``labels`` and ``properties``; a query's own map is a plain dict."""


class RelationshipValue(dict[str, Any]):
    """A relationship, with its ``id``, ``type``, ``start``, ``end`` and ``properties``."""


class PathValue(dict[str, Any]):
    """A path, with its ``nodes`` and ``relationships``."""


class TooLargeError(Exception):
    """The size limit is exceeded; caught by the console, never shown."""


class PlainValues:
    """Converts the driver's values to plain ones, up to a total size.

    Parameters
    ----------
    max_values : int
        How many values to convert in all, counting those in lists, maps and nodes.

    Examples
    --------
    >>> PlainValues(10).of({"on": Date(2024, 5, 1), "near": [1, None]})
    {'on': '2024-05-01', 'near': [1, None]}
    >>> PlainValues(2).of([1, 2, 3])
    Traceback (most recent call last):
    ...
    cobalance.graph.console.values.TooLargeError
    """

    def __init__(self, max_values: int) -> None:
        self.left = max_values
        self._depth = 0

    def of(self, value: Any) -> Any:
        """Convert a value to None, bool, int, float, str, list or dict.

        A node becomes a `NodeValue`, a relationship a `RelationshipValue`, a path a `PathValue`:
        dicts of a type of their own. Durations become ISO 8601 text, as dates and times do where
        `read_times_as_text` has not made them text yet; bytes become hexadecimal text, and points
        their coordinates with their reference system.

        Raises
        ------
        TooLargeError
            The total size is used up.
        UnreadableError
            A date or time has no text here.
        RecursionError
            More than `MAX_DEPTH` lists and maps are in each other.
        """
        self._spend(1)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise RecursionError
        plain = self._convert(value)
        self._depth -= 1
        return plain

    def _convert(self, value: Any) -> Any:
        match value:
            case None | bool() | int() | float():
                return value
            case UnreadableError():
                raise value
            case str():
                self._spend(len(value) // CHARACTERS_PER_VALUE)
                return value
            case Node():
                return NodeValue(
                    id=value.element_id, labels=sorted(value.labels), properties=self._map(value)
                )
            case Relationship():
                return RelationshipValue(
                    id=value.element_id,
                    type=value.type,
                    start=_id(value.start_node),
                    end=_id(value.end_node),
                    properties=self._map(value),
                )
            case Path():
                return PathValue(
                    nodes=[self.of(node) for node in value.nodes],
                    relationships=[self.of(edge) for edge in value.relationships],
                )
            case Date() | DateTime() | Duration() | Time():
                return value.iso_format()
            # A point is a tuple too, as a duration is: both come before lists.
            case Point():
                return {"srid": value.srid, "coordinates": list(value)}
            case bytes() | bytearray():
                self._spend(len(value) // CHARACTERS_PER_VALUE)
                return value.hex()
            case Vector():
                return self.of(value.to_native())
            case list() | tuple():
                return [self.of(item) for item in value]
            case dict():
                return self._map(value)
        return str(value)

    def _map(self, mapping: Any) -> dict[str, Any]:
        return {key: self.of(value) for key, value in mapping.items()}

    def _spend(self, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise TooLargeError


def _id(node: Node | None) -> str | None:
    return None if node is None else node.element_id


_ESTIMATED = {"operator": None, "details": "Details", "estimated rows": "EstimatedRows"}
_COUNTED = {"rows": "Rows", "db hits": "DbHits", "memory (bytes)": "Memory"}


def plan_table(
    plan: dict[str, Any], *, is_profile: bool
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the columns and rows of a plan: from the last operator to the first, inputs set in.

    Parameters
    ----------
    plan : dict
        As the driver gives it: ``operatorType``, ``args`` and ``children``.
    is_profile : bool
        With what was counted while it ran.

    Examples
    --------
    >>> scan = {"operatorType": "NodeByLabelScan@neo4j", "args": {"Details": "n:Image"}}
    >>> columns, rows = plan_table(
    ...     {"operatorType": "ProduceResults@neo4j", "args": {}, "children": [scan]},
    ...     is_profile=False,
    ... )
    >>> rows
    [('ProduceResults', None, None), ('NodeByLabelScan', 'n:Image', None)]
    """
    columns = _ESTIMATED | (_COUNTED if is_profile else {})
    rows: list[tuple[Any, ...]] = []

    waiting = [(plan, 0)]
    while waiting:
        step, depth = waiting.pop()
        name = str(step["operatorType"]).partition("@")[0]
        values = [step["args"].get(key) for key in columns.values() if key is not None]
        rows.append(("  " * depth + name, *values))

        # A chain of single inputs reads as a list: only those of an operator with two are set in.
        children = step.get("children") or []
        child_depth = depth if len(children) < 2 else depth + 1
        waiting += [(child, child_depth) for child in reversed(children)]
    return tuple(columns), rows
