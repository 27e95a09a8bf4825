"""One module per annotator, and the registry of them all."""

from cobalance.base.plugins import Plugin, Plugins
from cobalance.ingest.annotators.annotator import Annotator

ANNOTATORS: Plugins[Annotator, Plugin] = Plugins(
    "annotator",
    {
        "owlv2": "cobalance.ingest.annotators.owlv2",
        "blip-itm": "cobalance.ingest.annotators.blip_itm",
        "siglip2": "cobalance.ingest.annotators.siglip2",
        "grounding-dino": "cobalance.ingest.annotators.grounding_dino",
        "linear-probe": "cobalance.ingest.annotators.linear_probe",
        "vlm": "cobalance.ingest.annotators.vlm",
        "captions": "cobalance.ingest.annotators.captions",
    },
    "annotators",
    Plugin,
    "annotate(images, vocabulary); describe()",
)
