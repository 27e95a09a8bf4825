"""One module per backend, and the registry of them all."""

from typing import cast

from generation.backends.backend import Backend, BackendSettings, OpenBackend
from generation.plugins import Plugin
from graph.registry import Registry

BACKENDS: Registry[Plugin] = Registry("backend")
for _name, _extra, _purpose in (
    ("procedural", "worker", "Paints concepts by rule, without any model."),
    ("paste", "models", "Makes a background from words, and pastes the object onto it."),
    ("inpaint", "models", "Keeps the object, and paints everything around it from words."),
    ("instruct", "models", "Edits the whole image as an instruction says."),
):
    BACKENDS.register(_name, Plugin(f"generation.backends.{_name}", _extra, _purpose))


def open_backend(name: str, settings: BackendSettings | None = None) -> Backend:
    """Open a backend by name, with all that it needs loaded.

    Raises
    ------
    UnknownNameError
        No backend has this name.
    MissingExtraError, OptionError, JobBlockedError
        As in `generation.backends.backend.OpenBackend`.
    """
    opener = BACKENDS[name].load("open_backend", f"The backend {name}")
    return cast("OpenBackend", opener)(settings or BackendSettings())
