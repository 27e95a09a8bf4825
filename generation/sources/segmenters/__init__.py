"""One module per segmenter, and the registry of them all."""

from generation.sources.segmenters.segmenter import Segmenter
from graph.plugins import Plugins

SEGMENTERS: Plugins[Segmenter] = Plugins(
    "segmenter",
    {
        "sam": "generation.sources.segmenters.sam",
        "parsing": "generation.sources.segmenters.parsing",
        "people": "generation.sources.segmenters.people",
        "clipseg": "generation.sources.segmenters.clipseg",
    },
)
