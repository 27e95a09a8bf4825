"""Read NAME=VALUE options, and a job's settings from options and a TOML file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cobalance.base import InputError, OptionError, documents
from cobalance.generation import recipes
from cobalance.workflows.order import settings as order_settings


def read_settings(
    file: Path | None,
    chosen: Mapping[str, str | bool | None],
    making: Mapping[str, str | None],
    filters: Sequence[str] = (),
    assignments: Sequence[str] = (),
) -> dict[str, Any]:
    """Put a job's settings together and check them; options win over the file.

    Parameters
    ----------
    file : Path or None
        A TOML file of settings.
    chosen, making : mapping
        The recipe, the backend and other settings, and options of the backend; None if not given.
    filters : sequence of str
        Names; ``none`` alone for none, and no name for the recipe's.
    assignments : sequence of str
        Such as ``making.steps=30``.

    Raises
    ------
    InputError
        The file cannot be read, or is not valid TOML.
    OptionError, UnknownNameError
        A setting is unknown or cannot be used.
    """
    values: dict[str, Any] = {}
    if file is not None:
        values = _read_toml(file)
    for name in ("making", "filters"):
        if not isinstance(values.get(name, {}), dict):
            raise OptionError(f"{file}: {name} is no table of settings. Write [{name}] for it.")

    # A backend in the file was meant for the recipe in the file.
    if chosen.get("recipe") is not None and chosen.get("backend") is None:
        values.pop("backend", None)
    values |= given(**chosen)
    values["making"] = values.get("making", {}) | given(**making)
    if filters:
        values["filters"] = _choose_filters(filters, values.get("filters", {}))

    filter_assignments = [text for text in assignments if text.startswith("filters.")]
    for assignment in assignments:
        if assignment not in filter_assignments:
            assign(values, assignment)

    # Options of one filter leave the recipe's other filters in place.
    if filter_assignments and "filters" not in values:
        recipe = recipes.choose_recipe(values.get("recipe"), values.get("backend"))
        values["filters"] = dict(recipe.filters)
    for assignment in filter_assignments:
        assign(values, assignment)
    return order_settings.check_settings(values)


def given(**options: Any) -> dict[str, Any]:
    """The options without those that are None."""
    return {name: value for name, value in options.items() if value is not None}


def _choose_filters(names: Sequence[str], in_file: dict[str, Any]) -> dict[str, Any]:
    if "none" in names and len(set(names)) > 1:
        raise OptionError("--filter none leaves no filter. Give it alone, or leave it out.")
    return {name: in_file.get(name, {}) for name in names if name != "none"}


def read_file(path: Path) -> bytes:
    """Read a file that an option names.

    Raises
    ------
    InputError
        It cannot be read.
    """
    # A device such as /dev/zero has no end, and would be read for ever.
    if path.exists() and not path.is_file():
        raise InputError(str(path), None, "is not a file", "Check the path.")

    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            str(path), None, f"cannot be read ({error.strerror})", "Check the path."
        ) from error


def _read_toml(path: Path) -> dict[str, Any]:
    content = read_file(path)
    try:
        return documents.decode_toml(content.decode())
    except ValueError as error:
        raise InputError(str(path), None, f"is not valid TOML ({error})", "Correct it.") from error


def assigned(assignments: Iterable[str] | None) -> dict[str, Any]:
    """Read the values of `--set`, each NAME=VALUE; see `assign` for the error raised."""
    values: dict[str, Any] = {}
    for assignment in assignments or ():
        assign(values, assignment)
    return values


def assign(values: dict[str, Any], assignment: str) -> None:
    """Set a value by its path, such as ``making.steps=30``; text needs no quotes, tables are JSON.

    No text is None: an option that is not set.

    Raises
    ------
    OptionError
        It is not of the form NAME=VALUE.
    """
    name, equals, text = assignment.partition("=")
    *path, last = name.strip().split(".")
    if not equals or not last or not all(path):
        raise OptionError(f"--set {assignment!r} is no NAME=VALUE, such as making.steps=30.")

    table = values
    for part in path:
        # A recipe's own tables are read-only, so that each on the way is copied.
        inner = table.get(part)
        table[part] = dict(inner) if isinstance(inner, Mapping) else {}
        table = table[part]

    text = text.strip()
    try:
        table[last] = documents.decode_toml(f"x = {text}")["x"] if text else None
    except ValueError:
        table[last] = _json_or_text(text)


def _json_or_text(text: str) -> Any:
    """A table of JSON, which TOML writes otherwise; everything else is a word without quotes."""
    try:
        return json.loads(text) if text.startswith(("{", "[")) else text
    except ValueError:
        return text
