"""Ways to fit models, by name."""

from typing import TYPE_CHECKING

from cobalance.base import Plugins

if TYPE_CHECKING:
    from collections.abc import Callable

    from cobalance.evaluation.training.method import Learner, LearnerPlugin, Run

LEARNERS: "Plugins[Callable[[Run], Learner], LearnerPlugin]" = Plugins(
    "learner",
    {
        "linear": "cobalance.evaluation.training.learners.linear",
        "network": "cobalance.evaluation.training.learners.network",
    },
)
"""Learners; each declares its options and whether it is a network, and is opened for a run."""
