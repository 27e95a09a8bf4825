"""Training methods, by name."""

from evaluation.training.method import Method
from graph.plugins import Plugins

METHODS: Plugins[Method] = Plugins(
    "method",
    {"erm": "evaluation.training.methods.erm"},
)
"""Training methods; each declares its options and whether it reads group labels."""
