"""The learner network: models of timm, trained on images."""

from collections.abc import Callable

from cobalance.evaluation.training.method import Learner, LearnerPlugin, Run
from cobalance.evaluation.training.networks.options import NetworkOptions

PLUGIN = LearnerPlugin(
    "network",
    "Trains a network of timm on the images, from pretrained or random weights.",
    extra="train",
    options=NetworkOptions,
    licence="BSD-3-Clause",
    is_network=True,
)


def open_learner(options: NetworkOptions) -> Callable[[Run], Learner]:
    """Open the learner, which fits networks in the run that it is called with."""
    from cobalance.evaluation.training.networks.learner import NetworkLearner

    return lambda run: NetworkLearner(options, run)
