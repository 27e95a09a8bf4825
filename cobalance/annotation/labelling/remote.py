"""Annotators whose model is asked with images, as behind an endpoint."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from cobalance.annotation.annotators import ANNOTATORS
from cobalance.annotation.annotators.annotator import Annotator, Floats, ScoringAnnotator
from cobalance.annotation.annotators.captions import CaptionAnnotator
from cobalance.annotation.language.chat import (
    ChatModel,
    LanguageModelError,
    Question,
    Reply,
    in_order,
)
from cobalance.annotation.language.endpoint_settings import EndpointSettings
from cobalance.base.errors import OptionError, Setting
from cobalance.vision.images.arrays import ImageArray
from cobalance.vision.images.decoding import within
from cobalance.vision.models.options import CaptionOptions, VlmOptions

ASKED = {"vlm": ("question", "query", "threshold"), "captions": ("prompt",)}
"""The annotators that can ask an endpoint, and their options that have an effect there."""
CAPTION_PROMPT = "Describe this image in one sentence."
_FORMS = {word: (word, word.capitalize(), word.upper()) for word in ("yes", "no")}
_SPACE = " \t\n\u0120\u2581"  # and the letters that tokenizers write for one
_MARKUP = re.compile(r"<[^<>]{1,40}>|\[/?[A-Z_]{2,20}\]")


def check_remote(
    annotator: str, options: Mapping[str, Any], endpoint: EndpointSettings
) -> dict[str, Any]:
    """The options of an annotator that asks an endpoint, checked before anything is sent.

    Raises
    ------
    OptionError
        The annotator cannot ask one, images may not be sent, or an option is of models that run
        on this machine, or not allowed.
    """
    if annotator not in ASKED:
        raise OptionError(
            f"The annotator {annotator} runs on your machines alone. Those that can ask an "
            f"address: {', '.join(ASKED)}."
        )
    if not endpoint.send_images:
        raise OptionError(
            f"All images would be sent to {endpoint.host}. If they may leave this machine, say so "
            "with ",
            Setting("send_images", value=True),
            f"; without an address, {annotator} runs on your own.",
        )
    unused = sorted(set(options) - set(ASKED[annotator]))
    if unused:
        raise OptionError(
            f"The option {unused[0]!r} of {annotator} has no effect at an address. Those that "
            f"have: {', '.join(ASKED[annotator])}."
        )
    given = {"prompt": CAPTION_PROMPT} if annotator == "captions" else {}
    checked = ANNOTATORS.check(annotator, {**given, **options, "model": endpoint.model})
    return checked.model_dump(mode="json", include={"model", *ASKED[annotator]})


def open_remote(
    annotator: str, options: Mapping[str, Any], endpoint: EndpointSettings, chat: ChatModel
) -> Annotator:
    """An annotator that asks a model.

    Parameters
    ----------
    options : mapping
        As `check_remote` returns them.
    chat : ChatModel
        The endpoint, with what keeps its replies.
    """
    checked = ANNOTATORS.check(annotator, options)
    if annotator == "vlm":
        return RemoteYesNo(cast("VlmOptions", checked), chat, endpoint)
    return RemoteCaptions(cast("CaptionOptions", checked).prompt, chat, endpoint)


@dataclass(frozen=True, eq=False)
class RemoteYesNo(ScoringAnnotator):
    """Scores texts by how probably a model's answer begins with yes.

    The probabilities of the first token alone count: those of all forms of yes and of no are
    summed, and normalised over the two, as `cobalance.annotation.annotators.vlm.YesNo` does. A
    form that is not among the likeliest tokens counts as 0.
    """

    name = "vlm"
    options: VlmOptions
    chat: ChatModel
    endpoint: EndpointSettings

    def scores(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Floats:
        """Probability of yes for each text in each image, of shape (images, texts).

        An image has NaN alone where some answer begins neither with yes nor with no, as when the
        model refuses: it then counts as one that could not be read.

        Raises
        ------
        LanguageModelError
            The model cannot be reached, gives no probabilities, or answers so of no image.
        """
        asked = [self.options.question.replace("{text}", _MARKUP.sub(" ", text)) for text in texts]
        questions = [
            Question(text, images=(shown,), first_token=True)
            for shown in map(within, images)
            for text in asked
        ]
        replies = list(in_order(self.chat.ask, questions, self.endpoint.at_once))
        found = [probability_of_yes(reply) for reply in replies]
        result = np.array([np.nan if one is None else one for one in found], np.float32)
        result = result.reshape(len(images), len(texts))
        unanswered = np.isnan(result).any(axis=1)
        if len(images) > 1 and unanswered.all():
            self._refuse(questions, replies)
        result[unanswered] = np.nan
        return result

    def describe_model(self) -> Mapping[str, Any]:
        """The question, the model, and where it is."""
        return {"question": self.options.question, **_describe(self.endpoint)}

    def _refuse(self, questions: Sequence[Question], replies: Sequence[Reply]) -> None:
        """Raise LanguageModelError for the first answer that is neither yes nor no."""
        pairs = zip(questions, replies, strict=True)
        asked, reply = next(pair for pair in pairs if probability_of_yes(pair[1]) is None)
        likeliest = ", ".join(repr(token) for token, _ in reply.first_tokens[:5])
        raise LanguageModelError(
            f"The model {self.endpoint.model} begins its answer to {asked.text[:200]!r} neither "
            f"with yes nor with no, but with {likeliest}. Take a model that answers at once, "
            "without thinking aloud, or set another question."
        )


@dataclass(frozen=True, eq=False)
class RemoteCaptions(CaptionAnnotator):
    """Annotator by captions that a model at an address writes."""

    prompt: str
    chat: ChatModel
    endpoint: EndpointSettings

    def captions(self, images: Sequence[ImageArray]) -> list[str]:
        """Write a caption for each image, in order; errors as in `ChatModel.ask`."""
        questions = [Question(self.prompt, images=(shown,)) for shown in map(within, images)]
        replies = in_order(self.chat.ask, questions, self.endpoint.at_once)
        return [" ".join(reply.text.rpartition("</think>")[2].split()) for reply in replies]

    def describe_model(self) -> Mapping[str, Any]:
        """The prompt, the model, and where it is."""
        return {"settings": {"prompt": self.prompt}, **_describe(self.endpoint)}


def probability_of_yes(reply: Reply) -> float | None:
    """Share of yes in the probabilities of yes and no as the first token; None without either."""
    found = {
        word: [value for token, value in reply.first_tokens if token.strip(_SPACE) in forms]
        for word, forms in _FORMS.items()
    }
    every = [value for values in found.values() for value in values]
    if not every:
        return None
    highest = max(every)
    yes, no = (math.fsum(math.exp(value - highest) for value in found[word]) for word in _FORMS)
    return yes / (yes + no)


def _describe(endpoint: EndpointSettings) -> dict[str, Any]:
    return {"model": endpoint.model, "endpoint": endpoint.host, "revision": None}
