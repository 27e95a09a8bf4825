"""One module per annotator, and the registry of them all."""

from graph.plugins import Plugins
from ingest.annotators.annotator import Annotator

ANNOTATORS: Plugins[Annotator] = Plugins(
    "annotator",
    {
        "owlv2": "ingest.annotators.owlv2",
        "blip-itm": "ingest.annotators.blip_itm",
        "siglip2": "ingest.annotators.siglip2",
        "grounding-dino": "ingest.annotators.grounding_dino",
        "linear-probe": "ingest.annotators.linear_probe",
        "vlm": "ingest.annotators.vlm",
        "captions": "ingest.annotators.captions",
    },
)
