"""One module per filter, and the registry of them all."""

from collections.abc import Mapping
from typing import Any, cast

from generation.filters.filter import Filter, OpenFilter
from generation.plugins import Plugin
from graph.registry import Registry

FILTERS: Registry[Plugin] = Registry("filter")
for _name, _extra, _purpose in (
    ("sanity", "worker", "The image has the size that was asked for, and keeps its object."),
    ("blank", "worker", "The image is not one colour, or nearly."),
    ("duplicates", "worker", "The image is not nearly the same as another one of its query."),
    ("clip", "models", "The image shows what the prompt says: CLIPScore."),
    ("objects", "models", "A detector finds the concepts and the class in the image."),
    ("safety", "models", "The image is safe to look at."),
):
    FILTERS.register(_name, Plugin(f"generation.filters.{_name}", _extra, _purpose))


def open_filter(name: str, options: Mapping[str, Any] | None = None) -> Filter:
    """Open a filter by name, with all that it needs loaded.

    Raises
    ------
    UnknownNameError
        No filter has this name.
    MissingExtraError, OptionError, JobBlockedError
        As in `generation.filters.filter.OpenFilter`.
    """
    opener = FILTERS[name].load("open_filter", f"The filter {name}")
    return cast("OpenFilter", opener)(options or {})
