"""One module per annotator, and the registry of them all."""

from generation.annotators.annotator import Annotator
from generation.options import DetectorOptions
from generation.plugins import Plugin, Plugins

ANNOTATORS: Plugins[Annotator] = Plugins("annotator")
ANNOTATORS.register(
    "owlv2",
    Plugin(
        "generation.annotators.owlv2",
        "models",
        "A detector finds the dataset's concepts, with score and box.",
        DetectorOptions,
    ),
)
