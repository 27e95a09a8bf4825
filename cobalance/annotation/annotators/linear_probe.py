"""Annotator with a linear probe: logistic regression on colours, trained from labelled images.

Without a network or a download; for simple attributes that colours tell. It needs as many labelled
images as somebody labels in an hour, and errs where these are not like the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from cobalance.annotation.annotators.annotator import Scores, mention_scores
from cobalance.base import DataError, Image, MayBePath, Mention, Options, Plugin
from cobalance.ingest import read_arrays
from cobalance.vision import ImageArray

_BINS = 8  # of a channel's histogram


class LinearProbeOptions(Options):
    """Options of the annotator linear-probe.

    Parameters
    ----------
    model : str
        The file of a probe, as `LinearProbe.save` writes it.
    threshold : float
        The lowest probability of a mention.
    """

    model: Annotated[str, MayBePath()] = ""
    threshold: float = Field(default=0.5, ge=0, le=1)


PLUGIN = Plugin(
    "linear-probe",
    "Logistic regression on colours, trained from labelled images of your own.",
    extra="worker",
    options=LinearProbeOptions,
)


@dataclass(frozen=True, eq=False)
class LinearProbe:
    """A trained probe, which gives each of `texts` a probability.

    Images are scaled to squares of `side_px`; `weights` are float64 of shape (texts, features), and
    `bias` of shape (texts,).
    """

    texts: tuple[str, ...]
    side_px: int
    weights: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]

    def probabilities(self, image: ImageArray) -> npt.NDArray[np.float64]:
        """The probability of each of its texts, shape (texts,)."""
        logits = self.weights @ colour_features(image, self.side_px) + self.bias
        return np.asarray(np.exp(-np.logaddexp(0.0, -logits)), dtype=np.float64)

    def save(self, path: Path) -> None:
        """Write it as an ``.npz`` file, without pickles."""
        with path.open("wb") as file:
            np.savez(
                file,
                texts=np.array(self.texts, dtype=np.str_),
                side_px=np.array(self.side_px),
                weights=self.weights,
                bias=self.bias,
            )


def fit_linear_probe(
    images: Sequence[ImageArray],
    shows: npt.NDArray[np.bool_],
    texts: Sequence[str],
    *,
    side_px: int = 6,
    c: float = 1.0,
) -> LinearProbe:
    """Train a probe: one logistic regression for each text.

    Parameters
    ----------
    images : sequence of uint8 arrays, shape (height, width, 3)
    shows : bool array, shape (images, texts)
        Whether an image shows what a text says.
    texts : sequence of str
    side_px : int
        Side of the squares that images are scaled to.
    c : float
        Inverse strength of the L2 penalty, as in scikit-learn.

    Raises
    ------
    DataError
        All images show what a text says, or none does.
    """
    from sklearn.linear_model import LogisticRegression

    for text, column in zip(texts, shows.T, strict=True):
        if column.all() or not column.any():
            raise DataError(
                f"Of the {len(images)} labelled images {int(column.sum())} show {text!r}. Label "
                "some that show it, and some that do not."
            )
    features = np.stack([colour_features(image, side_px) for image in images])
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread == 0] = 1.0
    scaled = (features - mean) / spread

    # The weights are for features as they are, and are fitted to standardised ones.
    weights = np.empty((len(texts), features.shape[1]))
    bias = np.empty(len(texts))
    for row, column in enumerate(shows.T):
        fitted = LogisticRegression(C=c, max_iter=2000).fit(scaled, column)
        weights[row] = fitted.coef_[0] / spread
        bias[row] = fitted.intercept_[0]
    return LinearProbe(tuple(texts), side_px, weights, bias - weights @ mean)


def load_linear_probe(path: Path) -> LinearProbe:
    """Read a probe that `LinearProbe.save` has written; DataError if it cannot be used."""
    try:
        arrays = read_arrays(path)
        probe = LinearProbe(
            texts=tuple(arrays["texts"].tolist()),
            side_px=int(arrays["side_px"]),
            weights=arrays["weights"],
            bias=arrays["bias"],
        )
    except (DataError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"The linear probe {str(path)!r} cannot be read ({error}). Name the file of one with "
            "the option model; cobalance.annotation.annotators.linear_probe."
            "fit_linear_probe trains one."
        ) from error

    n_features = 3 * (probe.side_px**2 + _BINS)
    if probe.weights.shape != (len(probe.texts), n_features):
        raise DataError(f"The linear probe {str(path)!r} has weights of another shape.")
    return probe


def colour_features(image: ImageArray, side_px: int) -> npt.NDArray[np.float64]:
    """An image's colours: scaled down to a square, and a histogram of each channel.

    Returns
    -------
    float64 array, shape (3 * (side_px² + 8),)
        From 0 to 1.
    """
    small = Image.fromarray(image).resize((side_px, side_px), Image.Resampling.BOX)
    bins = image.reshape(-1, 3).T // (256 // _BINS)
    shares = [np.bincount(channel, minlength=_BINS) / len(channel) for channel in bins]
    return np.concatenate([np.asarray(small, np.float64).ravel() / 255, *shares])


@dataclass(frozen=True, eq=False)
class LinearProbeAnnotator:
    """Annotator with a probe; see `cobalance.annotation.annotators.annotator.Annotator`."""

    options: LinearProbeOptions
    probe: LinearProbe
    weights_sha256: str

    def annotate(
        self, images: Sequence[ImageArray], vocabulary: Sequence[str]
    ) -> list[list[Mention]]:
        """Concepts whose probability is at least the threshold."""
        scores = self.score(images, vocabulary).matrix
        return mention_scores(scores, vocabulary, PLUGIN.name, self.options.threshold)

    def score(self, images: Sequence[ImageArray], texts: Sequence[str]) -> Scores:
        """Probabilities of the texts that the probe was trained with; NaN of others."""
        matrix = np.full((len(images), len(texts)), np.nan, np.float32)
        number = dict(zip(self.probe.texts, range(len(self.probe.texts)), strict=True))
        columns = [column for column, text in enumerate(texts) if text in number]
        numbers = [number[texts[column]] for column in columns]
        for row, image in enumerate(images):
            matrix[row, columns] = self.probe.probabilities(image)[numbers]
        return Scores(matrix)

    def describe(self) -> Mapping[str, Any]:
        """Options, file and its digest."""
        return {
            "annotator": PLUGIN.name,
            "settings": self.options.model_dump(),
            "model": Path(self.options.model).name,
            "weights_sha256": self.weights_sha256,
        }


def open_annotator(options: LinearProbeOptions) -> LinearProbeAnnotator:
    """Open the annotator and read its probe; see `cobalance.base.registry.Plugins`."""
    path = Path(options.model)
    probe = load_linear_probe(path)
    return LinearProbeAnnotator(options, probe, sha256(path.read_bytes()).hexdigest())
