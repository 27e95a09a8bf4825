"""Tiny checkpoints with random weights of the models that score texts, saved as real ones."""

from pathlib import Path
from string import ascii_lowercase

import torch
from transformers import (
    BertTokenizer,
    BlipConfig,
    BlipForImageTextRetrieval,
    BlipImageProcessorPil,
    Siglip2Tokenizer,
    SiglipConfig,
    SiglipImageProcessorPil,
    SiglipModel,
)

from tests.tiny.vision import EYE, LAYERS, save_model

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[DEC]")
WORDS = ("a", "photo", "of", "cow", "ocean", "fire", "hydrant", "red", "dog", "cat")


def bert_tokenizer() -> BertTokenizer:
    """BERT's tokenizer of a few words, letters and signs."""
    pieces = [*WORDS, ".", "?", ",", *ascii_lowercase, *(f"##{one}" for one in ascii_lowercase)]
    known = list(dict.fromkeys([*SPECIAL, *pieces]))
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
