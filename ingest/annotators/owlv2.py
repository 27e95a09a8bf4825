"""Annotator that finds concepts with an open-vocabulary detector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graph.plugins import Plugin
from graph.records import Mention
from ingest.images.arrays import ImageArray
from ingest.models.options import DetectorOptions

if TYPE_CHECKING:
    from ingest.models.detector import Detector

PLUGIN = Plugin(
    "owlv2",
    "A detector finds the dataset's concepts, with score and box.",
    extra="models",
    options=DetectorOptions,
)


@dataclass(frozen=True, eq=False)
class Owlv2Annotator:
    """Annotator with a mention for every detected box.

    Parameters
    ----------
    detector : Detector
        With the threshold that a mention needs.
    """

    detector: "Detector"

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images; see `ingest.annotators.annotator.Annotator`.

        The source is the hub's name of the model, or the name of its folder. The area is unknown:
        a box is not an outline.
        """
        checkpoint = self.detector.vision.checkpoint
        return [
            [Mention(one.name, checkpoint.label, one.score, box=one.box) for one in found]
            for found in self.detector.detect(images, vocabulary)
        ]

    def describe(self) -> Mapping[str, Any]:
        """Settings, model and weights of the detector."""
        return {"annotator": "owlv2", **self.detector.describe()}


def open_annotator(options: DetectorOptions) -> Owlv2Annotator:
    """Open the annotator and load its detector; see `graph.plugins.Plugins`."""
    from ingest.models.detector import open_detector

    return Owlv2Annotator(open_detector(options))
