"""Load CLIP models in open_clip's layout as models of transformers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cobalance.base.errors import JobBlockedError, OptionError
from cobalance.base.libraries import huggingface_hub, transformers
from cobalance.vision.models.checkpoints import Checkpoint, describe_error, downloading, read_json
from cobalance.vision.models.devices import SMALLER_MODEL, choose_device, out_of_memory
from cobalance.vision.models.loading import load_processor, quiet
from cobalance.vision.models.options import ModelOptions
from cobalance.vision.models.vision import VisionModel
from cobalance.vision.models.weights import fill, read_weights

CONFIG_FILE = "open_clip_config.json"
WEIGHTS_FILE = "open_clip_model.safetensors"
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt")
_PLAIN = {
    "logit_scale": "logit_scale",
    "positional_embedding": "text_model.embeddings.position_embedding.weight",
    "token_embedding.weight": "text_model.embeddings.token_embedding.weight",
    "visual.class_embedding": "vision_model.embeddings.class_embedding",
    "visual.conv1.weight": "vision_model.embeddings.patch_embedding.weight",
    "visual.positional_embedding": "vision_model.embeddings.position_embedding.weight",
}
_TRANSPOSED = {
    "text_projection": "text_projection.weight",
    "visual.proj": "visual_projection.weight",
}
_NORMS = {
    "ln_final": "text_model.final_layer_norm",
    "visual.ln_pre": "vision_model.pre_layrnorm",
    "visual.ln_post": "vision_model.post_layernorm",
}
_PARTS = {
    "ln_1": "layer_norm1",
    "ln_2": "layer_norm2",
    "mlp.c_fc": "mlp.fc1",
    "mlp.c_proj": "mlp.fc2",
    "attn.out_proj": "self_attn.out_proj",
}
_BLOCK = re.compile(r"(visual\.)?transformer\.resblocks\.(\d+)\.(.+?)[._](weight|bias)")


def from_open_clip(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights of open_clip's CLIP by their names in transformers; unknown ones as they are."""
    found: dict[str, Any] = {}
    for name, values in weights.items():
        stem, _, part = name.rpartition(".")
        block = _BLOCK.fullmatch(name)
        if name in _PLAIN:
            found[_PLAIN[name]] = values
        elif name in _TRANSPOSED:
            found[_TRANSPOSED[name]] = values.T
        elif stem in _NORMS:
            found[f"{_NORMS[stem]}.{part}"] = values
        elif block is not None:
            tower = "vision_model" if block[1] else "text_model"
            layer = f"{tower}.encoder.layers.{block[2]}"
            if block[3] == "attn.in_proj":
                for own, share in zip("qkv", values.chunk(3), strict=True):
                    found[f"{layer}.self_attn.{own}_proj.{block[4]}"] = share
            else:
                found[f"{layer}.{_PARTS.get(block[3], block[3])}.{block[4]}"] = values
        elif name != "attn_mask":
            found[name] = values
    return found


def load_open_clip(
    options: ModelOptions, file: str = WEIGHTS_FILE
) -> tuple[VisionModel, transformers.CLIPTokenizer]:
    """Load a CLIP with a vision transformer in single precision, and its tokenizer.

    Parameters
    ----------
    options : ModelOptions
        The model is a folder, or a repository of the hub, with `CONFIG_FILE`, a tokenizer and the
        weights.
    file : str
        Name of the weights, as safetensors.

    Raises
    ------
    OptionError
        There is no such device, the weights are no safetensors, or a folder is given a revision.
    JobBlockedError
        A file is missing, damaged or of another kind of model.
    OutOfMemoryError
        The device has no room for it.
    """
    if Path(file).name != file or not file.endswith(".safetensors"):
        raise OptionError(f"The weights {file!r} are no name of a .safetensors file.")
    checkpoint = _find(options, file)
    settings = checkpoint.read_config(CONFIG_FILE)
    tokenizer = load_processor(transformers.CLIPTokenizer, checkpoint)
    try:
        config = _config(settings["model_cfg"], tokenizer)
        pixels = settings.get("preprocess_cfg", {})
        side = int(settings["model_cfg"]["vision_cfg"]["image_size"])
        processor = transformers.CLIPImageProcessorPil(
            size={"shortest_edge": side},
            crop_size={"height": side, "width": side},
            **{f"image_{name}": pixels[name] for name in ("mean", "std") if name in pixels},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise JobBlockedError(
            f"The model {checkpoint.name}: {CONFIG_FILE} describes no CLIP with a vision "
            f"transformer ({describe_error(error)}). Give another model."
        ) from error
    device = choose_device(options.device)
    with out_of_memory(f"the model {checkpoint.label}", SMALLER_MODEL), quiet():
        weights = from_open_clip(read_weights(str(checkpoint.folder / file)))
        model = fill(transformers.CLIPModel(config), weights, f"{checkpoint.name}/{file}").to(
            device
        )
    digest, batch = checkpoint.weights_sha256, options.batch_size
    return VisionModel(model, processor, checkpoint, digest, device, model.dtype, batch), tokenizer


def _config(
    settings: Mapping[str, Any], tokenizer: transformers.CLIPTokenizer
) -> transformers.CLIPConfig:
    """The architecture as transformers has it; open_clip's defaults where it names nothing."""
    image, text = settings["vision_cfg"], settings["text_cfg"]
    others = "timm_model_name" in image or "hf_model_name" in text
    if others or not isinstance(image["layers"], int):
        raise ValueError("another architecture")
    both = {
        "hidden_act": "quick_gelu" if settings.get("quick_gelu") else "gelu",
        "projection_dim": settings["embed_dim"],
    }
    return transformers.CLIPConfig(
        projection_dim=settings["embed_dim"],
        vision_config=both
        | _tower(image, image["width"] // image.get("head_width", 64))
        | {"image_size": image["image_size"], "patch_size": image["patch_size"]},
        text_config=both
        | _tower(text, text["heads"])
        | {
            "max_position_embeddings": text["context_length"],
            "vocab_size": text["vocab_size"],
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
        },
    )


def _tower(settings: Mapping[str, Any], heads: int) -> dict[str, Any]:
    return {
        "hidden_size": settings["width"],
        "intermediate_size": int(settings["width"] * settings.get("mlp_ratio", 4)),
        "num_hidden_layers": settings["layers"],
        "num_attention_heads": heads,
    }


def _find(options: ModelOptions, file: str) -> Checkpoint:
    folder = Path(options.model).expanduser()
    if folder.is_dir():
        if options.revision is not None:
            raise OptionError(f"The model {options.model} is a folder, which has no revision.")
        commit = None
    else:
        with downloading(options.model):
            path = huggingface_hub.snapshot_download(
                options.model,
                revision=options.revision,
                allow_patterns=[file, CONFIG_FILE, *_TOKENIZER_FILES],
                local_files_only=options.offline or huggingface_hub.constants.HF_HUB_OFFLINE,
            )
        folder = Path(path)
        commit = folder.name
    for name in (CONFIG_FILE, file):
        if not (folder / name).is_file():
            raise JobBlockedError(
                f"The model {options.model} has no {name}, as models of open_clip do. Give "
                "another, or choose the layout transformers."
            )
    read_json(folder / CONFIG_FILE, f"The model {options.model}")
    return Checkpoint(options.model, commit, folder, (file,))
