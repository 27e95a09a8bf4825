"""One module per filter, and the registry of them all."""

from typing import TYPE_CHECKING

from cobalance.base import Plugins

if TYPE_CHECKING:
    from cobalance.generation.filters.filter import Filter, FilterPlugin

FILTERS: "Plugins[Filter, FilterPlugin]" = Plugins(
    "filter",
    {
        "sanity": "cobalance.generation.filters.sanity",
        "blank": "cobalance.generation.filters.blank",
        "duplicates": "cobalance.generation.filters.duplicates",
        "clip": "cobalance.generation.filters.clip",
        "objects": "cobalance.generation.filters.objects",
        "same_objects": "cobalance.generation.filters.same_objects",
        "same_colours": "cobalance.generation.filters.same_colours",
        "embedding": "cobalance.generation.filters.embedding",
        "confidence": "cobalance.generation.filters.confidence",
        "safety": "cobalance.generation.filters.safety",
    },
    "filters",
    "cobalance.generation.filters.filter.FilterPlugin",
    "judge(requests, made); describe()",
)
