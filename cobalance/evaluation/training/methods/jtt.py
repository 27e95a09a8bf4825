"""JTT (just train twice): images that a first, short training gets wrong are repeated."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from cobalance.base import Options
from cobalance.evaluation.training.examples import Examples
from cobalance.evaluation.training.method import Learner, Method, MethodPlugin, Run
from cobalance.evaluation.training.model import Model
from cobalance.evaluation.training.selection import share_right


class JttOptions(Options):
    """Options of the method jtt.

    Parameters
    ----------
    epochs : int
        Of the first training (T).
    times : int
        How often an image that it gets wrong is trained on (λ).
    """

    epochs: int = Field(default=1, ge=1)
    times: int = Field(default=100, ge=1)


PLUGIN = MethodPlugin(
    "jtt",
    "Trains shortly, then anew with what was wrong repeated; needs no group labels.",
    options=JttOptions,
    reference='Liu et al., "Just Train Twice" (2021), algorithm 1.',
)


@dataclass(frozen=True)
class Jtt(Method):
    """Two trainings."""

    options: JttOptions

    def train(
        self, learner: Learner, training: Examples, validation: Examples | None, run: Run
    ) -> Model:
        """Fit twice; the first model only finds the errors."""
        del run
        plain, epochs = Method(), self.options.epochs
        first = learner.fit(training, validation, plain, epochs=epochs, stage="errors")

        is_wrong = share_right(first.probabilities(training), training) < 1
        rows = np.repeat(np.arange(len(training)), np.where(is_wrong, self.options.times, 1))
        return learner.fit(training.take(rows), validation, plain, stage="again")


open_method = Jtt
