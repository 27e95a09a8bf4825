"""Linear models on standardised features, and the files that they are kept in."""

import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from cobalance.base import DataError, make_file, make_folder
from cobalance.evaluation.training.examples import Examples, Floats
from cobalance.evaluation.training.features.features import Features
from cobalance.evaluation.training.learners.regression import Head, head_probabilities
from cobalance.vision import with_prefix

FILE = "linear.npz"
_OWN = ("weight", "bias", "mean", "spread")
_ABOUT = ("classes", "several_labels")
_FITTED = "features."


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Softmax regression on features; with several labels an image, logistic regressions."""

    head: Head
    reader: "StandardFeatures"
    classes: tuple[str, ...]
    several_labels: bool

    def probabilities(self, images: Examples) -> Floats:
        """Probability of each class, shape (n_images, n_classes)."""
        return head_probabilities(self.head, self.features(images), self.several_labels)

    def features(self, images: Examples) -> Floats:
        """Standardised features, shape (n_images, n_features)."""
        return self.reader.read(images)

    def with_head(self, weight: Floats, bias: Floats) -> "LinearModel":
        """The same features with another last layer."""
        return replace(self, head=(weight, bias))

    def describe(self) -> dict[str, Any]:
        """Nothing: the options say it all."""
        return {}

    def save(self, folder: Path) -> None:
        """Save weights and the features' fitted state, for `open_linear`."""
        make_folder(folder)
        unfinished = folder / f"{FILE}.unfinished"
        make_file(unfinished)

        values = (*self.head, self.reader.mean, self.reader.spread)
        arrays: dict[str, Any] = dict(zip(_OWN, values, strict=True))
        for name, array in self.reader.features.arrays().items():
            arrays[_FITTED + name] = array
        about = np.array(self.classes), np.array(self.several_labels)
        arrays |= dict(zip(_ABOUT, about, strict=True))

        with unfinished.open("wb") as file:
            np.savez(file, **arrays)
        unfinished.replace(folder / FILE)


@dataclass(frozen=True, eq=False)
class StandardFeatures:
    """Features minus their mean in the training images, over their standard deviation there.

    Parameters
    ----------
    features : Features
        Fitted to the training images.
    mean, spread : float64 array, shape (n_features,)
    known : mapping
        What was read before, by the whole that rows are taken from.
    """

    features: Features
    mean: Floats
    spread: Floats
    known: "WeakKeyDictionary[Examples, Floats]" = field(default_factory=WeakKeyDictionary)

    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""
        whole = images if images.whole is None else images.whole
        if whole not in self.known:
            self.known[whole] = (self.features.read(whole) - self.mean) / self.spread
        features = self.known[whole]
        return features if images.rows is None else features[images.rows]


def standardise(features: Features, training: Examples, seed: int) -> StandardFeatures:
    """Fit features to training images, and measure their mean and spread there."""
    fitted, values = features.fit(training, seed)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    standard = StandardFeatures(fitted, mean, np.where(spread > 0, spread, 1.0))
    if training.whole is None:
        standard.known[training] = (values - mean) / standard.spread
    return standard


def open_linear(folder: Path, features: Features) -> LinearModel | None:
    """Open a model that was saved in a folder; None without one.

    Parameters
    ----------
    features : Features
        Of the same options as when it was saved; not fitted.

    Raises
    ------
    DataError
        The file is damaged.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = dict(file)
        weight, bias, mean, spread = (arrays[name] for name in _OWN)
        classes, several_labels = (arrays[name].tolist() for name in _ABOUT)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"The model {path} is damaged. Delete it to train again.") from error

    fitted = features.with_arrays(with_prefix(_FITTED, arrays))
    reader = StandardFeatures(fitted, mean, spread)
    return LinearModel((weight, bias), reader, tuple(classes), bool(several_labels))
