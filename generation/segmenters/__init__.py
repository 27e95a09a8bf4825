"""One module per segmenter, and the registry of them all."""

from collections.abc import Mapping
from typing import Any, cast

from generation.plugins import Plugin
from generation.segmenters.segmenter import OpenSegmenter, Segmenter
from graph.registry import Registry

SEGMENTERS: Registry[Plugin] = Registry("segmenter")
for _name, _extra, _purpose in (
    ("sam", "models", "Segment Anything finds the object in an annotated box."),
    ("parsing", "models", "Human parsing finds a person, by body parts and clothes."),
):
    SEGMENTERS.register(_name, Plugin(f"generation.segmenters.{_name}", _extra, _purpose))


def open_segmenter(name: str, options: Mapping[str, Any] | None = None) -> Segmenter:
    """Open a segmenter by name, with all that it needs loaded.

    Raises
    ------
    UnknownNameError
        No segmenter has this name.
    MissingExtraError, OptionError, JobBlockedError
        As in `generation.segmenters.segmenter.OpenSegmenter`.
    """
    opener = SEGMENTERS[name].load("open_segmenter", f"The segmenter {name}")
    return cast("OpenSegmenter", opener)(options or {})
