"""One module per backend, and the registry of them all."""

from cobalance.base import Plugin, Plugins
from cobalance.generation.backends.backend import Backend

BACKENDS: Plugins[Backend, Plugin] = Plugins(
    "backend",
    {
        "procedural": "cobalance.generation.backends.procedural",
        "paste": "cobalance.generation.backends.paste",
        "inpaint": "cobalance.generation.backends.inpaint",
        "instruct": "cobalance.generation.backends.instruct",
        "brushnet": "cobalance.generation.backends.brushnet",
        "patch": "cobalance.generation.backends.patch",
    },
    "backends",
    Plugin,
    "generate(requests); describe()",
)
