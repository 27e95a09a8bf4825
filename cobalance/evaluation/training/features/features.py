"""The interface of frozen features."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Protocol, Self

from cobalance.evaluation.training.examples import Examples, Floats


class Features(Protocol):
    """What a linear model reads of an image."""

    def fit(self, training: Examples, seed: int) -> "tuple[Features, Floats]":
        """The features with what they take from training images, and those of these images.

        A model takes nothing from them.
        """
        ...

    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""
        ...

    def arrays(self) -> Mapping[str, Floats]:
        """What `fit` took from training images, by name; empty of a model."""
        ...

    def with_arrays(self, arrays: Mapping[str, Floats]) -> "Features":
        """The features as fitted when `arrays` gave these."""
        ...


class FixedFeatures(ABC):
    """Features of a model, which take nothing from training images."""

    @abstractmethod
    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""

    def fit(self, training: Examples, seed: int) -> tuple[Self, Floats]:
        """These features, and those of the training images."""
        del seed
        return self, self.read(training)

    def arrays(self) -> Mapping[str, Floats]:
        """Nothing."""
        return {}

    def with_arrays(self, arrays: Mapping[str, Floats]) -> Self:
        """These features."""
        del arrays
        return self
