"""How a job makes its images, from the options of `cobalance enqueue` and a file of settings."""

import tomllib
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.services.job_settings import check_settings
from generation.recipes import choose_recipe
from graph.errors import InputError, OptionError


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
        The file cannot be read, or is not valid TOML.
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
        values["filters"] = deepcopy(dict(recipe.filters))
    for assignment in of_filters:
        assign(values, assignment)
    return check_settings(values)


def _chosen(names: Sequence[str], given: dict[str, Any]) -> dict[str, Any]:
    if "none" in names and len(set(names)) > 1:
        raise OptionError("--filter none leaves no filter. Give it alone, or leave it out.")
    return {name: given.get(name, {}) for name in names if name != "none"}


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
        raise InputError(str(path), None, f"is not valid TOML ({error})", "Correct it.") from error


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
