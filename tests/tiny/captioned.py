"""Tiny images with captions, and a tiny BLIP."""

from dataclasses import replace
from pathlib import Path

import torch
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    BertTokenizer,
    BlipConfig,
    BlipForConditionalGeneration,
    BlipImageProcessorPil,
    GPT2Config,
    GPT2LMHeadModel,
    GPT2Tokenizer,
)

from cobalance.evaluation.training.examples import Examples
from cobalance.vision.models.loading import quiet
from tests.tiny.labelled import tiny_examples

COLOURS, GROUNDS = ("red", "blue"), ("dark", "bright")


def captioned(n_images: int = 24, seed: int = 0) -> Examples:
    """`tiny_examples` with two captions each, which name colour and ground."""
    images = tiny_examples(n_images, seed, share=0.5)
    shown = zip(images.labels.tolist(), images.domains.tolist(), strict=True)
    captions = [
        (f"a {COLOURS[label]} square", f"{GROUNDS[ground]} ground, {COLOURS[label]} thing")
        for label, ground in shown
    ]
    return replace(images, captions=captions)


WORDS = (
    *("a", "man", "woman", "with", "in", "red", "blue", "square"),
    *("dark", "bright", "ground", "thing", ","),
)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]"]


def save_blip(folder: Path, seed: int = 0) -> Path:
    """BLIP with BERT's tokenizer of a few words, saved as the published one is."""
    torch.manual_seed(seed)
    words = {word: at for at, word in enumerate([*SPECIAL, *WORDS])}
    tokens = BertTokenizer(vocab=words, bos_token="[DEC]")
    layers = {"hidden_size": 32, "intermediate_size": 37, "num_hidden_layers": 2}
    text = layers | {
        "vocab_size": len(words),
        "encoder_hidden_size": 32,
        "projection_dim": 16,
        "num_attention_heads": 4,
        "max_position_embeddings": 40,
        "bos_token_id": words["[DEC]"],
        "eos_token_id": words["[SEP]"],
        "sep_token_id": words["[SEP]"],
        "pad_token_id": 0,
    }
    vision = layers | {"image_size": 32, "patch_size": 8, "num_attention_heads": 4}
    config = BlipConfig(text_config=text, vision_config=vision, projection_dim=16)
    with quiet():
        BlipForConditionalGeneration(config).save_pretrained(folder)
        BlipImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
        tokens.save_pretrained(folder)
    return folder


def save_gpt2(folder: Path, seed: int = 0) -> Path:
    """GPT-2 with a tokenizer of bytes and a few words, saved as the published one is."""
    torch.manual_seed(seed)
    words = [f"\u0120{word}" for word in WORDS if word != ","]  # a word with the space before it
    merges = dict.fromkeys((word[:at], word[at]) for word in words for at in range(1, len(word)))
    known = [*sorted(ByteLevel.alphabet()), *map("".join, merges), "<|endoftext|>"]
    vocabulary = {word: at for at, word in enumerate(known)}
    config = GPT2Config(
        vocab_size=len(known), n_positions=40, n_embd=32, n_layer=2, n_head=4,
        bos_token_id=len(known) - 1, eos_token_id=len(known) - 1,
    )  # fmt: skip
    with quiet():
        GPT2LMHeadModel(config).save_pretrained(folder)
        GPT2Tokenizer(vocab=vocabulary, merges=list(merges)).save_pretrained(folder)
    return folder
