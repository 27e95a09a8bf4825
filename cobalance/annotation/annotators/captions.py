"""Annotator that finds concepts in captions that Florence-2, or another model, writes."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from cobalance.annotation.annotators.annotator import Scores
from cobalance.base import Mention, Plugin, readable
from cobalance.ingest import Vocabulary, words_of
from cobalance.vision import CaptionOptions, Conversation, ImageArray, open_conversation, quiet

PLUGIN = Plugin(
    "captions",
    "A model writes a caption, and the concepts that it names are found.",
    extra="models",
    options=CaptionOptions,
    licence="MIT",
)
REVISION = "00921df66db728a9ceb750f5eca43e5c203a2051"
_ONE_SIZE = frozenset({"florence2"})
"""Models that take all images in one size, so that a batch needs no padding."""
_FRAME = re.compile(r"^\s*(?:an? )?(?:photo|image|picture) of (?:(?:an?|the) )?", re.IGNORECASE)


class CaptionAnnotator(ABC):
    """Annotator with a mention for every concept that a caption of the image names.

    A concept counts where its words stand in the caption; nothing is inferred. Captions are read as
    those of a dataset are: whole words, singular or plural, the longest phrase at each place.
    """

    @abstractmethod
    def captions(self, images: Sequence[ImageArray]) -> list[str]:
        """Write a caption for each image, in their order; errors as of `score`."""

    @abstractmethod
    def describe_model(self) -> Mapping[str, Any]:
        """Settings, model, revision and weights for provenance; JSON values."""

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Look for concepts in images; see `annotator.Annotator`."""
        source = str(self.describe_model()["model"])
        rows = find_phrases(self.captions(images), list(map(readable, vocabulary)))
        return [[Mention(name, source) for name in compress(vocabulary, row)] for row in rows]

    def score(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Scores:
        """Score 1 where an image's caption names a text's subject, else 0.

        See `annotator.Annotator`. Of a text such as "a photo of a cow" the words after the article
        are looked for; a phrase inside a longer one of `texts` does not count.
        """
        phrases = [_FRAME.sub("", text) for text in texts]
        is_named = find_phrases(self.captions(images), phrases)
        return Scores(is_named.astype(np.float32), only_seen=True)

    def describe(self) -> Mapping[str, Any]:
        """Settings, model and weights."""
        return {"annotator": PLUGIN.name, **self.describe_model()}


def find_phrases(captions: Sequence[str], phrases: Sequence[str]) -> np.ndarray:
    """Whether each caption has each phrase, of shape (captions, phrases); phrases may be equal.

    Examples
    --------
    >>> find_phrases(["Two palm trees by the sea"], ["palm tree", "tree", "Sea", "?"]).tolist()
    [[True, False, True, False]]
    """
    keys = list(map(" ".join, map(words_of, phrases)))
    vocabulary = Vocabulary({key: [key] for key in keys if re.search(r"\w", key)})
    is_named = np.zeros((len(captions), len(phrases)), np.bool_)
    for row, caption in enumerate(captions):
        named = {vocabulary.names[number] for number in vocabulary.find(caption)}
        is_named[row] = [key in named for key in keys]
    return is_named


@dataclass(frozen=True, eq=False)
class ModelCaptions(CaptionAnnotator):
    """Annotator by captions that a model on this machine writes, without sampling."""

    conversation: Conversation
    options: CaptionOptions

    def captions(self, images: Sequence[ImageArray]) -> list[str]:
        """Write a caption for each image, in their order."""
        vision, captions = self.conversation.vision, []
        is_one_size = vision.model.config.model_type in _ONE_SIZE
        batches = vision.batches(images) if is_one_size else ([image] for image in images)
        for batch in batches:
            values = self.conversation.inputs(batch, self.options.prompt)
            with vision.computing(f"captions of {len(batch)} images"), quiet():
                tokens = vision.model.generate(
                    **values,
                    max_new_tokens=self.options.max_tokens,
                    num_beams=self.options.beams,
                    do_sample=False,
                    temperature=None,
                    top_p=None,
                    top_k=None,
                )

            # A model without an encoder gives back the question before its caption.
            if not vision.model.config.is_encoder_decoder:
                tokens = tokens[:, values["input_ids"].shape[1] :]
            texts = vision.processor.tokenizer.batch_decode(tokens, skip_special_tokens=True)
            captions += [" ".join(text.split()) for text in texts]
        return captions

    def describe_model(self) -> Mapping[str, Any]:
        """The settings, and the model with its weights."""
        settings = self.options.model_dump(include={"prompt", "max_tokens", "beams"})
        return {"settings": settings, **self.conversation.vision.describe()}


def open_annotator(options: CaptionOptions) -> ModelCaptions:
    """Open the annotator and load its model; see `cobalance.base.registry.Plugins`."""
    return ModelCaptions(open_conversation(options, REVISION), options)
