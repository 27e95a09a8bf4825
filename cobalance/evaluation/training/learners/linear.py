"""Linear model on frozen features: softmax regression, in seconds on a processor.

A linear model cannot fit every image, so that sample weights change what it learns; they hardly do
where a model fits all images perfectly (Byrd and Lipton, "What is the Effect of Importance
Weighting in Deep Learning?", 2019).

A linear model has one solution, whatever the seed. So that the spread over seeds says how sure a
result is, each seed weights the training images at random: the Bayesian bootstrap (Rubin, 1981),
within groups, so that each group counts as much as it did.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from cobalance.base import OptionError, Options
from cobalance.evaluation.training.examples import Examples, Floats
from cobalance.evaluation.training.features import FEATURES
from cobalance.evaluation.training.features.features import Features
from cobalance.evaluation.training.features.vision import VisionFeatures
from cobalance.evaluation.training.learners.linear_model import (
    LinearModel,
    StandardFeatures,
    open_linear,
    standardise,
)
from cobalance.evaluation.training.learners.regression import Descent, Head, descend, solve
from cobalance.evaluation.training.method import Learner, LearnerPlugin, Method, Run, Strengths
from cobalance.evaluation.training.selection import RULES, check_rule

_BOOTSTRAP = 8  # purpose of the generator


class LinearOptions(Options):
    """Options of the learner linear.

    Parameters
    ----------
    features : str
        A name in `cobalance.evaluation.training.features.FEATURES`.
    features_options : dict
        Options of the features.
    c : tuple of float
        Inverse strength of the L2 penalty, as scikit-learn's C; the rule of selection chooses among
        several. Strong by default, which is best for sample weights.
    epochs, batch_size, learning_rate : int, int, float
        Of gradient descent, for methods whose weights follow the losses, and for fits of a given
        number of epochs; the learning rate falls to 0 along a cosine.
    bootstrap : bool
        Whether each seed weights the training images at random, see `bootstrap_weights`. Without
        it, methods that draw nothing give the same model for all seeds of the same images.
    select : str
        The rule that selects ``c``, and the epoch of gradient descent, by validation images;
        ``last`` needs none.
    """

    features: str = "pixels"
    features_options: dict[str, Any] = Field(default_factory=dict)
    c: Strengths = (0.01,)
    epochs: int = Field(default=100, ge=1)
    batch_size: int = Field(default=128, ge=1)
    learning_rate: float = Field(default=0.1, gt=0, allow_inf_nan=False)
    bootstrap: bool = True
    select: Literal["last", "loss", "accuracy", "balanced", "worst-group", "group-balanced"] = (
        "last"
    )


PLUGIN = LearnerPlugin(
    "linear", "Softmax regression on frozen features, without torch.", "evaluate", LinearOptions
)


@dataclass(frozen=True, eq=False)
class LinearLearner(Learner):
    """Fits softmax regressions on features.

    Parameters
    ----------
    features : Features
        What the model reads.
    run : Run
        Seed of the components and batches.
    reader : StandardFeatures or None
        The features, fitted; None before `prepare`.
    """

    options: LinearOptions
    features: Features
    run: Run
    reader: StandardFeatures | None = None

    def prepare(self, training: Examples) -> "LinearLearner":
        """The learner with features fitted to the training images, and standardised by them."""
        return replace(self, reader=standardise(self.features, training, self.run.seed))

    def fit(
        self,
        training: Examples,
        validation: Examples | None,
        method: Method,
        *,
        epochs: int | None = None,
        stage: str = "",
    ) -> LinearModel:
        """Fit a model; see `cobalance.evaluation.training.method.Learner`.

        Raises
        ------
        OptionError
            The training images are of one class, or several values of ``c`` are to be selected from
            without a rule.
        """
        del stage
        training.require_two_classes()
        check_rule(self.options.select, validation)
        rule = RULES.get(self.options.select)
        if rule is None and len(self.options.c) > 1:
            raise OptionError(
                f"The learner linear has {len(self.options.c)} values of c to select from, and the "
                f"rule {self.options.select!r} selects none. Give one, or another rule."
            )

        reader = self.reader or standardise(self.features, training, self.run.seed)
        method = method.prepare(training)
        weights = method.weights(training)
        drawn = self.draw_weights(training)
        if drawn is not None:
            weights = weights * drawn

        heads = self._heads(reader.read(training), training, method, weights, epochs)
        models = (
            LinearModel(head, reader, tuple(training.classes), training.several_labels)
            for head in heads
        )
        if rule is None or validation is None:
            *_, last = models
            return last
        return max(models, key=lambda model: rule(model.probabilities(validation), validation))

    def open_kept(self, folder: Path) -> LinearModel | None:
        """The model that was saved in a folder."""
        return open_linear(folder, self.features)

    def draw_weights(self, images: Examples) -> Floats | None:
        """Random weights of images, see `bootstrap_weights`."""
        if not self.options.bootstrap:
            return None
        return bootstrap_weights(images, self.run.generator(_BOOTSTRAP))

    def _heads(
        self,
        features: Floats,
        training: Examples,
        method: Method,
        weights: Floats,
        epochs: int | None,
    ) -> Iterator[Head]:
        """The solution for each ``c``; by gradient descent, that of each epoch."""
        for c in self.options.c:
            if method.adapts or epochs is not None:
                settings = Descent(
                    c=c,
                    epochs=self.options.epochs if epochs is None else epochs,
                    batch_size=self.options.batch_size,
                    learning_rate=self.options.learning_rate,
                )
                yield from descend(features, training, method, weights, settings, self.run)
            else:
                yield solve(features, training, weights, c)


def bootstrap_weights(training: Examples, rng: np.random.Generator) -> Floats:
    """Random sample weights, as of other images of the same kind: the Bayesian bootstrap.

    Weights of a label's or a group's images are uniform over all that have mean 1; so none is left
    out, and the only image of a group keeps its weight. Repeated rows of an image have the same.

    D. Rubin, The Bayesian bootstrap, Annals of Statistics 9, 1981; here stratified.

    Returns
    -------
    float64 array, shape (n_images,)
    """
    # Weights are drawn for the whole, so that an image has the same one in each part of it.
    drawn = rng.exponential(size=len(training if training.whole is None else training.whole))
    if training.rows is not None:
        drawn = drawn[training.rows]

    codes = training.groups if training.several_labels else [training.labels, training.groups]
    _, stratum = np.unique(np.atleast_2d(codes), axis=1, return_inverse=True)
    stratum = stratum.ravel()
    return drawn / (np.bincount(stratum, drawn) / np.bincount(stratum))[stratum]


def open_learner(options: LinearOptions) -> Callable[[Run], Learner]:
    """Open the learner with its features; it fits models of the run that it is called with."""
    features = FEATURES.open(options.features, options.features_options)

    def open_for_run(run: Run) -> Learner:
        if run.cache is not None and isinstance(features, VisionFeatures):
            return LinearLearner(options, features.with_cache(run.cache), run)
        return LinearLearner(options, features, run)

    return open_for_run
