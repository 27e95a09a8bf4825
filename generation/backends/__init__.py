"""One module per backend, and the registry of them all."""

from generation.backends.backend import Backend
from graph.plugins import Plugins

BACKENDS: Plugins[Backend] = Plugins(
    "backend",
    {
        "procedural": "generation.backends.procedural",
        "paste": "generation.backends.paste",
        "inpaint": "generation.backends.inpaint",
        "instruct": "generation.backends.instruct",
        "brushnet": "generation.backends.brushnet",
        "patch": "generation.backends.patch",
    },
)
