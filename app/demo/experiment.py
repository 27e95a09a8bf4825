"""Does rebalancing help a classifier? The paper's experiment, small enough for a laptop.

Section 4 of Chakraborty et al., ConBias: a classifier is trained on D and on D with the generated
images, and tested on real images with every combination equally often (class-balanced, CB), and on
those of them where background and thing agree with the other class (out of distribution, OOD). Two
baselines rebalance without new images; unlike ours, they need to know the group of each training
image.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from app.demo.digits import Digits
from graph.errors import needs_extra

Floats = npt.NDArray[np.float64]

BASE = "D"
OVER_SAMPLING = "D, groups over-sampled"
WEIGHTS = "D, groups weighted"
GENERATED = "D and generated images"

_BLOCK_PX = 3  # averaged into one value: 48 pixels become 16
_COMPONENTS = 60
_REGULARISATION = 0.01  # scikit-learn's C: strong, which is best for the weights; see `train`


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Images to train a classifier on.

    Parameters
    ----------
    pixels : uint8 array, shape (n_images, height, width, 3)
    classes : sequence of str
        One per image.
    weights : float array, shape (n_images,), or None
        Sample weights.
    """

    pixels: npt.NDArray[np.uint8]
    classes: Sequence[str]
    weights: Floats | None = None


Classifier = Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.str_]]
"""Predicts the class of each image."""


def train(training: TrainingSet, seed: int) -> Classifier:
    """Train a small classifier: 60 principal components of the pixels, logistic regression on top.

    It is linear, so it cannot memorise every image, and sample weights change what it learns
    (they hardly do if a model fits all images perfectly: Byrd and Lipton, "What is the Effect
    of Importance Weighting in Deep Learning?", 2019). Regularisation is strong, which is the
    better setting for the weights; the other rows of the table hardly depend on it.

    Raises
    ------
    MissingExtraError
        scikit-learn is not installed.
    """
    with needs_extra("The demonstration with images", "demo"):
        from sklearn.decomposition import PCA
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from threadpoolctl import threadpool_limits
    model = make_pipeline(
        PCA(_COMPONENTS, whiten=True, svd_solver="randomized", random_state=seed),
        LogisticRegression(C=_REGULARISATION, max_iter=1000),
    )
    weights = {"logisticregression__sample_weight": training.weights}
    # matrices so small go faster without a second thread, and twice as fast on a busy machine
    with threadpool_limits(1):
        model.fit(_features(training.pixels), np.array(training.classes), **weights)

    def classify(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.str_]:
        with threadpool_limits(1):
            classes: npt.NDArray[np.str_] = model.predict(_features(pixels))
        return classes

    return classify


def measure_accuracies(classify: Classifier, test: Digits) -> dict[str, float]:
    """Measure accuracies, from 0 to 1.

    Returns
    -------
    dict of str to float
        ``cb``: over all test images, which have every class, background and thing equally often.
        ``ood``: over those whose background and thing are both the other class's. ``id``: over
        those whose both are their own class's, as in most training images.
    """
    right = classify(test.pixels) == test.table["class_name"].to_numpy()
    return {
        "cb": float(right.mean()),
        "ood": float(right[test.out_of_distribution].mean()),
        "id": float(right[test.in_distribution].mean()),
    }


def training_set(train_images: Digits) -> TrainingSet:
    """D without changes."""
    return TrainingSet(train_images.pixels, train_images.table["class_name"].tolist())


def over_sampled(train_images: Digits, seed: int) -> TrainingSet:
    """D with images of smaller groups repeated until all groups are as large as the largest."""
    rng = np.random.default_rng([seed, 11])
    groups = _groups(train_images)
    most = max(map(len, groups))
    rows = np.concatenate([[*rows, *rng.choice(rows, most - len(rows))] for rows in groups])
    whole = training_set(train_images)
    return TrainingSet(whole.pixels[rows], [whole.classes[row] for row in rows.tolist()])


def weighted(train_images: Digits) -> TrainingSet:
    """D with each image weighted by the inverse of its group's size; the mean weight is 1."""
    groups = _groups(train_images)
    weights = np.empty(len(train_images))
    for rows in groups:
        weights[rows] = len(train_images) / (len(groups) * len(rows))
    whole = training_set(train_images)
    return TrainingSet(whole.pixels, whole.classes, weights)


def compare(train_images: Digits, test: Digits, generated: TrainingSet, seed: int) -> pd.DataFrame:
    """Train on D, on D rebalanced without new images, and on D with generated ones; test each.

    Parameters
    ----------
    train_images, test : Digits
        D, and images that share nothing with it.
    generated : TrainingSet
        Generated images.
    seed : int
        Seed of the training and of over-sampling.

    Returns
    -------
    pandas.DataFrame
        A row a training set: ``seed``, ``training``, ``images``, ``cb``, ``ood``, ``id``.
    """
    base = training_set(train_images)
    sets = {
        BASE: base,
        OVER_SAMPLING: over_sampled(train_images, seed),
        WEIGHTS: weighted(train_images),
        GENERATED: TrainingSet(
            np.concatenate([base.pixels, generated.pixels]), [*base.classes, *generated.classes]
        ),
    }
    return pd.DataFrame(
        [
            {
                "seed": seed,
                "training": name,
                "images": len(training.classes),
                **measure_accuracies(train(training, seed), test),
            }
            for name, training in sets.items()
        ]
    )


def summarise(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean and spread over the seeds.

    Returns
    -------
    pandas.DataFrame
        A row a training set, in the order of the runs: ``training``, ``images``, and for each of
        ``cb``, ``ood`` and ``id`` the mean in per cent, and under ``cb_sd`` and so on the standard
        deviation over the seeds (of a sample; 0 for one seed), in points.
    """
    grouped = runs.groupby("training", sort=False)
    summary = grouped["images"].mean().round().astype(int).to_frame()
    for name in ("cb", "ood", "id"):
        summary[name] = grouped[name].mean() * 100
        summary[f"{name}_sd"] = grouped[name].std().fillna(0.0) * 100
    return summary.reset_index()


def for_people(summary: pd.DataFrame) -> pd.DataFrame:
    """Format a summary for printing: ``mean ± spread``, in per cent."""
    shown = summary[["training", "images"]].rename(columns={"training": "trained on"})
    for name, title in (("cb", "CB %"), ("ood", "OOD %"), ("id", "ID %")):
        shown[title] = [
            f"{mean:.1f} ± {spread:.1f}"
            for mean, spread in zip(summary[name], summary[f"{name}_sd"], strict=True)
        ]
    return shown


def _groups(train_images: Digits) -> list[list[int]]:
    """Rows of each group: by class, and by whether background and thing agree with it."""
    columns = ["class_name", "background_agrees", "thing_agrees"]
    groups = train_images.table.groupby(columns, sort=False)
    return [rows.index.tolist() for _, rows in groups]


def _features(pixels: npt.NDArray[np.uint8]) -> Floats:
    """Scale images down to a third, as rows of values from 0 to 1."""
    n, height, width, _ = pixels.shape
    blocks = pixels.reshape(n, height // _BLOCK_PX, _BLOCK_PX, width // _BLOCK_PX, _BLOCK_PX, 3)
    features: Floats = blocks.mean(axis=(2, 4)).reshape(n, -1) / 255
    return features
