"""One module per backend, and the registry of them all."""

from typing import TYPE_CHECKING

from cobalance.base import Plugins

if TYPE_CHECKING:
    from cobalance.base import Plugin
    from cobalance.generation.backends.backend import Backend

BACKENDS: "Plugins[Backend, Plugin]" = Plugins(
    "backend",
    {
        "procedural": "cobalance.generation.backends.procedural",
        "paste": "cobalance.generation.backends.paste",
        "inpaint": "cobalance.generation.backends.inpaint",
        "instruct": "cobalance.generation.backends.instruct",
        "brushnet": "cobalance.generation.backends.brushnet",
        "patch": "cobalance.generation.backends.patch",
        "http": "cobalance.generation.backends.http",
        "comfyui": "cobalance.generation.backends.comfyui",
    },
    "backends",
    calls="generate(requests); describe()",
)
