"""All plug-ins: cobalance's own, and those of packages and files, with what is wrong with them."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.training.methods import METHODS
from cobalance.generation.backends import BACKENDS
from cobalance.generation.export import EXPORTERS
from cobalance.generation.filters import FILTERS
from cobalance.generation.planning.planners import PLANNERS
from cobalance.generation.recipes import RECIPES
from cobalance.generation.sources.segmenters import SEGMENTERS
from cobalance.graph.plugin_offers import unknown_groups
from cobalance.graph.plugins import Declarations, PluginError, is_installed
from cobalance.ingest.annotators import ANNOTATORS
from cobalance.ingest.formats import FORMATS

REGISTRIES: dict[str, Declarations[Any]] = {
    one.group: one
    for one in (
        *(FORMATS, ANNOTATORS, PLANNERS, RECIPES, BACKENDS, FILTERS, SEGMENTERS, EXPORTERS),
        *(METHODS, METRICS),
    )
}
"""Registries that packages and files may add to, by the group of their entry points."""

OWN = "cobalance"
"""The source of cobalance's own plug-ins."""


def list_plugins(*, own: bool = False) -> pd.DataFrame:
    """A row for each plug-in that packages and files offer.

    Parameters
    ----------
    own : bool
        Also cobalance's own.

    Returns
    -------
    pandas.DataFrame
        ``kind``, ``name``, ``purpose``; ``source``, the package with its version or the file;
        ``extra``, the extra that it needs, and ``installed``, whether that is; ``problem``, why it
        cannot be used. Text that does not apply is empty.
    """
    columns = ["kind", "name", "purpose", "source", "extra", "installed", "problem"]
    rows = [row for registry in REGISTRIES.values() for row in _rows(registry, own)]
    for group, source in unknown_groups(REGISTRIES).items():
        kinds = ", ".join(REGISTRIES)
        problem = f"{source} is under {group}, which is no kind of plug-in. There are {kinds}."
        rows.append(["", "", "", source, "", True, problem])
    return pd.DataFrame(rows, columns=columns).astype({"installed": bool})


def usable_plugins() -> frozenset[str]:
    """The plug-ins of packages and files that can be used here, as `Declarations.offered` has them.

    Raises nothing for one that cannot: a warning is logged.
    """
    return frozenset(name for one in REGISTRIES.values() for name in one.usable())


def _rows(registry: Declarations[Any], own: bool) -> Iterator[list[Any]]:
    offers = registry.offers()
    for name in registry:
        is_own = not registry.offered(name)
        if is_own and own:
            yield [registry.kind, name, *_declared(registry, name, OWN)]
        for offer in offers.get(name, []):
            if is_own:
                problem = (
                    f"cobalance's own {registry.kind} is called {name}: that of {offer.source} is "
                    "not used. Give it another name."
                )
                yield [registry.kind, name, "", offer.source, "", True, problem]
            else:
                yield [registry.kind, name, *_declared(registry, name, offer.source)]


def _declared(registry: Declarations[Any], name: str, source: str) -> list[Any]:
    """Purpose, source, extra, whether it is installed, and problem of a plug-in."""
    try:
        plugin = registry[name]
    except PluginError as error:
        return ["", source, "", True, str(error)]
    extra = getattr(plugin, "extra", None)
    return [plugin.purpose, source, extra or "", extra is None or is_installed(extra), ""]
