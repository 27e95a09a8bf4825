"""Plug-ins that installed packages and a folder of files offer beside cobalance's own.

A package offers plug-ins by entry points: the group is ``cobalance.filters`` for filters, and so on
for each kind, the name is the plug-in's, and the value its module. The folder has a sub-folder for
each kind, such as ``filters``, with a file for each plug-in that is called like the plug-in. Names
are known without importing anything.
"""

import importlib
import importlib.util
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from cobalance.base.grouping import group_pairs

_find_folder: Callable[[], Path | None] = lambda: None  # noqa: E731


def take_files_from(find_folder: Callable[[], Path | None]) -> None:
    """Have files looked for in a folder, too; the function is called at each look."""
    global _find_folder
    _find_folder = find_folder


def files_folder() -> Path | None:
    """The folder that files are looked for in, if there is one."""
    return _find_folder()


@dataclass(frozen=True)
class Offer:
    """A plug-in that a package or a file offers.

    Parameters
    ----------
    source : str
        The package with its version, or the file.
    module : str or Path
        Its module's full name, or the file.
    """

    name: str
    source: str
    module: str | Path

    def load(self) -> ModuleType:
        """Import the module, or run the file once; its own errors pass.

        Raises
        ------
        PermissionError
            Everybody may write the file or its folders: whose code it is cannot be told.
        """
        if isinstance(self.module, str):
            return importlib.import_module(self.module)
        for place in (self.module, *self.module.parents[:2]):
            if place.stat().st_mode & stat.S_IWOTH:
                raise PermissionError(f"everybody may write {place}; run chmod o-w on it")
        return _run_file(self.module)


def _run_file(file: Path) -> ModuleType:
    """The module of a file, which is run once in a process."""
    name = f"cobalance_plugins.{file.parent.name}.{file.stem}"
    # The folder may be another one by now, with a file of the same name.
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(file):
        return loaded

    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - it ends in .py
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        # As for modules of packages: the next call runs the file again.
        del sys.modules[name]
        raise
    return module


def find_offers(group: str) -> dict[str, list[Offer]]:
    """Offers of a group, such as ``filters``, by name."""
    offers = list(_of_packages(group))
    folder = files_folder()
    if folder is not None:
        files = sorted((folder / group).glob("[!_.]*.py"))
        offers += [Offer(file.stem, str(file), file) for file in files]
    return group_pairs((offer.name, offer) for offer in offers)


@lru_cache
def _of_packages(group: str) -> list[Offer]:
    """Offers of installed packages, by their entry points."""
    # Slow to import, and many commands need no plug-in.
    from importlib.metadata import entry_points

    offers = []
    for point in entry_points(group=f"cobalance.{group}"):
        source = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        # The value is a module; whatever a package names in it is not needed.
        offers.append(Offer(point.name, source, point.value.partition(":")[0].strip()))
    return offers
