"""Check a job's settings before it is created."""

import os
from collections.abc import Mapping
from typing import Any

from cobalance.base import OptionError, Plugins, check_known, is_installed, path_options
from cobalance.generation import (
    BACKENDS,
    FILTERS,
    QUALITIES,
    RECIPES,
    SEGMENTERS,
    JobSettings,
    choose_family,
    read_job_settings,
)
from cobalance.vision import gpu_memory_gb


def check_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Check a job's settings, and return them as they are kept with the job.

    Paths of models become absolute: workers may run in another folder. The setting ``quality``,
    one of `cobalance.generation.backends.families.QUALITIES`, becomes a model and a preset.

    Raises
    ------
    OptionError, UnknownNameError
        A setting is unknown or cannot be used, or one that a filter needs is missing.
    """
    _check_groups(values)
    values = dict(values)
    quality = values.pop("quality", None)
    settings = read_job_settings(values)

    chosen = values.get("making") or {}
    of_quality = _choose_model(quality, settings, chosen)
    if of_quality:
        values["making"] = of_quality | dict(chosen)
        settings = read_job_settings(values)

    making = dict(settings.making)
    for name in path_options(BACKENDS[settings.backend].options):
        if name in making:
            making[name] = resolve_model(making[name])

    checked: dict[str, Any] = settings.model_dump(mode="json", exclude_unset=True)
    for name, options in settings.filter_options().items():
        for option, what in FILTERS[name].required.items():
            if not options.get(option):
                raise OptionError(
                    f"The filter {name} needs {what}. Set filters.{name}.{option}, or leave the "
                    "filter out."
                )
        filter_settings = (checked.get("filters") or {}).get(name, {})
        for option in path_options(FILTERS[name].options):
            if option in filter_settings:
                filter_settings[option] = resolve_model(filter_settings[option])
    if making:
        checked["making"] = making
    return checked


def _choose_model(
    quality: str | None, settings: JobSettings, chosen: Mapping[str, Any]
) -> dict[str, Any]:
    """Options of the backend for a quality, or else for that of the recipe, if any.

    Parameters
    ----------
    chosen : mapping
        The options of the backend that are given.
    """
    named = sorted({"model", "preset"} & chosen.keys())
    recipe = RECIPES[settings.recipe]
    if quality is None:
        if not recipe.quality or settings.backend != recipe.backend or named:
            return {}
        quality = recipe.quality

    check_known("quality", [quality], QUALITIES)
    if named:
        raise OptionError(
            f"The quality {quality} chooses the model and the preset. Leave the "
            f"{' and the '.join(named)} out, or the quality."
        )
    if "preset" not in BACKENDS[settings.backend].options.model_fields:
        raise OptionError(f"The backend {settings.backend} has no quality to choose. Leave it out.")

    making: dict[str, Any] = {"preset": "faithful" if quality == "faithful" else "fast"}
    memory_gb = gpu_memory_gb() if is_installed("models") else 0.0
    family = choose_family(quality, settings.backend, memory_gb)
    if family is not None:
        making |= {"model": family.model, **family.making}
    return making


def licence_warnings(settings: JobSettings) -> list[str]:
    """Warnings about default models whose licences do not allow any use, for whoever orders."""
    chosen: list[tuple[Plugins[Any, Any], str | None, Mapping[str, Any]]] = [
        (BACKENDS, settings.backend, settings.making),
        (SEGMENTERS, settings.object_segmenter, settings.segmenter_options),
        (SEGMENTERS, settings.parts, settings.parts_options),
    ]
    for filter_name, filter_options in settings.filter_options().items():
        chosen.append((FILTERS, filter_name, filter_options))

    warnings = []
    for plugins, name, options in chosen:
        # Whoever names a model has chosen its licence.
        if name is None or options.get("model") is not None:
            continue
        plugin = plugins[name]
        if plugin.non_commercial:
            warnings.append(
                f"The {plugins.kind} {name} takes its default model, which is under this licence: "
                f"{plugin.licence}. {plugin.non_commercial}"
            )
    return warnings


def resolve_model(model: str) -> str:
    """A model with its whole path, where it is a folder and no name of the hub.

    Raises
    ------
    OptionError
        It is empty, or of a home folder that is not there.

    Examples
    --------
    >>> resolve_model("owner/name"), resolve_model("/models/../models/sd")
    ('owner/name', '/models/sd')
    """
    if not model.strip():
        raise OptionError("The model is empty. Give a folder, or owner/name of the hub.")
    if not is_path(model):
        return model
    path = os.path.expanduser(model)
    if path.startswith("~"):
        raise OptionError(f"The model {model}: nobody's home folder is {model.partition('/')[0]}.")
    return os.path.abspath(path)


def is_path(model: str) -> bool:
    """Whether a model is written as a path of this machine."""
    return model.startswith(("/", "./", "../", "~")) or model in (".", "..")


_GROUPS = {
    "making": "making.steps=20",
    "masks": "masks.object=person",
    "filters": "filters.clip.threshold=0.65",
    "segmenter_options": "segmenter_options.device=cpu",
}
"""The settings that hold others, each with an example."""


def _check_groups(values: Mapping[str, Any]) -> None:
    """Raise OptionError where a group of settings is given one value."""
    for name, example in _GROUPS.items():
        value = values.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise OptionError(
                f"The setting {name} is {value!r}: {name} is a group of settings; set one of "
                f"them, such as {example}."
            )

    for name, options in (values.get("filters") or {}).items():
        if not isinstance(options, Mapping):
            raise OptionError(
                f"The setting filters.{name} is {options!r}: a filter is a group of options; set "
                f"one of them, such as {_GROUPS['filters']}, or name it with --filter {name}."
            )
