"""Features of a vision model of transformers, as it is."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cobalance.evaluation.training.examples import Examples, Floats, Pixels
from cobalance.evaluation.training.features.cache import FeatureCache, Singles, image_key
from cobalance.evaluation.training.features.features import Features

if TYPE_CHECKING:
    from cobalance.ingest.models.vision import VisionModel


@dataclass(frozen=True, eq=False)
class VisionFeatures(Features):
    """Pooled output of a vision model.

    Parameters
    ----------
    vision : VisionModel
        The model on its device.
    pooled : callable
        Takes the model and a batch of pixels, gives a tensor, shape (n_images, n_features).
    cache : FeatureCache or None
        Where features are kept, see `with_cache`.
    """

    vision: "VisionModel"
    pooled: Callable[[Any, Any], Any]
    cache: FeatureCache | None = None

    def with_cache(self, folder: Path) -> "VisionFeatures":
        """The features, of which each image's are computed once and kept in a folder.

        They are of this model, its weights, precision and preprocessing.
        """
        about = self.vision.describe() | {
            "processor": self.vision.processor.to_dict(),
            "pooled": f"{self.pooled.__module__}.{self.pooled.__qualname__}",
        }
        del about["model"], about["revision"]  # names, of which the weights' digest is known
        return replace(self, cache=FeatureCache.of_model(folder, about))

    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_features)."""
        found = [
            self._of_batch(images.read(np.array(batch)))
            for batch in self.vision.batches(range(len(images)))
        ]
        return np.concatenate(found).astype(np.float64)

    def _of_batch(self, pictures: list[Pixels]) -> Singles:
        if self.cache is None:
            return self._compute(pictures)
        keys = [image_key(picture) for picture in pictures]
        known = self.cache.read(keys)
        new = {key: at for at, key in enumerate(keys) if key not in known}
        if new:
            computed = self._compute([pictures[at] for at in new.values()])
            made = dict(zip(new, computed, strict=True))
            self.cache.write(made)
            known |= made
        return np.stack([known[key] for key in keys])

    def _compute(self, pictures: list[Pixels]) -> Singles:
        with self.vision.computing(f"features of {len(pictures)} images"):
            pixels = self.vision.pixels(pictures)
            found: Singles = self.pooled(self.vision.model, pixels).float().cpu().numpy()
        return found
