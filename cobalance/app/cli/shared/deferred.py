"""Import modules on first use: help and completion call nothing of what commands import."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import Any


class _Finder(PathFinder):
    @classmethod
    def find_spec(cls, name: str, *where: Any) -> ModuleSpec | None:
        """Find modules of cobalance, to be loaded lazily; leave others to the usual finders."""
        found = super().find_spec(name, *where) if name.startswith("cobalance.") else None
        if found is not None and found.loader is not None:
            found.loader = LazyLoader(found.loader)
        return found


@contextmanager
def imports_deferred() -> Iterator[None]:
    """Have cobalance's modules that are imported meanwhile loaded when something of them is used.

    ``from package import module`` waits so; ``from module import name`` uses the module at once.
    """
    sys.meta_path.insert(0, _Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(_Finder)
