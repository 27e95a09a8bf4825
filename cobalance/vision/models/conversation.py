"""Models of transformers that read an image and a text together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cobalance.base import Image, torch, transformers
from cobalance.vision.images import ImageArray
from cobalance.vision.models.loading import load_processor
from cobalance.vision.models.options import ModelOptions
from cobalance.vision.models.vision import VisionModel, encode_once, open_vision


@dataclass(frozen=True, eq=False)
class Conversation:
    """Prepares images and texts as inputs of a model with image encoder and language model.

    Its processor has the chat's template where the model was trained on chats.
    """

    vision: VisionModel

    def inputs(self, images: Sequence[ImageArray], text: str) -> dict[str, Any]:
        """Tensors of images with the same text, on the model's device."""
        processor = self.vision.processor
        prompt = text
        if getattr(processor, "chat_template", None):
            content = [{"type": "image"}, {"type": "text", "text": text}]
            prompt = processor.apply_chat_template(
                [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
            )

        values = processor(
            text=[prompt] * len(images),
            images=[[Image.fromarray(image)] for image in images],
            return_tensors="pt",
        )
        tensors = {name: value.to(self.vision.device) for name, value in values.items()}
        for name, tensor in tensors.items():
            # Tokens and masks stay whole numbers.
            if torch.is_floating_point(tensor):
                tensors[name] = tensor.to(self.vision.dtype)
        return tensors

    def clean_text(self, text: str) -> str:
        """A text without the tokens that stand for images, turns and their like."""
        # The longest first: one token may be a part of another.
        tokens = sorted(self.vision.processor.tokenizer.get_added_vocab(), key=len)
        for token in reversed(tokens):
            text = text.replace(token, " ")
        return text


def open_conversation(options: ModelOptions, revision: str) -> Conversation:
    """Load a model; `revision` is the default model's, errors as in `open_vision`.

    The image encoder does not look twice in a row at the same tensor.
    """
    vision = open_vision(
        options, transformers.AutoModelForImageTextToText, transformers.AutoProcessor, revision
    )
    # Pillow's variant, so that an image gives the same input with and without torchvision.
    vision.processor.image_processor = load_processor(
        transformers.AutoImageProcessor, vision.checkpoint, backend="pil"
    )

    inner: Any = getattr(vision.model, "model", None)
    if hasattr(inner, "get_image_features"):
        inner.get_image_features = encode_once(inner.get_image_features)
    return Conversation(vision)
