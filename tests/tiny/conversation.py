"""Tiny vision-language models with random weights, saved as real ones."""

from collections.abc import Sequence
from pathlib import Path
from string import ascii_letters
from typing import Any

import torch
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    BartConfig,
    CLIPImageProcessorPil,
    Florence2Config,
    Florence2ForConditionalGeneration,
    Florence2Processor,
    Gemma4AudioFeatureExtractor,
    Gemma4Config,
    Gemma4ForConditionalGeneration,
    Gemma4ImageProcessorPil,
    Gemma4Processor,
    Gemma4VideoProcessor,
    GemmaTokenizer,
    Qwen2Tokenizer,
    Qwen2VLImageProcessorPil,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    Qwen3VLProcessor,
    Qwen3VLVideoProcessor,
    RobertaTokenizer,
)

from tests.tiny.vision import save_model

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% for part in message.content %}{% if part.type == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
ANSWERS = ("yes", "Yes", "no", "No", " no")
SIGNS = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|image_pad|>", "<|video_pad|>"),
)


def byte_words(words: Sequence[str]) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Vocabulary and merges of a tokenizer of bytes that knows some words as one token."""
    bare = [word.strip() for word in words]
    merges = dict.fromkeys((word[:at], word[at]) for word in bare for at in range(1, len(word)))
    merges |= dict.fromkeys(("\u0120", word.strip()) for word in words if word.startswith(" "))
    known = dict.fromkeys([*sorted(ByteLevel.alphabet()), *map("".join, merges)])
    return {piece: at for at, piece in enumerate(known)}, list(merges)


def save_qwen3_vl(
    folder: Path, seed: int = 0, words: Sequence[str] = ("yes", "Yes", "no", "No", " no")
) -> Path:
    torch.manual_seed(seed)
    vocabulary, merges = byte_words(words)
    vocabulary |= {sign: len(vocabulary) + at for at, sign in enumerate(SIGNS)}
    tokens = Qwen2Tokenizer(vocab=vocabulary, merges=merges)
    tokens.add_special_tokens({"additional_special_tokens": list(SIGNS[1:])})
    config = Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokens),
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "max_position_embeddings": 512,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            },
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_heads": 2,
            "patch_size": 8,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "out_hidden_size": 32,
            "num_position_embeddings": 16,
            "deepstack_visual_indexes": [0],
        },
        **{
            f"{name}_token_id": vocabulary[sign]
            for name, sign in zip(
                ("vision_start", "vision_end", "image", "video"), SIGNS[3:], strict=True
            )
        },
    )
    model = Qwen3VLForConditionalGeneration(config)
    spread(model, 0.2)
    save_model(model, folder)
    size = {"shortest_edge": 16 * 16, "longest_edge": 48 * 48}
    Qwen3VLProcessor(
        Qwen2VLImageProcessorPil(patch_size=8, merge_size=2, size=size),
        tokens,
        Qwen3VLVideoProcessor(patch_size=8, merge_size=2),
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    return folder


def save_gemma4(folder: Path, seed: int = 0) -> Path:
    """Gemma 4, whose checkpoints also hear: here it has no model for sound."""
    torch.manual_seed(seed)
    signs = {
        "image_token": "<|image|>",
        "boi_token": "<|image>",
        "eoi_token": "<image|>",
        "audio_token": "<|audio|>",
        "boa_token": "<|audio>",
        "eoa_token": "<audio|>",
    }
    pieces = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "\u2581", *ascii_letters]
    merges = [("y", "e"), ("ye", "s"), ("n", "o"), ("\u2581", "no")]
    pieces += ["ye", "yes", "no", "\u2581no", "<|turn>", "<turn|>", *signs.values()]
    pieces += [f"<0x{byte:02X}>" for byte in range(256)]
    vocabulary = {piece: at for at, piece in enumerate(pieces)}
    tokens = GemmaTokenizer(vocab=vocabulary, merges=merges, extra_special_tokens=signs)
    images = Gemma4ImageProcessorPil(patch_size=4, max_soft_tokens=70, pooling_kernel_size=3)
    processor = Gemma4Processor(
        Gemma4AudioFeatureExtractor(), images, tokens, Gemma4VideoProcessor(),
        chat_template=TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", "<|image|>")
        .replace("<|im_start|>", "<|turn>").replace("<|im_end|>", "<turn|>"),
    )  # fmt: skip
    config = Gemma4Config(
        text_config={
            "vocab_size": len(tokens),
            "vocab_size_per_layer_input": len(tokens),
            "hidden_size_per_layer_input": 8,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "head_dim": 16,
            "global_head_dim": 16,
            "layer_types": ["sliding_attention", "full_attention"],
        },
        vision_config={
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "patch_size": 4,
            "position_embedding_size": 256,
        },
        audio_config=None,
        image_token_id=vocabulary["<|image|>"],
        boi_token_id=vocabulary["<|image>"],
        eoi_token_id=vocabulary["<image|>"],
        audio_token_id=vocabulary["<|audio|>"],
        video_token_id=tokens.convert_tokens_to_ids("<|video|>"),
    )
    model = Gemma4ForConditionalGeneration(config)
    spread(model, 0.2)
    save_model(model, folder)
    processor.save_pretrained(folder)
    return folder


def save_florence2(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    vocabulary, merges = byte_words([" cow", " ocean", " red", " a", " photo"])
    signs = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    known = {piece: at for at, piece in enumerate([*signs, *vocabulary])}
    extra = {"image_token": "<image>"}
    tokens = RobertaTokenizer(vocab=known, merges=merges, extra_special_tokens=extra)
    config = Florence2Config(
        vision_config={
            "depths": [1, 1],
            "patch_size": [7, 3],
            "patch_stride": [4, 2],
            "patch_padding": [3, 1],
            "patch_prenorm": [False, True],
            "embed_dim": [16, 32],
            "num_heads": [2, 2],
            "num_groups": [2, 2],
            "window_size": 4,
            "projection_dim": 32,
        },
        text_config=BartConfig(
            vocab_size=len(tokens),
            d_model=32,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            max_position_embeddings=128,
        ).to_dict(),
        image_token_id=tokens.convert_tokens_to_ids("<image>"),
    )
    model = Florence2ForConditionalGeneration(config)
    spread(model, 0.2)
    save_model(model, folder)
    images = CLIPImageProcessorPil(
        size={"height": 32, "width": 32}, do_center_crop=False, image_seq_length=17
    )
    Florence2Processor(images, tokens).save_pretrained(folder)
    return folder


def spread(model: Any, deviation: float) -> None:
    """Wide weights, so that what goes in matters."""
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.data.normal_(0, deviation)
