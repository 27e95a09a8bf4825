"""Tiny CLIP models in the layout of open_clip."""

import json
import re
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file


def as_open_clip(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Names of open_clip for those of transformers."""
    found: dict[str, torch.Tensor] = {}
    whole: dict[str, dict[str, torch.Tensor]] = {}
    names = {
        "text_model.embeddings.token_embedding.weight": "token_embedding.weight",
        "text_model.embeddings.position_embedding.weight": "positional_embedding",
        "vision_model.embeddings.patch_embedding.weight": "visual.conv1.weight",
        "vision_model.embeddings.position_embedding.weight": "visual.positional_embedding",
        "vision_model.embeddings.class_embedding": "visual.class_embedding",
    }
    for name, values in weights.items():
        new = names.get(name, name)
        for old, own in (
            ("text_model.final_layer_norm", "ln_final"),
            ("vision_model.pre_layrnorm", "visual.ln_pre"),
            ("vision_model.post_layernorm", "visual.ln_post"),
            ("text_model.encoder.layers", "transformer.resblocks"),
            ("vision_model.encoder.layers", "visual.transformer.resblocks"),
            ("layer_norm", "ln_"),
            ("mlp.fc1", "mlp.c_fc"),
            ("mlp.fc2", "mlp.c_proj"),
            ("self_attn.out_proj", "attn.out_proj"),
        ):
            new = new.replace(old, own)
        if new in ("text_projection.weight", "visual_projection.weight"):
            new = "text_projection" if new.startswith("text") else "visual.proj"
            found[new] = values.T.contiguous()
        elif share := re.fullmatch(r"(.*)\.self_attn\.([qkv])_proj\.(.*)", new):
            whole.setdefault(f"{share[1]}.attn.in_proj_{share[3]}", {})[share[2]] = values
        else:
            found[new] = values
    for name, shares in whole.items():
        found[name] = torch.cat([shares[one] for one in "qkv"])
    return found


def save_as_open_clip(clip: Path, folder: Path, **settings: Any) -> Path:
    """The files that open_clip has of a tiny CLIP that transformers saved."""
    folder.mkdir()
    for name in ("vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json"):
        if (clip / name).exists():
            (folder / name).write_bytes((clip / name).read_bytes())
    save_file(
        as_open_clip(load_file(clip / "model.safetensors")), folder / "open_clip_model.safetensors"
    )
    known = json.loads((clip / "config.json").read_text())
    image, text = known["vision_config"], known["text_config"]

    def tower(of: dict[str, Any]) -> dict[str, Any]:
        return {
            "layers": of["num_hidden_layers"],
            "width": of["hidden_size"],
            "mlp_ratio": of["intermediate_size"] / of["hidden_size"],
        }

    config = {
        "embed_dim": known["projection_dim"],
        "vision_cfg": tower(image)
        | {"image_size": image["image_size"], "patch_size": image["patch_size"]}
        | {"head_width": image["hidden_size"] // image["num_attention_heads"]},
        "text_cfg": tower(text)
        | {"context_length": text["max_position_embeddings"], "vocab_size": text["vocab_size"]}
        | {"heads": text["num_attention_heads"]},
    }
    pixels = json.loads((clip / "preprocessor_config.json").read_text())
    described = {
        "model_cfg": config | settings,
        "preprocess_cfg": {"mean": pixels["image_mean"], "std": pixels["image_std"]},
    }
    (folder / "open_clip_config.json").write_text(json.dumps(described))
    return folder
