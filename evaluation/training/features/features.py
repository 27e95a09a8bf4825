"""The interface of frozen features."""

from typing import Protocol

from evaluation.training.method import Examples, Floats


class Features(Protocol):
    """What a linear model reads of an image."""

    def fit(self, training: Examples, seed: int) -> "Features":
        """The features with what they take from training images; those of a model take nothing."""
        ...

    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""
        ...
