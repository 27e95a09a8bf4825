"""Annotator that asks a vision-language model."""

from cobalance.graph.plugins import Plugin
from cobalance.ingest.annotators.annotator import ScoringAnnotator
from cobalance.ingest.models.options import VlmOptions

PLUGIN = Plugin(
    "vlm",
    "A vision-language model is asked, yes or no, about each concept.",
    extra="models",
    options=VlmOptions,
    licence="Apache-2.0",
)


def open_annotator(options: VlmOptions) -> ScoringAnnotator:
    """Open the annotator and load its model; see `cobalance.graph.plugins.Plugins`."""
    from cobalance.ingest.models.families.vlm import open_vlm

    return ScoringAnnotator(PLUGIN.name, options, open_vlm(options))
