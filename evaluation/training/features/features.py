"""The interface of frozen features."""

from typing import Protocol

from evaluation.training.examples import Examples, Floats


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
