"""Distances of generated images from real ones, from their features."""

import warnings

import numpy as np
import numpy.typing as npt
import pandas as pd
from pydantic import Field

from cobalance.base import DataError, FloatArray, Options, linalg
from cobalance.evaluation.metrics.metric import Inputs, MetricPlugin, score_frame

FRECHET_IMAGES = 2048
"""Of fewer images, the covariance of Inception's 2,048 features has no full rank."""

_BLOCK = 2048  # rows of a kernel matrix that are in memory together
_CMMD_SCALE = 1000


class FewImagesWarning(UserWarning):
    """Too few images for a distance that compares with distances of other sets."""


def frechet(real: npt.ArrayLike, generated: npt.ArrayLike) -> pd.DataFrame:
    """Fréchet distance of two sets of features, each taken as a normal distribution.

    ‖μ₁ - μ₂‖² + tr(C₁ + C₂ - 2 (C₁C₂)^½), with covariances of a sample. With Inception's features
    it is the FID (Heusel et al., *GANs trained by a two time-scale update rule*, NeurIPS 2017). It
    is biased upwards, the more so the fewer images there are: compare only sets of equal sizes.

    Parameters
    ----------
    real, generated : array, shape (n_images, n_features)
        At least two images each.

    Returns
    -------
    pandas.DataFrame
        The score ``frechet``; n is the smaller number of images.

    Raises
    ------
    DataError
        The features are not finite, not of one width, or of fewer than two images.

    Warns
    -----
    FewImagesWarning
        One set has fewer than 2,048 images.

    Examples
    --------
    >>> points = np.repeat(np.eye(2), 1024, axis=0)
    >>> float(frechet(points, points + [3, 4])["value"].round(6).item())
    25.0
    """
    first, second = _features(real, generated, least=2)
    n = min(len(first), len(second))
    if n < FRECHET_IMAGES:
        warnings.warn(
            f"The Fréchet distance is of {n:,} images; with fewer than {FRECHET_IMAGES:,} it is "
            "much too large. Take cmmd, or more images.",
            FewImagesWarning,
            stacklevel=2,
        )
    shift = first.mean(axis=0) - second.mean(axis=0)
    c1 = np.atleast_2d(np.cov(first, rowvar=False))
    c2 = np.atleast_2d(np.cov(second, rowvar=False))

    # tr (C1 C2)^1/2 = sum of the roots of the eigenvalues of C1^1/2 C2 C1^1/2, which is symmetric
    values, vectors = np.linalg.eigh(c1)
    root = vectors * np.sqrt(np.clip(values, 0, None)) @ vectors.T
    shared = np.sqrt(np.clip(linalg.eigvalsh(root @ c2 @ root), 0, None)).sum()
    distance = max(float(shift @ shift + np.trace(c1) + np.trace(c2) - 2 * shared), 0.0)
    return score_frame("frechet", "", distance, n=float(n))


def kernel(
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    subsets: int = 100,
    subset_size: int = 1000,
) -> pd.DataFrame:
    """Kernel distance: squared maximum mean discrepancy with the kernel (x·y/d + 1)³, unbiased.

    With Inception's features it is the KID (Bińkowski et al., *Demystifying MMD GANs*, ICLR 2018):
    the mean over random subsets. It may be negative, and it does not depend on how many images
    there are.

    Parameters
    ----------
    real, generated : array, shape (n_images, n_features)
        At least two images each.
    rng : numpy.random.Generator
        Draws the subsets, without replacement.
    subsets, subset_size : int
        A subset has at most all images of the smaller set.

    Returns
    -------
    pandas.DataFrame
        The score ``kernel``; low and high are the 2.5th and 97.5th percentile over the subsets, n
        is the size of a subset.

    Raises
    ------
    DataError
        The features are not finite, not of one width, or of fewer than two images.
    """
    first, second = _features(real, generated, least=2)
    size = min(len(first), len(second), subset_size)
    values = []
    for _ in range(subsets):
        x = first[rng.choice(len(first), size, replace=False)]
        y = second[rng.choice(len(second), size, replace=False)]
        # Without bias: an image is not compared with itself.
        same = _cubic(x, x).sum() - _cubic_diagonal(x).sum()
        same += _cubic(y, y).sum() - _cubic_diagonal(y).sum()
        values.append(same / (size * (size - 1)) - 2 * _cubic(x, y).mean())

    low, high = np.percentile(values, (2.5, 97.5))
    return score_frame("kernel", "", float(np.mean(values)), low, high, float(size))


