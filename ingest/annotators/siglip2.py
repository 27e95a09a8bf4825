"""Annotator that scores texts with SigLIP 2."""

from graph.plugins import Plugin
from ingest.annotators.scoring import ScoringAnnotator
from ingest.models.families.options import Siglip2Options

PLUGIN = Plugin(
    "siglip2",
    "SigLIP 2 gives each of the dataset's concepts a probability.",
    extra="models",
    options=Siglip2Options,
    licence="Apache-2.0",
)


def open_annotator(options: Siglip2Options) -> ScoringAnnotator:
    """Open the annotator and load its model; see `graph.plugins.Plugins`."""
    from ingest.models.families.siglip2 import open_siglip2

    return ScoringAnnotator(PLUGIN.name, options, open_siglip2(options))
