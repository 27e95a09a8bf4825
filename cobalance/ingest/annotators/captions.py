"""Annotator that finds concepts in captions that a model writes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from cobalance.graph.plugins import Plugin
from cobalance.graph.records import Mention
from cobalance.ingest.annotators.annotator import Scores
from cobalance.ingest.concepts.vocabulary import Vocabulary, words_of
from cobalance.ingest.concepts.wording import readable
from cobalance.ingest.images.arrays import ImageArray
from cobalance.ingest.models.options import CaptionOptions

PLUGIN = Plugin(
    "captions",
    "A model writes a caption, and the concepts that it names are found.",
    extra="models",
    options=CaptionOptions,
    licence="MIT",
)
_FRAME = re.compile(r"^\s*(?:an? )?(?:photo|image|picture) of (?:(?:an?|the) )?", re.IGNORECASE)


class CaptionWriter(Protocol):
    """A model that writes captions."""

    def captions(self, images: Sequence[ImageArray]) -> list[str]:
        """A caption for each image, in their order."""
        ...

    def describe(self) -> Mapping[str, Any]:
        """Model, revision and weights for provenance; JSON values."""
        ...


@dataclass(frozen=True, eq=False)
class CaptionAnnotator:
    """Annotator with a mention for every concept that a caption of the image names.

    A concept counts where its words stand in the caption; nothing is inferred. Captions are read as
    those of a dataset are: whole words, singular or plural, the longest phrase at each place.

    Parameters
    ----------
    captioner : CaptionWriter
        Writes captions.
    """

    captioner: CaptionWriter

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images; see `cobalance.ingest.annotators.annotator.Annotator`."""
        source = str(self.captioner.describe()["model"])
        found = named(self.captioner.captions(images), [readable(name) for name in vocabulary])
        return [
            [Mention(name, source) for name, here in zip(vocabulary, row, strict=True) if here]
            for row in found
        ]

    def score(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Scores:
        """1 where an image's caption names what a text is a photo of, else 0.

        See `cobalance.ingest.annotators.annotator.Annotator`. Of a text such as "a photo of a cow"
        the words after the article are looked for; a phrase inside a longer one of `texts` does not
        count.
        """
        phrases = [_FRAME.sub("", text) for text in texts]
        found = named(self.captioner.captions(images), phrases)
        return Scores(found.astype(np.float32), only_seen=True)

    def describe(self) -> Mapping[str, Any]:
        """Settings, model and weights."""
        return {"annotator": PLUGIN.name, **self.captioner.describe()}


def named(captions: Sequence[str], phrases: Sequence[str]) -> np.ndarray:
    """Whether each caption has each phrase, of shape (captions, phrases); phrases may be equal.

    Examples
    --------
    >>> named(["Two palm trees by the sea"], ["palm tree", "tree", "Sea", "?"]).tolist()
    [[True, False, True, False]]
    """
    keys = [" ".join(words_of(phrase)) for phrase in phrases]
    vocabulary = Vocabulary({key: [key] for key in keys if re.search(r"\w", key)})
    result = np.zeros((len(captions), len(phrases)), np.bool_)
    for row, caption in enumerate(captions):
        here = {vocabulary.names[number] for number in vocabulary.find(caption)}
        result[row] = [key in here for key in keys]
    return result


def open_annotator(options: CaptionOptions) -> CaptionAnnotator:
    """Open the annotator and load its model; see `cobalance.graph.plugins.Plugins`."""
    from cobalance.ingest.models.families.captioner import open_captioner

    return CaptionAnnotator(open_captioner(options))
