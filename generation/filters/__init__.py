"""One module per filter, and the registry of them all."""

from generation.filters.filter import Filters

FILTERS = Filters(
    "filter",
    {
        "sanity": "generation.filters.sanity",
        "blank": "generation.filters.blank",
        "duplicates": "generation.filters.duplicates",
        "clip": "generation.filters.clip",
        "objects": "generation.filters.objects",
        "same_objects": "generation.filters.same_objects",
        "same_colours": "generation.filters.same_colours",
        "embedding": "generation.filters.embedding",
        "confidence": "generation.filters.confidence",
        "safety": "generation.filters.safety",
    },
)
