"""What installed packages and a folder of files offer beside cobalance's own plug-ins.

A package offers plug-ins by entry points: the group is ``cobalance.filters`` for filters, and so on
for each kind, the name is the plug-in's, and the value its module. The folder has a sub-folder for
each kind, such as ``filters``, with a file for each plug-in that is called like the plug-in. Names
are known without importing anything.
"""

import importlib
import importlib.util
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType

PREFIX = "cobalance."

_find_folder: Callable[[], Path | None] = lambda: None  # noqa: E731


def take_files_from(find_folder: Callable[[], Path | None]) -> None:
    """Have files looked for in a folder, too; the function is called at each look."""
    global _find_folder
    _find_folder = find_folder


@dataclass(frozen=True)
class Offer:
    """A plug-in of a package or of a file.

    Parameters
    ----------
    name : str
        The plug-in's.
    source : str
        The package with its version, or the file.
    module : str or Path
        Its module's full name, or the file.
    """

    name: str
    source: str
    module: str | Path

    @property
    def remedy(self) -> str:
        """What to do where it cannot be used."""
        if isinstance(self.module, Path):
            return "Correct the file, or take it out of the folder."
        return f"Correct or uninstall {self.source.partition(' ')[0]}."

    def load(self) -> ModuleType:
        """Import the module, or run the file once; raises whatever it raises.

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
    name = f"cobalance_plugins.{file.parent.name}.{file.stem}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(file):
        return known
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def find_offers(group: str) -> dict[str, list[Offer]]:
    """Offers of a kind by name, such as those of the group ``filters``."""
    found: dict[str, list[Offer]] = {}
    for offer in (*_of_packages().get(group, ()), *_of_files(group)):
        found.setdefault(offer.name, []).append(offer)
    return found


def unknown_groups(known: Mapping[str, object]) -> dict[str, str]:
    """Groups and sub-folders that offer plug-ins of no known kind, each with its first source."""
    found = {
        f"{PREFIX}{group}": offers[0].source
        for group, offers in _of_packages().items()
        if group not in known
    }
    folder = _find_folder()
    if folder is not None:
        for file in sorted([*folder.glob("[!_.]*.py"), *folder.glob("*/[!_.]*.py")]):
            if file.parent == folder or file.parent.name not in known:
                found.setdefault(str(file.parent), str(file))
    return found


@lru_cache(maxsize=1)
def _of_packages() -> Mapping[str, list[Offer]]:
    """Offers of all installed packages, by group; read once, which takes 10 ms and more."""
    from importlib.metadata import entry_points  # 30 ms, which a process may do without

    every = entry_points()
    return {
        group.removeprefix(PREFIX): [
            Offer(
                point.name,
                f"{point.dist.name} {point.dist.version}" if point.dist else point.value,
                point.value.partition(":")[0].strip(),
            )
            for point in every.select(group=group)
        ]
        for group in sorted(every.groups)
        if group.startswith(PREFIX)
    }


def _of_files(group: str) -> list[Offer]:
    folder = _find_folder()
    if folder is None:
        return []
    files = sorted((folder / group).glob("[!_.]*.py"))
    return [Offer(file.stem, str(file), file) for file in files]
