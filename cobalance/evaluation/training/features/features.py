"""The interface of frozen features."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from cobalance.evaluation.training.examples import Examples, Floats


class Features(ABC):
    """Frozen features of images; by default a model's, which take nothing from training images.

    Those that learn from training images override `fit`, `arrays` and `with_arrays`.
    """

    @abstractmethod
    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""

    def fit(self, training: Examples, seed: int) -> "tuple[Features, Floats]":
        """Fit to training images; also the features of these images."""
        del seed
        return self, self.read(training)

    def arrays(self) -> Mapping[str, Floats]:
        """State fitted to training images, by name; empty for a pretrained model."""
        return {}

    def with_arrays(self, arrays: Mapping[str, Floats]) -> "Features":
        """The features as fitted when `arrays` gave these."""
        del arrays
        return self
