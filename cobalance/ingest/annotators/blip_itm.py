"""Annotator that scores texts with the matching head of BLIP."""

from cobalance.graph.plugins import Plugin
from cobalance.ingest.annotators.annotator import ScoringAnnotator
from cobalance.ingest.models.options import BlipItmOptions

PLUGIN = Plugin(
    "blip-itm",
    "BLIP says how probably a text matches the image.",
    extra="models",
    options=BlipItmOptions,
    licence="BSD-3-Clause",
)


def open_annotator(options: BlipItmOptions) -> ScoringAnnotator:
    """Open the annotator and load its model; see `cobalance.graph.plugins.Plugins`."""
    from cobalance.ingest.models.families.blip_itm import open_blip_itm

    return ScoringAnnotator(PLUGIN.name, options, open_blip_itm(options))
