"""Annotator that scores texts with SigLIP 2."""

from cobalance.graph.plugins import Plugin
from cobalance.ingest.annotators.annotator import ScoringAnnotator
from cobalance.ingest.models.options import Siglip2Options

PLUGIN = Plugin(
    "siglip2",
    "SigLIP 2 gives each of the dataset's concepts a probability.",
    extra="models",
    options=Siglip2Options,
    licence="Apache-2.0",
)


def open_annotator(options: Siglip2Options) -> ScoringAnnotator:
    """Open the annotator and load its model; see `cobalance.graph.plugins.Plugins`."""
    from cobalance.ingest.models.families.siglip2 import open_siglip2

    return ScoringAnnotator(PLUGIN.name, options, open_siglip2(options))
