"""One module per annotator, and the registry of them all."""

from graph.plugins import Plugin, Plugins
from ingest.annotators.annotator import Annotator
from ingest.models.options import DetectorOptions

ANNOTATORS: Plugins[Annotator] = Plugins("annotator")
ANNOTATORS.register(
    "owlv2",
    Plugin(
        "ingest.annotators.owlv2",
        "models",
        "A detector finds the dataset's concepts, with score and box.",
        DetectorOptions,
    ),
)
