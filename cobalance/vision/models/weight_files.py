"""Choose which weight files of a model to load, by their names."""

import re
from collections.abc import Collection, Mapping
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from cobalance.base import JobBlockedError

PIPELINE_FILE = "model_index.json"
"""Marks the folder of a diffusers pipeline."""
MODEL_FILE = "config.json"
"""Marks the folder of a transformers model, or of a pipeline's component."""

UNUSED_COMPONENTS = frozenset({"safety_checker"})
"""Never loaded: the filter `safety` checks the images of every backend instead."""

_WEIGHTS = re.compile(
    r"(?:diffusion_pytorch_)?model(?:\.(?P<variant>fp16|bf16))?"
    r"(?:-(?P<shard>\d{5})-of-(?P<shards>\d{5}))?\.safetensors"
)
_PICKLES = frozenset({".bin", ".ckpt", ".pt", ".pth", ".pkl", ".pickle"})


def list_components(index: Mapping[str, Any] | None) -> list[str]:
    """Folders of a pipeline's loaded components; none for a transformers model."""
    names = []
    for name, entry in (index or {}).items():
        # Its library and its class; [null, null] for a component that was left out.
        is_component = isinstance(entry, list) and entry and entry[0]
        if is_component and name not in UNUSED_COMPONENTS:
            names.append(name)
    return names


def choose_weights(
    where: str, names: Collection[str], index: Mapping[str, Any] | None
) -> tuple[tuple[str, ...], str | None]:
    """Choose the weights to load among a model's files, and their variant.

    Parameters
    ----------
    where : str
        The model, for messages.
    names : collection of str
        File names relative to its folder.
    index : mapping or None
        Content of its `PIPELINE_FILE`; None for a model of transformers.

    Returns
    -------
    weights : tuple of str
        The safetensors files, in ascending order.
    variant : str or None
        ``fp16`` or ``bf16`` if some component has weights in that precision alone; the plain
        weights of the others are used, as in diffusers.

    Raises
    ------
    JobBlockedError
        A component has no weights or only pickles, or some of its files are missing.

    Examples
    --------
    >>> choose_weights("The model m", {"config.json", "model.fp16.safetensors"}, None)
    (('model.fp16.safetensors',), 'fp16')
    """
    parts = [""] if index is None else list_components(index)
    weights_by_part = {
        part: _weights_of(where, part, names)
        for part in parts
        if f"{part}/{MODEL_FILE}".lstrip("/") in names
    }
    if not weights_by_part:
        raise JobBlockedError(f"{where} is incomplete: none of its parts has a {MODEL_FILE}.")

    variants: tuple[str | None, ...] = (None, "fp16", "bf16")
    for variant in variants:
        if all(variant in weights or None in weights for weights in weights_by_part.values()):
            # diffusers takes a part's plain weights where it has none of the variant.
            chosen = [
                weights.get(variant, weights.get(None, ())) for weights in weights_by_part.values()
            ]
            return tuple(sorted(chain.from_iterable(chosen))), variant
    raise JobBlockedError(
        f"{where} has some parts in fp16 alone and some in bf16 alone. Save it in one precision."
    )


def _weights_of(where: str, part: str, names: Collection[str]) -> dict[str | None, tuple[str, ...]]:
    """A part's safetensors files by variant, every shard of each."""
    here = [name for name in sorted(names) if name.rpartition("/")[0] == part]
    files: dict[str | None, dict[str, re.Match[str]]] = {}
    for name in here:
        if match := _WEIGHTS.fullmatch(PurePosixPath(name).name):
            files.setdefault(match["variant"], {})[name] = match

    place = ", ".join(filter(None, (where, part)))
    if not files:
        if not _PICKLES.isdisjoint(PurePosixPath(name).suffix for name in here):
            raise JobBlockedError(
                f"{place}: the weights are pickles, which can run any code when they are read. "
                "Give a model with safetensors, or have someone who trusts this one save it again "
                "with save_pretrained."
            )
        raise JobBlockedError(
            f"{place}: there are no weights, model.safetensors or diffusion_pytorch_model"
            ".safetensors. Copy or download the model again."
        )

    for matches in files.values():
        # The name of each shard says how many there are.
        shards = max(int(match["shards"] or 1) for match in matches.values())
        if len(matches) < shards:
            raise JobBlockedError(
                f"{place}: {len(matches)} of {shards} files of weights are there. Copy or download "
                "the model again."
            )
    return {variant: tuple(matches) for variant, matches in files.items()}
