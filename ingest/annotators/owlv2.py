"""Annotator that finds concepts with an open-vocabulary detector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graph.plugins import Plugin
from graph.records import Mention
from ingest.annotators.annotator import Scores
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
        Its threshold is the lowest score of a mention.
    """

    detector: "Detector"

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images; see `ingest.annotators.annotator.Annotator`."""
        return self.detector.detect(images, vocabulary)

    def score(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Scores:
        """Score texts in images; see `ingest.annotators.annotator.Annotator`."""
        return Scores(*self.detector.best(images, texts))

    def describe(self) -> Mapping[str, Any]:
        """Settings, model and weights of the detector."""
        return {"annotator": "owlv2", **self.detector.describe()}


def open_annotator(options: DetectorOptions) -> Owlv2Annotator:
    """Open the annotator and load its detector; see `graph.plugins.Plugins`."""
    from ingest.models.detector import open_detector

    return Owlv2Annotator(open_detector(options))
