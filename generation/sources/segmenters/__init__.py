"""One module per segmenter, and the registry of them all."""

from generation.sources.segmenters.options import ParsingOptions, SamOptions
from generation.sources.segmenters.segmenter import Segmenter
from graph.plugins import Plugin, Plugins

SEGMENTERS: Plugins[Segmenter] = Plugins("segmenter")
for _name, _options, _extra, _purpose in (
    ("sam", SamOptions, "models", "Segment Anything finds the object in an annotated box."),
    (
        "parsing",
        ParsingOptions,
        "models",
        "Human parsing finds a person, by body parts and clothes.",
    ),
):
    SEGMENTERS.register(
        _name, Plugin(f"generation.sources.segmenters.{_name}", _extra, _purpose, _options)
    )
