"""Principal components of the pixels: no model, nothing to download."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import Field

from cobalance.base import DataError, Image, Options, Plugin, sklearn
from cobalance.evaluation.training.examples import Examples, Floats, Pixels, split_rows
from cobalance.evaluation.training.features.features import Features

_BATCH = 256  # images that are read together
_FITTED = ("mean_", "components_", "explained_variance_")


class PixelOptions(Options):
    """Options of the features pixels.

    Parameters
    ----------
    side_px : int
        Images are scaled down to squares of this side.
    components : int
        How many principal components; fewer where there are fewer images.
    """

    side_px: int = Field(default=16, ge=1, le=256)
    components: int = Field(default=60, ge=1, le=4096)


PLUGIN = Plugin("pixels", "Whitened principal components of the pixels.", "evaluate", PixelOptions)


@dataclass(frozen=True, eq=False)
class PixelFeatures(Features):
    """Whitened principal components of small images."""

    options: PixelOptions
    components: Any = None  # scikit-learn's PCA, fitted

    def fit(self, training: Examples, seed: int) -> "tuple[PixelFeatures, Floats]":
        """Fit principal components to training images; also the features of these images.

        Raises
        ------
        DataError
            There is one training image, or none.
        """
        values = self._values(training)
        most = min(self.options.components, len(values) - 1, values.shape[1])
        if most < 1:
            raise DataError(
                f"There are {len(training)} training images; principal components need two or more."
            )
        components = sklearn.decomposition.PCA(
            most, whiten=True, svd_solver="randomized", random_state=seed
        ).fit(values)

        # Laid out as when read from a file, so that a kept model gives the same to the last bit.
        arrays = {name: np.ascontiguousarray(getattr(components, name)) for name in _FITTED}
        fitted = self.with_arrays(arrays)
        return fitted, fitted.components.transform(values)

    def read(self, images: Examples) -> Floats:
        """Features of images, shape (n_images, n_components)."""
        return np.asarray(self.components.transform(self._values(images)))

    def arrays(self) -> Mapping[str, Floats]:
        """Mean, components and their variances."""
        return {name: getattr(self.components, name) for name in _FITTED}

    def with_arrays(self, arrays: Mapping[str, Floats]) -> "PixelFeatures":
        """The features with these components."""
        fitted = sklearn.decomposition.PCA(whiten=True)
        for name in _FITTED:
            setattr(fitted, name, arrays[name])
        return replace(self, components=fitted)

    def _values(self, images: Examples) -> Floats:
        side = self.options.side_px
        values = [np.empty((0, side * side * 3))]
        for rows in split_rows(np.arange(len(images)), _BATCH):
            small = [scale_down(image, side).ravel() for image in images.read(rows)]
            values.append(np.stack(small) / 255)
        return np.concatenate(values)


def scale_down(image: Pixels, side_px: int) -> Floats:
    """Scale an image to a square by area averaging."""
    height, width, channels = image.shape
    if height % side_px == 0 and width % side_px == 0:
        blocks = image.reshape(side_px, height // side_px, side_px, width // side_px, channels)
        return np.asarray(blocks.mean(axis=(1, 3)))
    scaled = Image.fromarray(image).resize((side_px, side_px), Image.Resampling.BOX)
    return np.asarray(scaled, dtype=np.float64)


open_features = PixelFeatures
