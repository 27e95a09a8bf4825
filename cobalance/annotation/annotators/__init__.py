"""One module per annotator, and the registry of them all."""

from typing import TYPE_CHECKING

from cobalance.base import Plugins

if TYPE_CHECKING:
    from cobalance.annotation.annotators.annotator import Annotator
    from cobalance.base import Plugin

ANNOTATORS: "Plugins[Annotator, Plugin]" = Plugins(
    "annotator",
    {
        "owlv2": "cobalance.annotation.annotators.owlv2",
        "blip-itm": "cobalance.annotation.annotators.blip_itm",
        "siglip2": "cobalance.annotation.annotators.siglip2",
        "grounding-dino": "cobalance.annotation.annotators.grounding_dino",
        "linear-probe": "cobalance.annotation.annotators.linear_probe",
        "vlm": "cobalance.annotation.annotators.vlm",
        "captions": "cobalance.annotation.annotators.captions",
    },
    "annotators",
    calls="annotate(images, vocabulary); describe()",
)
