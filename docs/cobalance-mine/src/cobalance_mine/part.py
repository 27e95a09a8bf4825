"""Trains on a random part of the images, as a control for sub-sampling."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from cobalance.base.options import Options
from cobalance.evaluation.training.examples import Examples, IntArray
from cobalance.evaluation.training.method import Method, MethodPlugin


class PartOptions(Options):
    """Options of the method part.

    Parameters
    ----------
    share : float
        Of the images that are trained on.
    """

    share: float = Field(default=0.5, gt=0, le=1)


PLUGIN = MethodPlugin("part", "Trains on a random part of the images.", options=PartOptions)


@dataclass(frozen=True)
class Part(Method):
    """A random part of the images, without looking at their groups."""

    options: PartOptions

    def rows(self, training: Examples, rng: np.random.Generator) -> IntArray:
        """Rows to train on."""
        count = max(round(self.options.share * len(training)), 1)
        return rng.choice(len(training), count, replace=False)


open_method = Part
