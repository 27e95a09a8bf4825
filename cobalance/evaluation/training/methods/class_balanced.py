"""Class-balanced loss: weights by the effective number of images of each class."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from cobalance.base import Options
from cobalance.evaluation.training.examples import Examples, Floats, IntArray
from cobalance.evaluation.training.method import Method, MethodPlugin
from cobalance.evaluation.training.methods.grouping import units_of


class ClassBalancedOptions(Options):
    """Options of the method class-balanced.

    Parameters
    ----------
    beta : float
        From 0, which weights all alike, towards 1, where weights are the inverse of class sizes.
    """

    beta: float = Field(default=0.999, ge=0, lt=1)


PLUGIN = MethodPlugin(
    "class-balanced",
    "Weights classes by (1 - β) / (1 - βⁿ), the inverse of their effective numbers.",
    options=ClassBalancedOptions,
    multi_label=False,
    reference='Cui et al., "Class-Balanced Loss Based on Effective Number of Samples" (2019), '
    "section 4.",
)


@dataclass(frozen=True)
class ClassBalanced(Method):
    """Weights by class; they sum to the number of classes over one image of each."""

    options: ClassBalancedOptions

    def weights(self, training: Examples) -> Floats:
        """Sample weights, shape (n_images,)."""
        labels = units_of(training, "class", "The class-balanced loss")
        _, label, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        return class_weights(sizes, self.options.beta)[label]


def class_weights(sizes: IntArray, beta: float) -> Floats:
    """Weights of classes by their sizes, whose mean is 1."""
    if beta == 0:
        return np.ones(len(sizes))
    # expm1 keeps the digits of 1 - beta^n where it is near 0.
    inverse = -(1 - beta) / np.expm1(sizes * np.log(beta))
    return np.asarray(inverse * (len(sizes) / inverse.sum()))


open_method = ClassBalanced
