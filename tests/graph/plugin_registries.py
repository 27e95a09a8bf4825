"""All registries of declarations, and those of them that open something."""

from typing import Any

from evaluation.metrics import METRICS
from evaluation.training.learners import LEARNERS
from evaluation.training.methods import METHODS
from generation.backends import BACKENDS
from generation.filters import FILTERS
from generation.planners import PLANNERS
from generation.recipes import RECIPES
from generation.sources.segmenters import SEGMENTERS
from graph.plugins import Declarations, Plugins
from ingest.annotators import ANNOTATORS

REGISTRIES: tuple[Plugins[Any], ...] = (
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
