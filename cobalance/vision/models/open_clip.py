"""Load CLIP models in open_clip's layout as models of transformers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cobalance.base import JobBlockedError, OptionError, huggingface_hub, transformers
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
    renamed: dict[str, Any] = {}
    for name, values in weights.items():
        stem, _, part = name.rpartition(".")
        block = _BLOCK.fullmatch(name)

        if name in _PLAIN:
            renamed[_PLAIN[name]] = values
        elif name in _TRANSPOSED:
            renamed[_TRANSPOSED[name]] = values.T
        elif stem in _NORMS:
            renamed[f"{_NORMS[stem]}.{part}"] = values
        elif block is not None:
            renamed |= _rename_block(block, values)
        elif name != "attn_mask":
            # The mask of the text encoder is no weight in transformers, which makes it itself.
            renamed[name] = values
    return renamed


def _rename_block(block: re.Match[str], values: Any) -> dict[str, Any]:
    """A weight of a transformer's block, by its name or names in transformers."""
    is_visual, number, name, part = block.groups()
    tower = "vision_model" if is_visual else "text_model"
    layer = f"{tower}.encoder.layers.{number}"
    if name != "attn.in_proj":
        return {f"{layer}.{_PARTS.get(name, name)}.{part}": values}

    # Query, key and value are one tensor in open_clip.
    names = [f"{layer}.self_attn.{letter}_proj.{part}" for letter in "qkv"]
    return dict(zip(names, values.chunk(3), strict=True))


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
        processor = _image_processor(settings)
    except (KeyError, TypeError, ValueError) as error:
        raise JobBlockedError(
            f"The model {checkpoint.name}: {CONFIG_FILE} describes no CLIP with a vision "
            f"transformer ({describe_error(error)}). Give another model."
        ) from error

    device = choose_device(options.device)
    with out_of_memory(f"the model {checkpoint.label}", SMALLER_MODEL), quiet():
        weights = from_open_clip(read_weights(str(checkpoint.folder / file)))
        empty = transformers.CLIPModel(config)
        model = fill(empty, weights, f"{checkpoint.name}/{file}").to(device)
    vision = VisionModel(
        model=model,
        processor=processor,
        checkpoint=checkpoint,
        weights_sha256=checkpoint.weights_sha256,
        device=device,
        dtype=model.dtype,
        batch_size=options.batch_size,
    )
    return vision, tokenizer


def _image_processor(settings: Mapping[str, Any]) -> Any:
    """Resize and normalise images as open_clip does; CLIP's own mean where none is named."""
    side = int(settings["model_cfg"]["vision_cfg"]["image_size"])
    pixels = settings.get("preprocess_cfg", {})
    return transformers.CLIPImageProcessorPil(
        size={"shortest_edge": side},
        crop_size={"height": side, "width": side},
        **{f"image_{name}": pixels[name] for name in ("mean", "std") if name in pixels},
    )


def _config(
    settings: Mapping[str, Any], tokenizer: transformers.CLIPTokenizer
) -> transformers.CLIPConfig:
    """The architecture as transformers has it; open_clip's defaults where it names nothing."""
    image, text = settings["vision_cfg"], settings["text_cfg"]
    has_other_tower = "timm_model_name" in image or "hf_model_name" in text
    # A ResNet has a list of layers.
    if has_other_tower or not isinstance(image["layers"], int):
        raise ValueError("another architecture")

    both = {
        "hidden_act": "quick_gelu" if settings.get("quick_gelu") else "gelu",
        "projection_dim": settings["embed_dim"],
    }
    vision_config = {
        **both,
        **_tower(image, image["width"] // image.get("head_width", 64)),
        "image_size": image["image_size"],
        "patch_size": image["patch_size"],
    }
    text_config = {
        **both,
        **_tower(text, text["heads"]),
        "max_position_embeddings": text["context_length"],
        "vocab_size": text["vocab_size"],
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    return transformers.CLIPConfig(
        projection_dim=settings["embed_dim"],
        vision_config=vision_config,
        text_config=text_config,
    )


def _tower(settings: Mapping[str, Any], heads: int) -> dict[str, Any]:
    return {
        "hidden_size": settings["width"],
        "intermediate_size": int(settings["width"] * settings.get("mlp_ratio", 4)),
        "num_hidden_layers": settings["layers"],
        "num_attention_heads": heads,
    }


def _find(options: ModelOptions, file: str) -> Checkpoint:
    """The folder with a model's files, downloaded where it is a repository of the hub."""
    folder = Path(options.model).expanduser()
    commit = None
    if folder.is_dir():
        if options.revision is not None:
            raise OptionError(f"The model {options.model} is a folder, which has no revision.")
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
