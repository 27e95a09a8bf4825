"""One module per annotator, and the registry of them all."""

from graph.plugins import Plugins
from ingest.annotators.annotator import Annotator

ANNOTATORS: Plugins[Annotator] = Plugins("annotator", {"owlv2": "ingest.annotators.owlv2"})
