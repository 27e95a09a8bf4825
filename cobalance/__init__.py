"""Find and close concept imbalances of image datasets, from Python.

Three lines need no database::

    import cobalance as cb
    data = cb.read("cars.csv")
    cb.imbalances(data, max_size=2)

`connect` opens a store for everything that outlives a session: datasets, plans and jobs.
docs/python.md is a tour.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cobalance.analysis.diagnosis import (
        Comparison,
        Imbalances,
        SplitComparison,
        compare,
        compare_splits,
        imbalances,
        imbalances_with_spark,
    )
    from cobalance.analysis.graphs import ConceptGraph, concept_graph
    from cobalance.analysis.planning import (
        Plan,
        Simulation,
        budget_curve,
        compare_planners,
        plan,
        read_plan,
        resample,
        weights,
    )
    from cobalance.analysis.published import PublishedComparison, compare_published
    from cobalance.data.reading import Data, from_frame, read, urbancars
    from cobalance.datasets import Dataset
    from cobalance.graph.errors import CobalanceError
    from cobalance.making.jobs import Job
    from cobalance.models.annotations import Labels
    from cobalance.models.evaluations import Evaluations, Scores, evaluate
    from cobalance.people.audits import Audit
    from cobalance.people.studies import Study
    from cobalance.stores import Store, connect

__all__ = [
    "Audit",
    "CobalanceError",
    "Comparison",
    "ConceptGraph",
    "Data",
    "Dataset",
    "Evaluations",
    "Imbalances",
    "Job",
    "Labels",
    "Plan",
    "PublishedComparison",
    "Scores",
    "Simulation",
    "SplitComparison",
    "Store",
    "Study",
    "budget_curve",
    "compare",
    "compare_planners",
    "compare_published",
    "compare_splits",
    "concept_graph",
    "connect",
    "evaluate",
    "from_frame",
    "imbalances",
    "imbalances_with_spark",
    "plan",
    "read",
    "read_plan",
    "resample",
    "urbancars",
    "weights",
]

_HOMES = {
    "cobalance.analysis.graphs": ("ConceptGraph", "concept_graph"),
    "cobalance.data.reading": ("Data", "from_frame", "read", "urbancars"),
    "cobalance.models.annotations": ("Labels",),
    "cobalance.datasets": ("Dataset",),
    "cobalance.making.jobs": ("Job",),
    "cobalance.people.audits": ("Audit",),
    "cobalance.people.studies": ("Study",),
    "cobalance.stores": ("Store", "connect"),
    "cobalance.models.evaluations": ("Evaluations", "Scores", "evaluate"),
    "cobalance.analysis.diagnosis": (
        "Comparison",
        "Imbalances",
        "SplitComparison",
        "compare",
        "compare_splits",
        "imbalances",
        "imbalances_with_spark",
    ),
    "cobalance.analysis.planning": (
        "Plan",
        "Simulation",
        "budget_curve",
        "compare_planners",
        "plan",
        "read_plan",
        "resample",
        "weights",
    ),
    "cobalance.analysis.published": ("PublishedComparison", "compare_published"),
    "cobalance.graph.errors": ("CobalanceError",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: ``import cobalance`` alone loads nothing heavy."""
    if name not in _HOME:
        raise AttributeError(f"module 'cobalance' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
