"""Annotator that asks a vision-language model questions, to be answered with yes or no."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobalance.annotation.annotators.annotator import Floats, ScoringAnnotator
from cobalance.base import JobBlockedError, Plugin, torch
from cobalance.vision import Conversation, ImageArray, VlmOptions, open_conversation

PLUGIN = Plugin(
    "vlm",
    "A vision-language model is asked, yes or no, about each concept.",
    extra="models",
    options=VlmOptions,
    licence="Apache-2.0",
)
REVISION = "89644892e4d85e24eaac8bacfd4f463576704203"


@dataclass(frozen=True, eq=False)
class YesNo(ScoringAnnotator):
    """Scores texts by how probably a vision-language model begins its answer with yes.

    The logits of the first token of the answer count, and nothing that is generated: those of all
    forms of yes and of no are summed, and normalised over the two. Each question is asked alone,
    without padding; the image is encoded once for all of them. `yes_tokens` and `no_tokens` are
    the tokens that are a form of yes, and of no.
    """

    name = PLUGIN.name
    options: VlmOptions
    conversation: Conversation
    yes_tokens: tuple[int, ...]
    no_tokens: tuple[int, ...]

    def scores(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Floats:
        """Probability of yes for each text in each image, of shape (images, texts).

        O(images x texts) passes of the language model.
        """
        vision = self.conversation.vision
        scores = np.zeros((len(images), len(texts)), np.float32)
        for row, image in enumerate(images):
            pixels: torch.Tensor | None = None
            for column, text in enumerate(texts):
                words = self.conversation.clean_text(text)
                question = self.options.question.replace("{text}", words)
                values = self.conversation.inputs([image], question)
                # The same tensor for all questions about an image, so that it is encoded once.
                pixels = values["pixel_values"] if pixels is None else pixels

                model_inputs = values | {"pixel_values": pixels}

                with vision.computing("a question about an image"):
                    logits = vision.model(**model_inputs).logits[0, -1].double()
                    yes = logits[list(self.yes_tokens)].logsumexp(dim=0)
                    no = logits[list(self.no_tokens)].logsumexp(dim=0)
                    scores[row, column] = float((yes - no).sigmoid())
        return scores

    def describe_model(self) -> Mapping[str, Any]:
        """The question, and the model with its weights."""
        return {"question": self.options.question, **self.conversation.vision.describe()}


def open_annotator(options: VlmOptions) -> YesNo:
    """Open the annotator and load its model; see `cobalance.base.registry.Plugins`.

    Raises
    ------
    JobBlockedError
        The model is not made for chats, or has no token for yes and for no.
    """
    conversation = open_conversation(options, REVISION)
    processor = conversation.vision.processor
    yes_tokens = answer_tokens(processor.tokenizer, "yes")
    no_tokens = answer_tokens(processor.tokenizer, "no")

    problem = None
    if not getattr(processor, "chat_template", None):
        problem = "it has no template of a chat"
    elif not yes_tokens or not no_tokens:
        problem = f"its tokenizer has no single token for {'no' if yes_tokens else 'yes'}"
    if problem is not None:
        raise JobBlockedError(
            f"The model {conversation.vision.checkpoint.name} cannot be asked: {problem}. Give a "
            "vision-language model that follows instructions."
        )
    return YesNo(options, conversation, yes_tokens, no_tokens)


def answer_tokens(tokenizer: Any, word: str) -> tuple[int, ...]:
    """The single tokens that are a word in small or capital letters, perhaps after a space."""
    tokens = set()
    for written in (word, word.capitalize(), word.upper()):
        for text in (written, f" {written}"):
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            if len(ids) == 1 and ids[0] != tokenizer.unk_token_id:
                tokens.add(int(ids[0]))
    return tuple(sorted(tokens))