def cmmd(real: npt.ArrayLike, generated: npt.ArrayLike, *, sigma: float = 10) -> pd.DataFrame:
    """CMMD: squared maximum mean discrepancy of CLIP embeddings with a Gaussian kernel, times 1000.

    Jayasumana et al., *Rethinking FID* (CVPR 2024). The authors' features are normalised embeddings
    of CLIP ViT-L/14 at 336 pixels; the estimate is biased, as theirs: images are compared with
    themselves, too. It needs no normality, and some hundred images do.

    Parameters
    ----------
    real, generated : array, shape (n_images, n_features)
        Embeddings; taken as they are, so normalise them.
    sigma : float
        Width of the kernel exp(-‖x - y‖² / (2 sigma²)).

    Returns
    -------
    pandas.DataFrame
        The score ``cmmd``; n is the smaller number of images.

    Raises
    ------
    DataError
        The features are not finite, not of one width, or there are none.

    Examples
    --------
    >>> float(cmmd([(1, 0)], [(0, 1)])["value"].round(4).item())
    19.9003
    """
    first, second = _features(real, generated, least=1)
    gamma = 1 / (2 * sigma**2)
    inside = _mean_gaussian(first, first, gamma) + _mean_gaussian(second, second, gamma)
    value = _CMMD_SCALE * (inside - 2 * _mean_gaussian(first, second, gamma))
    return score_frame("cmmd", "", value, n=float(min(len(first), len(second))))


def _features(
    real: npt.ArrayLike, generated: npt.ArrayLike, *, least: int
) -> tuple[FloatArray, FloatArray]:
    first, second = np.asarray(real, dtype=np.float64), np.asarray(generated, dtype=np.float64)
    for name, features in (("real", first), ("generated", second)):
        if features.ndim != 2 or len(features) < least:
            raise DataError(
                f"The features of {name} images have the shape {features.shape}. Give a row of "
                f"features for each of {least} images or more."
            )
        if not np.isfinite(features).all():
            row = int(np.flatnonzero(~np.isfinite(features).all(axis=1))[0])
            raise DataError(f"The features of {name} image {row} are not finite. Leave it out.")

    if first.shape[1] != second.shape[1]:
        raise DataError(
            f"The features have {first.shape[1]} and {second.shape[1]} columns. Compute both with "
            "the same model."
        )
    return first, second


def _cubic(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray((x @ y.T / x.shape[1] + 1) ** 3)


def _cubic_diagonal(x: FloatArray) -> FloatArray:
    return np.asarray((np.square(x).sum(axis=1) / x.shape[1] + 1) ** 3)


def _mean_gaussian(x: FloatArray, y: FloatArray, gamma: float) -> float:
    """Mean of the Gaussian kernel over all pairs, in blocks of bounded memory."""
    squares = np.square(y).sum(axis=1)
    total = 0.0

    for start in range(0, len(x), _BLOCK):
        block = x[start : start + _BLOCK]
        distances = np.square(block).sum(axis=1)[:, np.newaxis] + squares - 2 * block @ y.T
        total += float(np.exp(-gamma * np.clip(distances, 0, None)).sum())

    return total / (len(x) * len(y))


class KernelOptions(Options):
    """Options of the kernel distance.

    Parameters
    ----------
    subsets : int
        How many random subsets of images to average over.
    subset_size : int
        Images of each subset.
    """

    subsets: int = Field(default=100, ge=1)
    subset_size: int = Field(default=1000, ge=2)


class CmmdOptions(Options):
    """Options of CMMD.

    Parameters
    ----------
    sigma : float
        Width of the Gaussian kernel.
    """

    sigma: float = Field(default=10, gt=0)


def _both(inputs: Inputs) -> tuple[FloatArray, FloatArray]:
    return inputs.vectors("real_embeddings"), inputs.vectors("embeddings")


_TAKES = ("embeddings", "real_embeddings")

PLUGINS = (
    MetricPlugin(
        "frechet",
        "Fréchet distance of features (FID with Inception's); biased below 2,048 images.",
        takes=_TAKES,
        compute=lambda inputs, _: frechet(*_both(inputs)),
    ),
    MetricPlugin(
        "kernel",
        "Kernel distance of features (KID with Inception's), over random subsets.",
        options=KernelOptions,
        takes=_TAKES,
        compute=lambda inputs, options: kernel(
            *_both(inputs), inputs.generator(), **options.model_dump()
        ),
    ),
    MetricPlugin(
        "cmmd",
        "CMMD: maximum mean discrepancy of CLIP embeddings, times 1000.",
        options=CmmdOptions,
        takes=_TAKES,
        compute=lambda inputs, options: cmmd(*_both(inputs), sigma=options.sigma),
    ),
)
