"""Tiny checkpoints with random weights of the models that score texts, saved as real ones."""

from pathlib import Path
from string import ascii_lowercase
from typing import Any

import torch
from transformers import (
    BertConfig,
    BertTokenizer,
    BlipConfig,
    BlipForImageTextRetrieval,
    BlipImageProcessorPil,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    GroundingDinoImageProcessorPil,
    MMGroundingDinoConfig,
    MMGroundingDinoForObjectDetection,
    Siglip2Tokenizer,
    SiglipConfig,
    SiglipImageProcessorPil,
    SiglipModel,
    SwinConfig,
)

from tests.tiny.vision import EYE, LAYERS, save_model

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]")
WORDS = ("a", "photo", "of", "cow", "ocean", "fire", "hydrant", "red", "dog", "cat")


NUMBERS = {"[CLS]": 101, "[SEP]": 102, ".": 1012, "?": 1029}
"""Where BERT has what Grounding DINO takes for the end of a name, by number."""


def bert_tokenizer() -> BertTokenizer:
    """BERT's tokenizer of a few words, letters and signs."""
    pieces = [*WORDS, ",", *ascii_lowercase, *(f"##{one}" for one in ascii_lowercase)]
    free = iter(dict.fromkeys(word for word in [*SPECIAL, *pieces] if word not in NUMBERS))
    fixed = {number: word for word, number in NUMBERS.items()}
    known = [fixed.get(at) or next(free, f"[unused{at}]") for at in range(1030)]
    return BertTokenizer(vocab={word: at for at, word in enumerate(known)})


def save_blip_itm(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    tokens = bert_tokenizer()
    text = LAYERS | {
        "vocab_size": len(tokens),
        "encoder_hidden_size": 32,
        "projection_dim": 16,
        "max_position_embeddings": 40,
        "pad_token_id": tokens.pad_token_id,
        "bos_token_id": tokens.cls_token_id,
        "eos_token_id": tokens.sep_token_id,
        "sep_token_id": tokens.sep_token_id,
    }
    config = BlipConfig(
        text_config=text, vision_config=EYE, projection_dim=16, image_text_hidden_size=16
    )
    model = BlipForImageTextRetrieval(config)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            parameter.data.normal_(0, 0.3)  # so that texts and images differ
    save_model(model, folder)
    BlipImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_siglip2(folder: Path, seed: int = 0) -> Path:
    torch.manual_seed(seed)
    pieces = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "\u2581", *ascii_lowercase]
    pieces += [f"<0x{byte:02X}>" for byte in range(256)]
    tokens = Siglip2Tokenizer(vocab={piece: at for at, piece in enumerate(pieces)}, merges=[])
    text = LAYERS | {"vocab_size": len(pieces), "max_position_embeddings": 24}
    config = SiglipConfig(
        text_config={**text, "projection_size": 32}, vision_config={**EYE, "image_size": 32}
    )
    model = SiglipModel(config)
    model.logit_scale.data.fill_(1.0)
    model.logit_bias.data.fill_(-0.5)
    save_model(model, folder)
    SiglipImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def save_grounding_dino(folder: Path, seed: int = 0) -> Path:
    return _save_grounding(folder, seed, GroundingDinoConfig, GroundingDinoForObjectDetection)


def save_mm_grounding_dino(folder: Path, seed: int = 0) -> Path:
    """LLMDet's checkpoints are of this class, too."""
    return _save_grounding(folder, seed, MMGroundingDinoConfig, MMGroundingDinoForObjectDetection)


def _save_grounding(folder: Path, seed: int, config_kind: Any, kind: Any) -> Path:
    torch.manual_seed(seed)
    tokens = bert_tokenizer()
    config = config_kind(
        backbone_config=SwinConfig(
            image_size=64,
            embed_dim=8,
            depths=[1, 1, 1, 1],
            num_heads=[1, 1, 2, 2],
            window_size=4,
            out_indices=[2, 3, 4],
        ),
        text_config=BertConfig(
            **{**LAYERS, "num_hidden_layers": 1},
            vocab_size=len(tokens),
            max_position_embeddings=64,
        ),
        num_queries=8,
        encoder_layers=1,
        encoder_ffn_dim=32,
        encoder_attention_heads=2,
        decoder_layers=2,
        decoder_ffn_dim=32,
        decoder_attention_heads=2,
        d_model=64,  # the library divides it into 32 groups
        max_text_len=64,
    )
    model = kind(config)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 and "bbox_embed" not in name:
            parameter.data.normal_(0, 0.15)  # so that names and images differ
    save_model(model, folder)
    GroundingDinoImageProcessorPil(size={"shortest_edge": 48, "longest_edge": 96}).save_pretrained(
        folder
    )
    tokens.save_pretrained(folder)
    return folder
