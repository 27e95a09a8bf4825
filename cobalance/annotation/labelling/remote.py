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
from cobalance.annotation.language import (
    ChatModel,
    EndpointSettings,
    LanguageModelError,
    Question,
    Reply,
    in_order,
)
from cobalance.base import OptionError, Setting
from cobalance.vision import CaptionOptions, ImageArray, VlmOptions, within

ASKED = {"vlm": ("question", "query", "threshold"), "captions": ("prompt",)}
"""The annotators that can ask an endpoint, and their options that have an effect there."""
CAPTION_PROMPT = "Describe this image in one sentence."
_WORDS = {"yes": "yes", "Yes": "yes", "YES": "yes", "no": "no", "No": "no", "NO": "no"}
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

    defaults = {"prompt": CAPTION_PROMPT} if annotator == "captions" else {}
    checked = ANNOTATORS.check(annotator, {**defaults, **options, "model": endpoint.model})
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
        prompts = [
            self.options.question.replace("{text}", _MARKUP.sub(" ", text)) for text in texts
        ]
        questions = [
            Question(prompt, images=(image,), first_token=True)
            for image in map(within, images)
            for prompt in prompts
        ]
        replies = list(in_order(self.chat.ask, questions, self.endpoint.at_once))

        values = np.array(list(map(probability_of_yes, replies)), np.float32)
        values = values.reshape(len(images), len(texts))
        is_unanswered = np.isnan(values).any(axis=1)
        # A refused image counts as unread; a model that refuses all of them cannot be used.
        if len(images) > 1 and is_unanswered.all():
            self._refuse(questions, replies)
        values[is_unanswered] = np.nan
        return values

    def describe_model(self) -> Mapping[str, Any]:
        """The question, the model, and where it is."""
        return {"question": self.options.question, **_describe(self.endpoint)}

    def _refuse(self, questions: Sequence[Question], replies: Sequence[Reply]) -> None:
        """Raise LanguageModelError for the first answer that is neither yes nor no."""
        probabilities = list(map(probability_of_yes, replies))
        position = probabilities.index(None)
        likeliest = ", ".join(repr(token) for token, _ in replies[position].first_tokens[:5])
        raise LanguageModelError(
            f"The model {self.endpoint.model} begins its answer to "
            f"{questions[position].text[:200]!r} neither with yes nor with no, but with "
            f"{likeliest}. Take a model that answers at once, without thinking aloud, or set "
            "another question."
        )


@dataclass(frozen=True, eq=False)
class RemoteCaptions(CaptionAnnotator):
    """Annotator by captions that a model at an address writes."""

    prompt: str
    chat: ChatModel
    endpoint: EndpointSettings

    def captions(self, images: Sequence[ImageArray]) -> list[str]:
        """Write a caption for each image, in order; errors as in `ChatModel.ask`."""
        questions = [Question(self.prompt, images=(image,)) for image in map(within, images)]
        replies = in_order(self.chat.ask, questions, self.endpoint.at_once)
        return [" ".join(reply.text.rpartition("</think>")[2].split()) for reply in replies]

    def describe_model(self) -> Mapping[str, Any]:
        """The prompt, the model, and where it is."""
        return {"settings": {"prompt": self.prompt}, **_describe(self.endpoint)}


def probability_of_yes(reply: Reply) -> float | None:
    """Share of yes in the probabilities of yes and no as the first token; None without either."""
    logs: dict[str, list[float]] = {"yes": [], "no": []}
    for token, value in reply.first_tokens:
        word = _WORDS.get(token.strip(_SPACE))
        if word is not None:
            logs[word].append(value)
    highest = max([*logs["yes"], *logs["no"]], default=None)
    if highest is None:
        return None

    # Relative to the likeliest one, so that the smallest probabilities do not vanish.
    yes = math.fsum(math.exp(value - highest) for value in logs["yes"])
    no = math.fsum(math.exp(value - highest) for value in logs["no"])
    return yes / (yes + no)


def _describe(endpoint: EndpointSettings) -> dict[str, Any]:
    return {"model": endpoint.model, "endpoint": endpoint.host, "revision": None}
