"""All registries of declarations, and those of them that open something."""

from typing import Any

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.base.registry import Declarations, Plugins
from cobalance.evaluation.metrics import METRICS
from cobalance.evaluation.training.learners import LEARNERS
from cobalance.evaluation.training.methods import METHODS
from cobalance.generation.backends import BACKENDS
from cobalance.generation.filters import FILTERS
from cobalance.generation.planning.planners import PLANNERS
from cobalance.generation.recipes import RECIPES
from cobalance.generation.sources.segmenters import SEGMENTERS

REGISTRIES: tuple[Plugins[Any, Any], ...] = (
    BACKENDS,
    FILTERS,
    SEGMENTERS,
    PLANNERS,
    ANNOTATORS,
    METRICS,
    METHODS,
    LEARNERS,
)
DECLARATIONS: tuple[Declarations[Any], ...] = (*REGISTRIES, RECIPES)
