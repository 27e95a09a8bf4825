"""Annotators whose model scores whole images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from cobalance.graph.records import Mention
from cobalance.ingest.annotators.annotator import Floats, Scores
from cobalance.ingest.images.arrays import ImageArray
from cobalance.ingest.models.options import QueryOptions
from cobalance.ingest.models.prompts import prompt_for


class Scorer(Protocol):
    """A model that scores texts in images."""

    def scores(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Floats:
        """Score of each text in each image, of shape (images, texts); texts as they are."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """Model, revision and weights for provenance; JSON values."""
        ...


@dataclass(frozen=True, eq=False)
class ScoringAnnotator:
    """Annotator with a mention, without a box, for every name that scores high enough.

    Parameters
    ----------
    name : str
        Of the annotator.
    options : QueryOptions
        The lowest score of a mention, and the words around a name.
    model : Scorer
        Scores texts.
    """

    name: str
    options: QueryOptions
    model: Scorer

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images; see `cobalance.ingest.annotators.annotator.Annotator`."""
        texts = [prompt_for([name], self.options.query) for name in vocabulary]
        source = str(self.model.describe()["model"])
        return [
            [
                Mention(name, source, float(score))
                for name, score in zip(vocabulary, row, strict=True)
                if score >= self.options.threshold
            ]
            for row in self.model.scores(images, texts)
        ]

    def score(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Scores:
        """Score texts in images; see `cobalance.ingest.annotators.annotator.Annotator`."""
        return Scores(self.model.scores(images, texts))

    def describe(self) -> Mapping[str, Any]:
        """Settings, model and weights."""
        settings = self.options.model_dump(include={"threshold", "query"})
        return {"annotator": self.name, "settings": settings, **self.model.describe()}
