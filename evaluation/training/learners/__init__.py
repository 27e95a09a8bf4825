"""Ways to fit models, by name."""

from collections.abc import Callable

from evaluation.training.method import Learner, Run
from graph.plugins import Plugins

LEARNERS: Plugins[Callable[[Run], Learner]] = Plugins(
    "learner",
    {
        "linear": "evaluation.training.learners.linear",
        "network": "evaluation.training.learners.network",
    },
)
"""Learners; each declares its options and whether it is a network, and is opened for a run."""
