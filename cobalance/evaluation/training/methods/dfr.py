"""DFR (deep feature reweighting): the last layer fitted anew to balanced held-out images."""

from dataclasses import dataclass

import numpy as np
from pydantic import Field

from cobalance.base import DataError, OptionError, Options, sklearn
from cobalance.evaluation.training.examples import Examples, Floats, IntArray
from cobalance.evaluation.training.method import Learner, Method, MethodPlugin, Run, Strengths
from cobalance.evaluation.training.methods.grouping import balance_units, rows_by_unit
from cobalance.evaluation.training.model import Model

_SELECT, _REFIT = 11, 12  # purposes of generators


class DfrOptions(Options):
    """Options of the method dfr.

    Parameters
    ----------
    c : tuple of float
        Inverse strengths of the L1 penalty, selected by the worst group of one half of the held-out
        images after a fit to the other.
    refits : int
        Fits to other balanced samples of the held-out images, whose heads are averaged.
    """

    c: Strengths = (1.0, 0.7, 0.3, 0.1, 0.07, 0.03, 0.01)
    refits: int = Field(default=10, ge=1)


PLUGIN = MethodPlugin(
    "dfr",
    "Fits the last layer anew to held-out images with all groups alike.",
    extra="evaluate",
    options=DfrOptions,
    needs_validation_groups=True,
    multi_label=False,
    reference='Kirichenko et al., "Last Layer Re-Training is Sufficient for Robustness to Spurious '
    'Correlations" (2023), section 6 and appendix B.',
)


@dataclass(frozen=True)
class Dfr(Method):
    """ERM, then an L1-penalised logistic regression on its features."""

    options: DfrOptions

    def train(
        self, learner: Learner, training: Examples, validation: Examples | None, run: Run
    ) -> Model:
        """Fit a model, and its last layer anew.

        Raises
        ------
        OptionError
            There are no held-out images, their groups are unknown, or a group of theirs has fewer
            than two images, which cannot be halved.
        """
        if validation is None or not len(validation):
            raise OptionError(
                "DFR fits to held-out images, and there are none. Give validation images with "
                "their groups, or a validation share."
            )
        groups = validation.require_groups("DFR")
        _check_groups(validation, groups)

        model = learner.fit(training, validation, Method())
        features = model.features(training)
        mean, spread = features.mean(axis=0), features.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        held_out = (model.features(validation) - mean) / spread

        c = self._select(held_out, validation, groups, run.generator(_SELECT))
        drawn = learner.draw_weights(validation)
        weights = np.ones(len(validation)) if drawn is None else drawn
        weight, bias = self._refit(held_out, validation, weights, c, run.generator(_REFIT))
        # The head is for features as they are, and was fitted to standardised ones.
        return model.with_head(weight / spread, bias - (weight / spread) @ mean)

    def _select(
        self, features: Floats, validation: Examples, groups: IntArray, rng: np.random.Generator
    ) -> float:
        """The strength whose fit to one half is best for the worst group of the other."""
        strengths = self.options.c
        if len(strengths) == 1:
            return strengths[0]

        halves = [np.array_split(rng.permutation(rows), 2) for rows in rows_by_unit(groups)]
        fitted, tested = (np.concatenate(half) for half in zip(*halves, strict=True))
        rows = fitted[balance_units(groups[fitted], rng)]
        images, weights = validation.take(rows), np.ones(len(rows))

        def worst(c: float) -> float:
            weight, bias = self._fit(features[rows], images, weights, c)
            predicted = (features[tested] @ weight.T + bias).argmax(axis=1)
            is_right = predicted == validation.labels[tested]
            return min(float(is_right[group].mean()) for group in rows_by_unit(groups[tested]))

        return max(strengths, key=worst)

    def _refit(
        self,
        features: Floats,
        validation: Examples,
        weights: Floats,
        c: float,
        rng: np.random.Generator,
    ) -> tuple[Floats, Floats]:
        heads = []
        for _ in range(self.options.refits):
            rows = balance_units(validation.groups, rng)
            heads.append(self._fit(features[rows], validation.take(rows), weights[rows], c))

        head_weights, biases = zip(*heads, strict=True)
        return np.mean(head_weights, axis=0), np.mean(biases, axis=0)

    def _fit(
        self, features: Floats, images: Examples, weights: Floats, c: float
    ) -> tuple[Floats, Floats]:
        """A regression for each class against the others; of two classes one, shared by both."""
        n_classes = len(images.classes)
        codes = range(n_classes) if n_classes > 2 else (1,)
        fits = []
        for code in codes:
            regression = sklearn.linear_model.LogisticRegression(
                C=c, l1_ratio=1, solver="liblinear", random_state=0, max_iter=1000
            ).fit(features, images.labels == code, sample_weight=weights)
            fits.append((regression.coef_[0], regression.intercept_[0]))

        weight, bias = map(np.array, zip(*fits, strict=True))
        if n_classes > 2:
            return weight, bias
        return np.concatenate([-weight, weight]) / 2, np.concatenate([-bias, bias]) / 2


def _check_groups(validation: Examples, groups: IntArray) -> None:
    codes, sizes = np.unique(groups, return_counts=True)
    if sizes.min() < 2:
        code = int(codes[sizes.argmin()])
        name = validation.group_names[code] if validation.group_names else str(code)
        raise DataError(
            f"DFR halves each group of the held-out images, and {name!r} has one image. Hold out "
            "more, or give validation images of all groups."
        )

    missing = set(range(len(validation.classes))) - set(validation.labels.tolist())
    if missing:
        raise DataError(
            f"The held-out images have none of the class {validation.classes[min(missing)]!r}, "
            "and DFR fits the last layer to them. Hold out images of all classes."
        )


open_method = Dfr
