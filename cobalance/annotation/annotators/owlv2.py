"""Annotator that finds concepts with an open-vocabulary detector."""

from cobalance.annotation.annotators.annotator import DetectingAnnotator
from cobalance.base.plugins import Plugin
from cobalance.vision.models.detector import open_detector
from cobalance.vision.models.options import DetectorOptions

PLUGIN = Plugin(
    "owlv2",
    "A detector finds the dataset's concepts, with score and box.",
    extra="models",
    options=DetectorOptions,
    licence="Apache-2.0",
)


def open_annotator(options: DetectorOptions) -> DetectingAnnotator:
    """Open the annotator and load its detector; see `cobalance.base.plugins.Plugins`."""
    return DetectingAnnotator(PLUGIN.name, open_detector(options))
