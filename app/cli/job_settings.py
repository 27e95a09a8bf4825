"""How a job makes its images, from the options of `cobalance enqueue` and a file of settings."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.backends import BACKENDS
from generation.jobs.settings import read_job_settings
from generation.recipes import choose_recipe
from graph.errors import InputError, OptionError
from graph.options import path_options


@dataclass(frozen=True)
class SettingOptions:
    """What a person gave, the file aside; it wins over the file.

    Parameters
    ----------
    recipe, backend : str or None
        See `generation.jobs.settings.JobSettings`.
    model, preset : str or None
        Options of the backend.
    filters : sequence of str
        Names; ``none`` alone for none, nothing for the recipe's.
    assignments : sequence of str
        Such as ``making.steps=30``.
    """

    recipe: str | None = None
    backend: str | None = None
    model: str | None = None
    preset: str | None = None
    filters: Sequence[str] = ()
    assignments: Sequence[str] = ()


def read_settings(file: Path | None, options: SettingOptions) -> dict[str, Any]:
    """Put a job's settings together and check them.

    Raises
    ------
    InputError
        The file cannot be read, or is no TOML.
    OptionError, UnknownNameError
        A setting is unknown or cannot be used.
    """
    values: dict[str, Any] = {} if file is None else _read_toml(file)
    for name in ("making", "filters"):
        if not isinstance(values.get(name, {}), dict):
            raise OptionError(f"{file}: {name} is no table of settings. Write [{name}] for it.")
    making = values.setdefault("making", {})
    if options.recipe is not None and options.backend is None:
        values.pop("backend", None)  # the file's, which was meant for the file's recipe
    for name in ("recipe", "backend"):
        values |= {name: given} if (given := getattr(options, name)) is not None else {}
    for name in ("model", "preset"):
        making |= {name: given} if (given := getattr(options, name)) is not None else {}
    if options.filters:
        values["filters"] = _chosen(options.filters, values.get("filters", {}))
    of_filters = [one for one in options.assignments if one.startswith("filters.")]
    for assignment in options.assignments:
        if assignment not in of_filters:
            assign(values, assignment)
    if of_filters and "filters" not in values:  # the others that the recipe has are kept
        recipe = choose_recipe(values.get("recipe"), values.get("backend"))
        values["filters"] = dict(recipe.filters)
    for assignment in of_filters:
        assign(values, assignment)
    return check_settings(values)


def check_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """Check a job's settings, and return them as they are kept with the job.

    Paths of models become absolute, so that they mean the same to a worker in another folder.

    Raises
    ------
    OptionError, UnknownNameError
        A setting is unknown or cannot be used.
    """
    _check_groups(values)
    settings = read_job_settings(values)
    placed = dict(settings.making)
    for name in path_options(BACKENDS[settings.backend].options):
        if name in placed:
            placed[name] = placed_model(placed[name])
    checked: dict[str, Any] = settings.model_dump(mode="json", exclude_unset=True)
    return checked | ({"making": placed} if placed else {})


def placed_model(model: str) -> str:
    """A model with its whole path, where it is a folder and no name of the hub.

    Raises
    ------
    OptionError
        It is empty, or of a home folder that is not there.

    Examples
    --------
    >>> placed_model("owner/name"), placed_model("/models/../models/sd")
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


def _chosen(names: Sequence[str], given: dict[str, Any]) -> dict[str, Any]:
    if "none" in names and len(set(names)) > 1:
        raise OptionError("--filter none leaves no filter. Give it alone, or leave it out.")
    return {name: given.get(name, {}) for name in names if name != "none"}


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
        given = values.get(name)
        if given is not None and not isinstance(given, dict):
            raise OptionError(
                f"The setting {name} is {given!r}: {name} is a group of settings; set one of "
                f"them, such as {example}."
            )
    for name, options in (values.get("filters") or {}).items():
        if not isinstance(options, dict):
            raise OptionError(
                f"The setting filters.{name} is {options!r}: a filter is a group of options; set "
                f"one of them, such as {_GROUPS['filters']}, or name it with --filter {name}."
            )


def read_file(path: Path) -> bytes:
    """Read a file that an option names.

    Raises
    ------
    InputError
        It cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            str(path), None, f"cannot be read ({error.strerror})", "Check the path."
        ) from error


def _read_toml(path: Path) -> dict[str, Any]:
    content = read_file(path)
    try:
        return tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(str(path), None, f"is no TOML ({error})", "Correct it.") from error


def assign(values: dict[str, Any], assignment: str) -> None:
    """Set a value by its path, such as ``making.steps=30``.

    Raises
    ------
    OptionError
        It is not of the form NAME=VALUE.
    """
    name, equals, text = assignment.partition("=")
    *path, last = name.strip().split(".")
    if not equals or not last or not all(path):
        raise OptionError(f"--set {assignment!r} is no NAME=VALUE, such as making.steps=30.")
    inner = values
    for part in path:
        found = inner.get(part)
        inner[part] = inner = found if isinstance(found, dict) else {}
    try:
        inner[last] = tomllib.loads(f"x = {text.strip()}")["x"]
    except tomllib.TOMLDecodeError:  # a word without quotes
        inner[last] = text.strip()
