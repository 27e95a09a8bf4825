"""Ask a language model that runs on this machine, with transformers."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from PIL import Image
from pydantic import Field
from transformers import AutoModelForImageTextToText, AutoProcessor, AutoTokenizer, set_seed

from cobalance.annotation.language.chat import TRIES, LanguageModelError, Question, Reply
from cobalance.base import inflect
from cobalance.vision import ModelOptions, load_processor, open_vision, quiet

REVISION = "89644892e4d85e24eaac8bacfd4f463576704203"
LICENCE = "Apache-2.0"


class LocalOptions(ModelOptions):
    """Options of a language model on this machine; see `vision.models.options.ModelOptions`.

    Parameters
    ----------
    max_tokens : int
        The longest reply; a longer one is cut off, and asked for again.
    """

    model: str = "Qwen/Qwen3-VL-2B-Instruct"
    dtype: Literal["float32", "float16", "bfloat16", "auto"] = "auto"
    max_tokens: int = Field(default=1024, ge=1, le=65536)


class LocalModel:
    """A language model with eyes on this machine; see `annotation.language.chat.ChatModel`.

    It is asked with its own chat template, one question at a time, with a seed for each round and
    attempt. JSON schemas are left to the question's words. Errors are those of
    `cobalance.vision.models.vision.open_vision`.
    """

    def __init__(self, options: LocalOptions) -> None:
        self.options = options
        self._opened = open_vision(options, AutoModelForImageTextToText, AutoTokenizer, REVISION)
        self.checkpoint, self._tokenizer = self._opened.checkpoint, self._opened.processor

    def ask(self, question: Question) -> Reply:
        """Ask a question.

        Raises
        ------
        LanguageModelError
            Three replies are cut off, or empty.
        OutOfMemoryError
            The device has no room for the question.
        """
        inputs = self._inputs(question)
        n_read, n_written = int(inputs["input_ids"].shape[1]), 0
        for attempt in range(TRIES):
            tokens = self._generate(inputs, question, attempt)[n_read:]
            n_written += len(tokens)
            text = self._tokenizer.decode(tokens, skip_special_tokens=True).strip()
            if len(tokens) < self.options.max_tokens and text:
                return Reply(text, n_read * (attempt + 1), n_written)
            # Without a temperature, the model would say the same again.
            if question.temperature == 0:
                break

        raise LanguageModelError(
            f"The replies of the language model {self.checkpoint.label} are empty, or cut off "
            f"after {inflect(self.options.max_tokens, 'tokens')}. Set max_tokens to more, or take "
            "another model."
        )

    def describe(self) -> Mapping[str, Any]:
        """Model, weights, device and versions, for provenance; JSON values."""
        is_default = self.options.model == LocalOptions.model_fields["model"].default
        return self._opened.describe() | ({"licence": LICENCE} if is_default else {})

    @cached_property
    def _processor(self) -> Any:
        """For questions with images alone: that of some models needs torchvision."""
        return load_processor(AutoProcessor, self.checkpoint)

    def _inputs(self, question: Question) -> Any:
        template = self._processor if question.images else self._tokenizer
        images = [{"type": "image", "image": Image.fromarray(image)} for image in question.images]
        content = [*images, {"type": "text", "text": question.text}]
        with quiet():
            inputs = template.apply_chat_template(
                [{"role": "user", "content": content}],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
            )
        return inputs.to(self._opened.device)

    def _generate(self, inputs: Any, question: Question, attempt: int) -> Any:
        sampling: dict[str, Any] = {"do_sample": False}
        if question.temperature > 0:
            # All tokens may be drawn, whichever limits the model's own settings have.
            sampling = {
                "do_sample": True,
                "temperature": question.temperature,
                "top_k": 0,
                "top_p": 1.0,
            }
        set_seed(question.seed + 1_000_000 * attempt)
        with self._opened.computing(f"a question to {self.checkpoint.label}"), quiet():
            tokens = self._opened.model.generate(
                **inputs, max_new_tokens=self.options.max_tokens, **sampling
            )
        return tokens[0].cpu()
