"""Find and close concept imbalances of image datasets, from Python.

Three lines need no database::

    import cobalance as cb
    data = cb.read("cars.csv")
    cb.imbalances(data, max_size=2)

`connect` opens a store for everything that outlives a session: datasets, plans and jobs.
docs/python.md is a tour.
"""

import importlib
import os
from pathlib import Path
from typing import Any

from cobalance.base import take_files_from

_HOMES = {
    "cobalance.notebook.graphs": ("ConceptGraph", "concept_graph"),
    "cobalance.notebook.data": ("Data", "read", "urbancars"),
    "cobalance.notebook.labels": ("Labels",),
    "cobalance.notebook.datasets": ("Dataset",),
    "cobalance.notebook.jobs": ("Job",),
    "cobalance.notebook.panels": ("Audit", "Study"),
    "cobalance.notebook.stores": ("Store", "connect"),
    "cobalance.notebook.evaluations": ("Evaluations", "Scores", "evaluate"),
    "cobalance.notebook.diagnosis": (
        "Comparison",
        "Imbalances",
        "PublishedComparison",
        "SplitComparison",
        "compare",
        "compare_published",
        "compare_splits",
        "imbalances",
        "imbalances_with_spark",
    ),
    "cobalance.notebook.plans": (
        "Plan",
        "Simulation",
        "budget_curve",
        "compare_planners",
        "plan",
        "read_plan",
        "resample",
        "weights",
    ),
    "cobalance.base.errors": ("CobalanceError",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME)


def _plugin_folder() -> Path | None:
    # Settings take a tenth of a second to import.
    if not os.environ.get("COBALANCE_PLUGINS"):
        return None
    from cobalance.workflows.settings import LogSettings

    folder = LogSettings.from_environment().cobalance_plugins
    return None if folder is None else folder.absolute()


# Whichever front end this process is, plug-ins in files are found.
take_files_from(_plugin_folder)


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: ``import cobalance`` alone loads nothing heavy."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version(__name__)
    if name not in _HOME:
        raise AttributeError(f"module 'cobalance' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
