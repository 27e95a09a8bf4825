"""Import modules on first use, so that help and completion stay quick."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from threading import RLock
from types import ModuleType
from typing import Any


class _Deferred(ModuleType):
    """Module loaded on first use; a failed import raises again, unlike with `LazyLoader`."""

    def __getattr__(self, name: str) -> Any:
        """Load the module, which has nothing of this name yet; other threads wait."""
        state: dict[str, Any] = self.__spec__.loader_state  # type: ignore[union-attr]
        with state["lock"]:
            # The import may ask the module for attributes itself: it is not begun again.
            if self.__class__ is _Deferred and not state["is_loading"]:
                state["is_loading"] = True
                try:
                    self.__loader__.exec_module(self)  # type: ignore[union-attr]
                    # From now on attributes are found without this method.
                    self.__class__ = ModuleType  # type: ignore[assignment]
                finally:
                    state["is_loading"] = False

        return ModuleType.__getattribute__(self, name)


class _Loader(LazyLoader):
    def exec_module(self, module: ModuleType) -> None:
        """Leave the module to its own loader, later."""
        spec = module.__spec__
        spec.loader_state = {"lock": RLock(), "is_loading": False}  # type: ignore[union-attr]
        module.__loader__ = spec.loader = self.loader  # type: ignore[attr-defined,union-attr]
        module.__class__ = _Deferred


class _Finder(PathFinder):
    @classmethod
    def find_spec(cls, name: str, *where: Any) -> ModuleSpec | None:
        """Find modules of cobalance, to be loaded lazily; leave others to the usual finders."""
        if not name.startswith("cobalance."):
            return None
        spec = super().find_spec(name, *where)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


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
