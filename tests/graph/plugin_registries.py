"""All registries of plugins."""

from typing import Any

from generation.backends import BACKENDS
from generation.filters import FILTERS
from generation.sources.segmenters import SEGMENTERS
from graph.plugins import Plugins
from ingest.annotators import ANNOTATORS

REGISTRIES: tuple[Plugins[Any], ...] = (BACKENDS, FILTERS, SEGMENTERS, ANNOTATORS)
