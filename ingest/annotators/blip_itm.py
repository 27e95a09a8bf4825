"""Annotator that scores texts with the matching head of BLIP."""

from graph.plugins import Plugin
from ingest.annotators.scoring import ScoringAnnotator
from ingest.models.families.options import BlipItmOptions

PLUGIN = Plugin(
    "blip-itm",
    "BLIP says how probably a text matches the image.",
    extra="models",
    options=BlipItmOptions,
    licence="BSD-3-Clause",
)


def open_annotator(options: BlipItmOptions) -> ScoringAnnotator:
    """Open the annotator and load its model; see `graph.plugins.Plugins`."""
    from ingest.models.families.blip_itm import open_blip_itm

    return ScoringAnnotator(PLUGIN.name, options, open_blip_itm(options))
