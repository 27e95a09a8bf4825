"""Annotator that finds concepts with Grounding DINO or its kin."""

from cobalance.graph.plugins import Plugin
from cobalance.ingest.annotators.annotator import DetectingAnnotator
from cobalance.ingest.models.options import GroundingOptions

PLUGIN = Plugin(
    "grounding-dino",
    "A detector that reads many names at once finds the concepts, with score and box.",
    extra="models",
    options=GroundingOptions,
    licence="Apache-2.0",
)


def open_annotator(options: GroundingOptions) -> DetectingAnnotator:
    """Open the annotator and load its detector; see `cobalance.graph.plugins.Plugins`."""
    from cobalance.ingest.models.grounding import open_grounding

    return DetectingAnnotator(PLUGIN.name, open_grounding(options))
