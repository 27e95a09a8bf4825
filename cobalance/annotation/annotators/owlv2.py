"""Annotator that finds concepts with an open-vocabulary detector."""

from cobalance.annotation.annotators.annotator import DetectingAnnotator
from cobalance.base import Plugin
from cobalance.vision import DetectorOptions, open_detector

PLUGIN = Plugin(
    "owlv2",
    "A detector finds the dataset's concepts, with score and box.",
    extra="models",
    options=DetectorOptions,
    licence="Apache-2.0",
)


def open_annotator(options: DetectorOptions) -> DetectingAnnotator:
    """Open the annotator and load its detector; see `cobalance.base.registry.Plugins`."""
    return DetectingAnnotator(PLUGIN.name, open_detector(options))
