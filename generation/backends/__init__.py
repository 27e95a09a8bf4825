"""One module per backend, and the registry of them all."""

from generation.backends.backend import Backend, BackendSettings
from graph.plugins import Plugin, Plugins

BACKENDS: Plugins[Backend] = Plugins("backend")
for _name, _extra, _purpose in (
    ("procedural", "worker", "Paints concepts by rule, without any model."),
    ("paste", "models", "Makes a background from words, and pastes the object onto it."),
    ("inpaint", "models", "Keeps the object, and paints everything around it from words."),
    ("instruct", "models", "Edits the whole image as an instruction says."),
):
    BACKENDS.register(
        _name, Plugin(f"generation.backends.{_name}", _extra, _purpose, BackendSettings)
    )
