"""Tokenizers small enough for tests, with the layout of the real ones."""

from tokenizers.pre_tokenizers import ByteLevel
from transformers import CLIPTextConfig, CLIPTokenizer

CONTEXT = 77
"""Tokens in a prompt, as CLIP has it."""
MERGES = [("t", "h"), ("th", "e</w>"), ("p", "h"), ("o", "f</w>"), ("i", "n"), ("an", "d</w>")]


def clip_tokenizer(context: int = CONTEXT) -> CLIPTokenizer:
    """CLIP's tokenizer with a few merges: bytes, bytes that end a word, merges, two specials."""
    alphabet = sorted(ByteLevel.alphabet())
    words = [*alphabet, *(letter + "</w>" for letter in alphabet), "an"]
    words += ["".join(pair) for pair in MERGES] + ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    merges = [("a", "n"), *MERGES]
    return CLIPTokenizer(vocab=vocabulary, merges=merges, model_max_length=context)


def clip_text_config(tokenizer: CLIPTokenizer, **options: object) -> CLIPTextConfig:
    """A text encoder's configuration; its end of text must be the tokenizer's, for pooling."""
    return CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=37,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=tokenizer.model_max_length,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **options,
    )
