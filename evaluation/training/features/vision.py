"""Features of a vision model of transformers, as it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evaluation.training.examples import Examples, Floats
from evaluation.training.features.features import FixedFeatures

if TYPE_CHECKING:
    from ingest.models.vision import VisionModel


@dataclass(frozen=True, eq=False)
class VisionFeatures(FixedFeatures):
    """What a vision model gives for an image.

    Parameters
    ----------
    vision : VisionModel
        The model on its device.
    pooled : callable
        Takes the model and a batch of pixels, gives a tensor, shape (n_images, n_features).
    """

    vision: "VisionModel"
    pooled: Callable[[Any, Any], Any]

    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""
        found = []
        for batch in self.vision.batches(range(len(images))):
            with self.vision.computing(f"features of {len(batch)} images"):
                pixels = self.vision.pixels(images.read(np.array(batch)))
                found.append(self.pooled(self.vision.model, pixels).float().cpu().numpy())
        return np.concatenate(found).astype(np.float64)
