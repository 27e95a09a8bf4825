"""Interfaces of trained models: classifiers, models of texts, captioners."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from cobalance.evaluation.training.examples import Examples, Floats


class Model(Protocol):
    """A trained model."""

    def probabilities(self, images: Examples) -> Floats:
        """Probability of each class, shape (n_images, n_classes)."""

    def features(self, images: Examples) -> Floats:
        """Inputs of the last layer, shape (n_images, n_features)."""

    def with_head(self, weight: Floats, bias: Floats) -> "Model":
        """The same model with another last layer: (n_classes, n_features), (n_classes,)."""

    def describe(self) -> dict[str, Any]:
        """Provenance and selection of the model, as JSON values."""


@runtime_checkable
class SavableModel(Model, Protocol):
    """A trained model that can be kept in a folder."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that it predicts."""

    def save(self, folder: Path) -> None:
        """Save the model."""


@runtime_checkable
class TextModel(Model, Protocol):
    """A trained model that compares images with texts."""

    prompt: str

    def embed_texts(self, texts: Sequence[str]) -> Floats:
        """Embeddings of texts, of length 1, in the space of `features`."""


@runtime_checkable
class Captioner(Protocol):
    """A trained model that describes images in words."""

    @property
    def words(self) -> str:
        """The list of words that tell which group a caption names."""

    def captions(self, images: Examples) -> list[str]:
        """A caption for each image."""

    def describe(self) -> dict[str, Any]:
        """As `Model.describe`."""
