"""Tokenizers that know words: transformers makes one without any where its files are missing.

With such a tokenizer a model loads, and whatever it is told is the same to it.
"""

from typing import Any

import transformers

from graph.errors import JobBlockedError

_TEXTS = ("a photo of a cat", "the sea")  # of no common word


def check_tokenizers(model: str, pipeline: Any) -> None:
    """Check each tokenizer of a pipeline against its text encoder.

    Parameters
    ----------
    model : str
        The model's name, for people.
    pipeline
        Of diffusers.

    Raises
    ------
    JobBlockedError
        One knows no words, or gives more of them than its encoder reads.
    """
    for part, tokenizer in pipeline.components.items():
        encoder = getattr(pipeline, part.replace("tokenizer", "text_encoder"), None)
        config = getattr(encoder, "config", None)
        config = getattr(config, "text_config", config)
        check_tokenizer(model, part, tokenizer, getattr(config, "vocab_size", None))
        limit = getattr(config, "max_position_embeddings", None)
        # pipelines give CLIP as many tokens as its tokenizer says; others say how many themselves
        if isinstance(tokenizer, transformers.CLIPTokenizer) and limit is not None:
            length = tokenizer.model_max_length
            if length > limit:
                raise _incomplete(model, part, f"gives up to {length} tokens, not {limit}")


def check_tokenizer(model: str, part: str, processor: Any, words: int | None) -> None:
    """Refuse a tokenizer, or the processor of one, that does not know its words.

    Parameters
    ----------
    model, part : str
        The model's name, and what the tokenizer is in it, for people.
    processor
        Of transformers; one without a tokenizer passes.
    words : int or None
        How many the text encoder has room for; None where that is not known.

    Raises
    ------
    JobBlockedError
        It knows none, or some that the encoder does not.
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
