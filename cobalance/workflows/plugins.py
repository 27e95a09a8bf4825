"""List plug-ins: cobalance's own, and others of packages and files, with their problems."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from cobalance.annotation import ANNOTATORS
from cobalance.base import (
    Declarations,
    MachineError,
    MissingExtraError,
    files_folder,
    is_installed,
    suggest_names,
)
from cobalance.evaluation import METHODS, METRICS, TABLES
from cobalance.generation import BACKENDS, EXPORTERS, FILTERS, PLANNERS, RECIPES, SEGMENTERS
from cobalance.ingest import FORMATS

REGISTRIES: tuple[Declarations[Any], ...] = (
    FORMATS,
    ANNOTATORS,
    PLANNERS,
    RECIPES,
    BACKENDS,
    FILTERS,
    SEGMENTERS,
    EXPORTERS,
    METHODS,
    METRICS,
    TABLES,
)
"""Registries that packages and files may add to."""


def list_plugins(*, own: bool = False) -> pd.DataFrame:
    """A row for each plug-in that packages and files offer, and with `own` of cobalance's.

    Returns
    -------
    pandas.DataFrame
        ``kind``, ``name``, ``purpose``, ``source`` (the package with its version, or the file), and
        ``problem``: why it cannot be used here, or empty. What else lies in the folder of files has
        a row without kind.
    """
    rows = []
    for registry in REGISTRIES:
        offers, kind = registry.offers(), registry.kind
        for name in registry:
            is_own = not registry.list_offered(name)
            if is_own and own:
                rows.append((kind, name, "cobalance", *_describe(registry, name)))
            for offer in offers.get(name, []):
                purpose, problem = "", ""
                # A plug-in of cobalance goes before one of a package of the same name.
                if is_own:
                    problem = (
                        f"The {kind} {name} of {offer.source} is not used: cobalance has its own."
                    )
                else:
                    purpose, problem = _describe(registry, name)
                rows.append((kind, name, offer.source, purpose, problem))

    rows += [("", *row) for row in _find_misplaced()]
    table = pd.DataFrame(rows, columns=["kind", "name", "source", "purpose", "problem"])
    return table[["kind", "name", "purpose", "source", "problem"]]


def _find_misplaced() -> Iterator[tuple[str, str, str, str]]:
    """Find folders and files in the folder of files that are no plug-ins, as cells of a row."""
    folder, groups = files_folder(), [registry.group for registry in REGISTRIES]
    # Python's own files, and hidden ones, are left out.
    for place in sorted(folder.glob("[!_.]*/")) if folder else ():
        if place.name not in groups:
            hint = suggest_names(place.name, groups, "Folders of plug-ins")
            yield place.name, str(place), "", f"{place} is not looked into. {hint}"
            continue
        for file in sorted(place.glob("[!_.]*")):
            if file.suffix != ".py":
                yield file.name, str(file), "", f"{file} is no plug-in: its name has to end in .py."


def _describe(registry: Declarations[Any], name: str) -> tuple[str, str]:
    """A plug-in's purpose, and why it cannot be used here, if that is so."""
    try:
        plugin = registry[name]
    except MachineError as error:
        return "", str(error)
    extra = getattr(plugin, "extra", None)
    if extra is None or is_installed(extra):
        return plugin.purpose, ""
    return plugin.purpose, str(MissingExtraError(f"The {registry.kind} {name}", extra))


def usable_plugins() -> frozenset[str]:
    """The plug-ins of packages and files that can be used here, such as ``filter mine``."""
    offered: set[str] = set()
    for registry in REGISTRIES:
        offered.update(registry.list_offered(*dict(registry.items())))
    return frozenset(offered)
