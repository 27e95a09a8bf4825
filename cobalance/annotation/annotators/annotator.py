"""The interface of annotators: find the concepts of a dataset in images."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from cobalance.base import Mention
from cobalance.vision import BoxDetector, ImageArray, QueryOptions, prompt_for

Floats = npt.NDArray[np.float32]


class Scores(NamedTuple):
    """How well texts fit images.

    Parameters
    ----------
    matrix : float32 array, shape (images, texts)
        Each model in its own scale, higher is better; of a detector that of the best box.
    boxes : float32 array, shape (images, texts, 4), or None
        Of a detector: x, y of the top left corner, width and height of the best box, in pixels; NaN
        where there is none.
    only_seen : bool
        Whether a score of 0 says only that the model did not name the text, as where it writes
        captions. Such scores are stored without zeros.
    """

    matrix: Floats
    boxes: Floats | None = None
    only_seen: bool = False


def mention_scores(
    scores: npt.NDArray[Any], vocabulary: Sequence[str], source: str, threshold: float
) -> list[list[Mention]]:
    """For each image a mention, without a box, of every name that scores high enough.

    Parameters
    ----------
    scores : array, shape (images, names)
    """
    mentions: list[list[Mention]] = []
    for row in scores:
        names = zip(vocabulary, row, strict=True)
        mentions.append(
            [Mention(name, source, float(score)) for name, score in names if score >= threshold]
        )
    return mentions


class Annotator(Protocol):
    """Finds concepts in images; opened once per process, used by one thread at a time."""

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images.

        Parameters
        ----------
        images : sequence of uint8 arrays, shape (height, width, 3)
            They may differ in size.
        vocabulary : sequence of str
            Concepts of the dataset.

        Returns
        -------
        list of list of Mention
            For each image its detected instances, with score and box, and the model's name as the
            source.

        Raises
        ------
        OutOfMemoryError
            The images are too many for the device.
        """
        ...

    def score(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Scores:
        """Score texts in images: the scores that `annotate` compares with its threshold.

        Parameters
        ----------
        images : sequence of uint8 arrays, shape (height, width, 3)
            They may differ in size. Each is encoded once, however many texts there are, and its
            scores do not depend on the others.
        texts : sequence of str
            Captions, or names of objects; taken as they are, without a template around them.

        Raises
        ------
        OutOfMemoryError
            The images are too many for the device.
        """
        ...

    def describe(self) -> Mapping[str, Any]:
        """Settings, model, revision and weights for provenance; JSON values."""
        ...


@dataclass(frozen=True, eq=False)
class ScoringAnnotator(ABC):
    """Annotator with a mention, without a box, for every name that scores high enough."""

    name: ClassVar[str]
    options: QueryOptions

    @abstractmethod
    def scores(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Floats:
        """Score of each text in each image, of shape (images, texts); errors as of `score`."""

    @abstractmethod
    def describe_model(self) -> Mapping[str, Any]:
        """Model, revision and weights for provenance; JSON values."""

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images; see `Annotator`."""
        texts = [prompt_for([name], self.options.query) for name in vocabulary]
        scores = self.scores(images, texts)
        source = str(self.describe_model()["model"])
        return mention_scores(scores, vocabulary, source, self.options.threshold)

    def score(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Scores:
        """Score texts in images; see `cobalance.annotation.annotators.annotator.Annotator`."""
        return Scores(self.scores(images, texts))

    def describe(self) -> Mapping[str, Any]:
        """Settings, model and weights."""
        settings = self.options.model_dump(include={"threshold", "query"})
        return {"annotator": self.name, "settings": settings, **self.describe_model()}


@dataclass(frozen=True, eq=False)
class DetectingAnnotator:
    """Annotator with a mention for every detected box."""

    name: str
    detector: BoxDetector

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images; see `Annotator`."""
        return self.detector.detect(images, vocabulary)

    def score(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Scores:
        """Score texts in images; see `cobalance.annotation.annotators.annotator.Annotator`."""
        return Scores(*self.detector.best(images, texts))

    def describe(self) -> Mapping[str, Any]:
        """Settings, model and weights of the detector."""
        return {"annotator": self.name, **self.detector.describe()}
