"""Attackers: classifiers that guess an image's group from labels or words."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from cobalance.base import BoolArray, DataError, FloatArray, IntArray, Options, needs_extra, sklearn

STRENGTHS = tuple(10.0**power for power in range(-3, 4))
"""Inverse penalties that the linear attacker chooses from, on a held-out part of its training set.

So its probabilities are near the base rates where labels tell nothing, and near 1 where they tell
all: the score by confidence depends on that, and not on one strength for all."""


class DrawOptions(Options):
    """Which images attackers learn from, and which test them.

    Parameters
    ----------
    repeats : int
        How many times images are drawn, split and attacked; scores are averaged.
    test_share : float
        The share of images that test the attackers, where the caller names none.
    balanced : bool
        Whether each group has equally many images, drawn from those of the larger groups, so that
        chance is 1 / groups: as in the papers' code.
    """

    repeats: int = Field(default=5, ge=1)
    test_share: float = Field(default=0.2, gt=0, lt=1)
    balanced: bool = True


class AttackOptions(DrawOptions):
    """Options of attackers that guess from labels.

    Parameters
    ----------
    attacker : {"linear", "mlp"}
        Logistic regression whose penalty a held-out part of the training images chooses, or a
        network of one hidden layer of 300, which sees interactions of labels.
    """

    attacker: Literal["linear", "mlp"] = "linear"


class CaptionAttackOptions(DrawOptions):
    """Options of attackers that guess from captions.

    Parameters
    ----------
    attacker : {"linear", "mlp", "lstm"}
        On words and pairs of words, logistic regression whose penalty a held-out part of the
        training images chooses, or a network of one hidden layer of 300; or an LSTM that reads the
        caption in order, as the authors', which needs torch (the extra `train`).
    """

    attacker: Literal["linear", "mlp", "lstm"] = "linear"


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of images to train attackers and to test them with, and the attackers' seed."""

    training: IntArray
    test: IntArray
    seed: int


def draw_splits(
    groups: IntArray,
    options: DrawOptions,
    rng: np.random.Generator,
    test: BoolArray | None = None,
) -> Iterator[Split]:
    """Split images for each repeat, with all groups on both sides.

    Parameters
    ----------
    groups : int array, shape (n_images,)
        Group codes; images of a negative code are left out.
    test : bool array, shape (n_images,), optional
        The images that test; the others train.

    Raises
    ------
    DataError
        There are fewer than two groups, or too few images of one.
    """
    names = np.unique(groups[groups >= 0])
    if len(names) < 2:
        raise DataError(f"Images are of {len(names)} groups. Give those of two or more.")

    for _ in range(options.repeats):
        sides = _draw(groups, names, options, rng, test)
        training, tested = (rng.permutation(np.concatenate(side)) for side in sides)
        yield Split(training, tested, int(rng.integers(2**31)))


def _draw(
    groups: IntArray,
    names: IntArray,
    options: DrawOptions,
    rng: np.random.Generator,
    test: BoolArray | None,
) -> tuple[list[IntArray], list[IntArray]]:
    drawn = [rng.permutation(np.flatnonzero(groups == name)) for name in names]
    if test is None:
        pools = _equal_sizes(drawn) if options.balanced else drawn
        training, tested = list[IntArray](), list[IntArray]()
        for rows in pools:
            n_tested = max(1, round(len(rows) * options.test_share))
            training.append(rows[n_tested:])
            tested.append(rows[:n_tested])
    else:
        training = [rows[~test[rows]] for rows in drawn]
        tested = [rows[test[rows]] for rows in drawn]
        if options.balanced:
            training, tested = _equal_sizes(training), _equal_sizes(tested)

    # An attacker's training set is split once more, so each group needs two images in it.
    for use, side, least in (("train", training, 2), ("test", tested, 1)):
        fewest = min(side, key=len)
        if len(fewest) < least:
            raise DataError(
                f"A group has {len(fewest)} images to {use} attackers with, and needs {least}. "
                "Give three images of each group or more, on both sides of test where it is given."
            )
    return training, tested


def _equal_sizes(groups: list[IntArray]) -> list[IntArray]:
    smallest = min(map(len, groups))
    return [rows[:smallest] for rows in groups]


@needs_extra("An attacker", "evaluate")
def fit_attacker(
    features: Any, groups: IntArray, attacker: Literal["linear", "mlp"], seed: int
) -> Callable[[Any], FloatArray]:
    """Train an attacker and return its probabilities as a function of features.

    Parameters
    ----------
    features : array or sparse matrix, shape (n_images, n_features)
    groups : int array, shape (n_images,)
        Group codes from 0, all of which occur.

    Raises
    ------
    MissingExtraError
        scikit-learn is not installed.
    """
    n, n_groups = len(groups), len(np.unique(groups))
    if attacker == "mlp":
        model = sklearn.neural_network.MLPClassifier((300,), random_state=seed)
    else:
        # A fifth chooses the strength, with an image of each group at least.
        held_out = sklearn.model_selection.StratifiedShuffleSplit(
            1, test_size=max(n_groups, n // 5), random_state=seed
        )
        linear = sklearn.linear_model.LogisticRegression(max_iter=200, tol=1e-3)
        model = sklearn.model_selection.GridSearchCV(
            linear, {"C": STRENGTHS}, scoring="neg_log_loss", cv=held_out
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        model.fit(features, groups)
    return lambda other: np.asarray(model.predict_proba(other), dtype=np.float64)
