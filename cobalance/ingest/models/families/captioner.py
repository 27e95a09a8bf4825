"""Captions that Florence-2 or a vision-language model writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cobalance.ingest.images.arrays import ImageArray
from cobalance.ingest.models.families.conversation import Conversation, open_conversation
from cobalance.ingest.models.loading import quiet
from cobalance.ingest.models.options import CaptionOptions

REVISION = "00921df66db728a9ceb750f5eca43e5c203a2051"
_ONE_SIZE = frozenset({"florence2"})
"""Models that take all images in one size, so that a batch needs no padding."""


@dataclass(frozen=True, eq=False)
class Captioner:
    """Writes a caption for each image, without sampling.

    Parameters
    ----------
    conversation : Conversation
        The model.
    options : CaptionOptions
        Prompt and search.
    """

    conversation: Conversation
    options: CaptionOptions

    def captions(self, images: Sequence[ImageArray]) -> list[str]:
        """A caption for each image, in their order.

        Raises
        ------
        OutOfMemoryError
            The images are too many for the device.
        """
        vision, found = self.conversation.vision, []
        together = vision.model.config.model_type in _ONE_SIZE
        batches = vision.batches(images) if together else ([image] for image in images)
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
            if not vision.model.config.is_encoder_decoder:
                tokens = tokens[:, values["input_ids"].shape[1] :]
            words = vision.processor.tokenizer.batch_decode(tokens, skip_special_tokens=True)
            found += [" ".join(text.split()) for text in words]
        return found

    def describe(self) -> Mapping[str, Any]:
        """The settings, and the model with its weights."""
        settings = self.options.model_dump(include={"prompt", "max_tokens", "beams"})
        return {"settings": settings, **self.conversation.vision.describe()}


def open_captioner(options: CaptionOptions) -> Captioner:
    """Load a model; errors are those of `cobalance.ingest.models.vision.open_vision`."""
    return Captioner(open_conversation(options, REVISION), options)
