"""Base of augmentations: the number of images in an epoch."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from cobalance.evaluation.training.examples import Examples, IntArray
from cobalance.evaluation.training.method import Method
from cobalance.graph.options import Options


class AugmentingOptions(Options):
    """Options of augmentations.

    Parameters
    ----------
    added : int
        Images that are repeated, drawn at random, so that an epoch has as many as with so many
        generated ones.
    """

    added: int = Field(default=0, ge=0)


@dataclass(frozen=True)
class Augmenting(Method):
    """Trains on augmented images."""

    added: int = 0

    def rows(self, training: Examples, rng: np.random.Generator) -> IntArray:
        """All rows, and `added` of them again, as equally as their number allows."""
        n_images = len(training)
        again = np.resize(rng.permutation(n_images), self.added)
        return np.concatenate([np.arange(n_images), again])
