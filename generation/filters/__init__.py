"""One module per filter, and the registry of them all."""

from generation.filters.filter import Filter
from generation.filters.options import (
    BlankOptions,
    ClipOptions,
    DuplicatesOptions,
    ObjectsOptions,
    SafetyOptions,
    SanityOptions,
)
from graph.plugins import Plugin, Plugins

FILTERS: Plugins[Filter] = Plugins("filter")
for _name, _options, _extra, _purpose in (
    (
        "sanity",
        SanityOptions,
        "worker",
        "The image has the size that was asked for, and keeps its object.",
    ),
    ("blank", BlankOptions, "worker", "The image is not one colour, or nearly."),
    (
        "duplicates",
        DuplicatesOptions,
        "worker",
        "The image is not nearly the same as another one of its query.",
    ),
    ("clip", ClipOptions, "models", "The image shows what the prompt says: CLIPScore."),
    (
        "objects",
        ObjectsOptions,
        "models",
        "A detector finds the concepts and the class in the image.",
    ),
    ("safety", SafetyOptions, "models", "The image is safe to look at."),
):
    FILTERS.register(_name, Plugin(f"generation.filters.{_name}", _extra, _purpose, _options))
