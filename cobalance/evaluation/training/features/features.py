"""The interface of frozen features."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Protocol, Self

from cobalance.evaluation.training.examples import Examples, Floats


class Features(Protocol):
    """Frozen features of images."""

    def fit(self, training: Examples, seed: int) -> "tuple[Features, Floats]":
        """Fit to training images; also the features of these images.

        A model takes nothing from them.
        """
        ...

    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""
        ...

    def arrays(self) -> Mapping[str, Floats]:
        """State fitted to training images, by name; empty for a pretrained model."""
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
        """Itself, and the features of the training images."""
        del seed
        return self, self.read(training)

    def arrays(self) -> Mapping[str, Floats]:
        """Nothing."""
        return {}

    def with_arrays(self, arrays: Mapping[str, Floats]) -> Self:
        """These features."""
        del arrays
        return self
