"""One module per segmenter, and the registry of them all."""

from cobalance.base import Plugin, Plugins
from cobalance.generation.sources.segmenters.segmenter import Segmenter

SEGMENTERS: Plugins[Segmenter, Plugin] = Plugins(
    "segmenter",
    {
        "sam": "cobalance.generation.sources.segmenters.sam",
        "parsing": "cobalance.generation.sources.segmenters.parsing",
        "people": "cobalance.generation.sources.segmenters.people",
        "clipseg": "cobalance.generation.sources.segmenters.clipseg",
    },
    "segmenters",
    Plugin,
    "segment(image, box); describe()",
)
