"""The declaration of a learner."""

from dataclasses import dataclass

from cobalance.graph.plugins import Plugin


@dataclass(frozen=True)
class LearnerPlugin(Plugin):
    """The declaration of a learner.

    Parameters
    ----------
    is_network : bool
        Whether it trains a network with torch, which methods that change loss, outputs or
        augmentation need.
    """

    is_network: bool = False
