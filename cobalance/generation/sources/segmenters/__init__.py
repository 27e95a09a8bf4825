"""One module per segmenter, and the registry of them all."""

from typing import TYPE_CHECKING

from cobalance.base import Plugins

if TYPE_CHECKING:
    from cobalance.base import Plugin
    from cobalance.generation.sources.segmenters.segmenter import Segmenter

SEGMENTERS: "Plugins[Segmenter, Plugin]" = Plugins(
    "segmenter",
    {
        "sam": "cobalance.generation.sources.segmenters.sam",
        "parsing": "cobalance.generation.sources.segmenters.parsing",
        "people": "cobalance.generation.sources.segmenters.people",
        "clipseg": "cobalance.generation.sources.segmenters.clipseg",
    },
    "segmenters",
    calls="segment(image, box); describe()",
)
