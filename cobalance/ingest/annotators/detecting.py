"""Annotators whose model finds objects in boxes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cobalance.graph.records import Mention
from cobalance.ingest.annotators.annotator import Scores
from cobalance.ingest.images.arrays import ImageArray

if TYPE_CHECKING:
    from cobalance.ingest.models.boxes import BoxDetector


@dataclass(frozen=True, eq=False)
class DetectingAnnotator:
    """Annotator with a mention for every detected box.

    Parameters
    ----------
    name : str
        Of the annotator.
    detector : BoxDetector
        Its threshold is the lowest score of a mention.
    """

    name: str
    detector: "BoxDetector"

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images; see `cobalance.ingest.annotators.annotator.Annotator`."""
        return self.detector.detect(images, vocabulary)

    def score(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Scores:
        """Score texts in images; see `cobalance.ingest.annotators.annotator.Annotator`."""
        return Scores(*self.detector.best(images, texts))

    def describe(self) -> Mapping[str, Any]:
        """Settings, model and weights of the detector."""
        return {"annotator": self.name, **self.detector.describe()}
