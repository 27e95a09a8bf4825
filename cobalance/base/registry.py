"""Registry of named implementations, such as formats, planners and catalogue queries."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from cobalance.base.errors import DuplicateNameError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Named implementations of one kind.

    Parameters
    ----------
    kind : str
        What the entries are, for messages: ``"format"``, ``"planner"``.

    Examples
    --------
    >>> planners: Registry[int] = Registry("planner")
    >>> planners.register("a", 1)
    1
    >>> planners["b"]
    Traceback (most recent call last):
    ...
    cobalance.base.errors.UnknownNameError: unknown planner 'b'. Known: a.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}

    def register(self, name: str, entry: T) -> T:
        """Add `entry` under `name` and return it; a name that is taken raises."""
        if name in self._entries:
            raise DuplicateNameError(f"{self.kind} {name!r} is registered already.")
        self._entries[name] = entry
        return entry

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            raise UnknownNameError(self.kind, name, self._entries)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> list[tuple[str, T]]:
        """Names and entries in the order of registration."""
        return [(name, self[name]) for name in self]
