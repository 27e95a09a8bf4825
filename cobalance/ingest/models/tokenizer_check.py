"""Verify a tokenizer's vocabulary.

transformers builds an empty tokenizer if its files are missing: the model loads, and ignores every
prompt.
"""

from typing import Any

import transformers

from cobalance.graph.errors import JobBlockedError

_TEXTS = ("a photo of a cat", "the sea")  # without a common word


def check_tokenizers(model: str, pipeline: Any) -> None:
    """Check every tokenizer of a pipeline against its text encoder.

    Parameters
    ----------
    model : str
        The model's name, for messages.
    pipeline
        A pipeline of diffusers.

    Raises
    ------
    JobBlockedError
        A tokenizer has no vocabulary, or produces more tokens than its encoder takes.
    """
    for part, tokenizer in pipeline.components.items():
        encoder = getattr(pipeline, part.replace("tokenizer", "text_encoder"), None)
        config = getattr(encoder, "config", None)
        config = getattr(config, "text_config", config)
        check_tokenizer(model, part, tokenizer, getattr(config, "vocab_size", None))
        limit = getattr(config, "max_position_embeddings", None)
        # only for CLIP do pipelines take the number of tokens from the tokenizer
        if isinstance(tokenizer, transformers.CLIPTokenizer) and limit is not None:
            length = tokenizer.model_max_length
            if length > limit:
                raise _incomplete(model, part, f"gives up to {length} tokens, not {limit}")


def check_tokenizer(model: str, part: str, processor: Any, words: int | None) -> None:
    """Refuse a tokenizer, or a processor with one, whose vocabulary is missing.

    Parameters
    ----------
    model, part : str
        The names of the model and of its part, for messages.
    processor
        A tokenizer or processor of transformers; one without a tokenizer passes.
    words : int or None
        Vocabulary size of the text encoder; None where unknown.

    Raises
    ------
    JobBlockedError
        It has no vocabulary, or a larger one than the encoder.
    """
    tokenizer = getattr(processor, "tokenizer", processor)
    if not isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
        return
    try:
        tokens = [set(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in _TEXTS]
    except Exception as error:  # a tokenizer raises whatever its files make it raise
        raise _incomplete(model, part, f"fails ({error!r})") from error
    known = [found - {*tokenizer.all_special_ids, tokenizer.unk_token_id} for found in tokens]
    if known[0] == known[1]:
        raise _incomplete(model, part, "tells no words apart")
    if words is not None and max(set.union(*tokens)) >= words:
        raise _incomplete(model, part, f"knows {len(tokenizer)} words, and its model {words}")


def _incomplete(model: str, part: str, problem: str) -> JobBlockedError:
    return JobBlockedError(
        f"The model {model} is incomplete: its {part} {problem}. Copy or download the tokenizer's "
        "files again."
    )
