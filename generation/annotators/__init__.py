"""One module per annotator, and the registry of them all."""

from collections.abc import Mapping
from typing import Any, cast

from generation.annotators.annotator import Annotator, OpenAnnotator
from generation.plugins import Plugin
from graph.registry import Registry

ANNOTATORS: Registry[Plugin] = Registry("annotator")
for _name, _extra, _purpose in (
    ("owlv2", "models", "A detector finds the dataset's concepts, with score and box."),
):
    ANNOTATORS.register(_name, Plugin(f"generation.annotators.{_name}", _extra, _purpose))


def open_annotator(name: str, options: Mapping[str, Any] | None = None) -> Annotator:
    """Open an annotator by name, with all that it needs loaded.

    Raises
    ------
    UnknownNameError
        No annotator has this name.
    MissingExtraError, OptionError, JobBlockedError
        As in `generation.annotators.annotator.OpenAnnotator`.
    """
    opener = ANNOTATORS[name].load("open_annotator", f"The annotator {name}")
    return cast("OpenAnnotator", opener)(options or {})
