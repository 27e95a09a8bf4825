"""Bits that concepts alone tell of the class, on images that are held out."""

from dataclasses import dataclass

import numpy as np

from cobalance.base import (
    FloatArray,
    IntArray,
    hash_texts,
    mix_bits,
    optimize,
    positions_of,
    sparse,
    special,
)
from cobalance.counting import Incidence

MOST_IMAGES = 20_000
FOLDS = 5
_ITERATIONS = 60
# The solver stops at a step that gains a smaller share.
_TOLERANCE = 1e-6
# A class that is called impossible costs 30 bits, not infinitely many.
_LEAST_CHANCE = 1e-9


@dataclass(frozen=True, eq=False)
class ToldBits:
    """Bits that concepts tell of the class of each image.

    Parameters
    ----------
    by_image : float64 array, shape (n_images,)
        Of the class of each held-out image, all classes being as likely: at most the logarithm of
        their number, 0 where nothing is told, below 0 where what was learned misleads.
    labels : int64 array, shape (n_images,)
        The class of each, in the order of `by_image`, which follows from what images show.
    most : float
        Bits that tell the class for certain: 1 of two classes, 2 of four; 0 of one.
    """

    by_image: FloatArray
    labels: IntArray
    most: float

    @property
    def bits(self) -> float:
        """The mean over classes of the mean over their images, at least 0.

        Below 0 what was learned misleads, and tells nothing.
        """
        means = [self.by_image[self.labels == code].mean() for code in np.unique(self.labels)]
        return max(0.0, float(np.mean(means))) if means else 0.0

    @property
    def error(self) -> float:
        """Standard error of the bits."""
        return self._error(self.by_image)

    def change_error(self, other: "ToldBits") -> float:
        """Standard error of the difference from another reading of the same images."""
        return self._error(self.by_image - other.by_image)

    def _error(self, values: FloatArray) -> float:
        variances = [
            values[self.labels == code].var() / np.count_nonzero(self.labels == code)
            for code in np.unique(self.labels)
        ]
        return float(np.sqrt(np.sum(variances)) / max(len(variances), 1))


def concepts_alone(
    images: Incidence, further: Incidence | None = None, times: IntArray | None = None
) -> ToldBits:
    """Measure the bits of the class that a logistic regression tells by concepts alone.

    Parameters
    ----------
    images : Incidence
        Real images. Each of five folds is told by what is learned from the others; of more than
        20,000 images a seeded sample. Both are of images in an order by what they show, so that
        their own order says nothing. Of fewer than five, or of one class, nothing can be told.
    further : Incidence, optional
        Further images to learn from, such as planned ones. Concepts and classes that real images
        lack are left out.
    times : int array, shape (n_further,), optional
        How many images each row of `further` stands for; by default one.

    Notes
    -----
    Multinomial, every class weighing the same, with an L2 penalty of 1 as scikit-learn's default
    has it. Further images weigh as much less as there are fewer real ones to learn from, so that
    they even out what these show, no more. A share of right guesses would say less: a lean that
    shrinks to a tenth keeps it, and loses nearly all of its bits.

    Examples
    --------
    >>> shows = np.arange(40) % 2
    >>> images = Incidence(np.append(0, np.cumsum(shows)), np.zeros(20, dtype=np.int32),
    ...                    shows.astype(np.int32), ("sea",), ("gull", "owl"))
    >>> told = concepts_alone(images)
    >>> print(f"{told.bits:.1f} of {told.most:g} bit")
    0.8 of 1 bit
    """
    sample = np.random.default_rng(0).permutation(len(images.labels))[:MOST_IMAGES]
    n_with_images = int(np.count_nonzero(images.class_sizes()))
    if len(sample) < FOLDS or n_with_images < 2:
        return ToldBits(np.zeros(0), np.zeros(0, dtype=np.int64), 0.0)

    real = images.take(_by_content(images)[np.sort(sample)])
    shows, labels = real.matrix(), real.labels.astype(np.int64)
    n_classes = len(images.classes)
    fold = np.random.default_rng(1).permutation(len(labels)) % FOLDS

    # Further images weigh as much less as there are fewer real ones to learn from.
    share = len(labels) / max(len(images.labels), 1) * (FOLDS - 1) / FOLDS
    further_shows, further_labels, weights = _as_in(real, further, times)

    chances = np.empty((len(labels), n_classes))
    for number in range(FOLDS):
        train = fold != number
        chances[~train] = _learn(
            sparse.vstack([shows[train], further_shows], format="csr", dtype=np.float64),
            np.concatenate([labels[train], further_labels]),
            np.concatenate([np.ones(np.count_nonzero(train)), share * weights]),
            shows[~train],
            n_classes,
        )

    most = float(np.log2(len(np.unique(labels))))
    of_own_class = chances[np.arange(len(labels)), labels]
    return ToldBits(most + np.log2(np.maximum(of_own_class, _LEAST_CHANCE)), labels, most)


def _by_content(images: Incidence) -> IntArray:
    """Positions of images in an order that follows from their classes and concepts alone."""
    class_hashes = hash_texts(images.classes) + np.uint64(1)  # a concept may have a class's name
    concept_hashes = mix_bits(hash_texts(images.concepts))

    # Sums wrap around at 64 bits.
    sums = np.append(np.uint64(0), np.cumsum(concept_hashes[images.indices], dtype=np.uint64))
    shown = sums[images.indptr[1:]] - sums[images.indptr[:-1]]
    return np.argsort(mix_bits(class_hashes[images.labels] + shown), kind="stable")


def _as_in(
    real: Incidence, further: Incidence | None, times: IntArray | None
) -> tuple["sparse.csr_matrix", IntArray, FloatArray]:
    """Further images in the codes of real ones: their concepts, classes and numbers."""
    if further is None:
        further = real.take(np.zeros(0, dtype=np.int64))

    code_of, label_of = positions_of(real.concepts), positions_of(real.classes)
    is_known = np.array([name in code_of for name in further.concepts], dtype=bool)
    known = further.restrict(is_known)
    codes = np.array([code_of[name] for name in known.concepts], dtype=np.int64)
    labels = np.array([label_of.get(name, -1) for name in further.classes], dtype=np.int64)

    numbers = np.ones(len(known.labels)) if times is None else times.astype(np.float64)
    has_class = labels[known.labels] >= 0
    shows = sparse.csr_matrix(
        (np.ones(len(known.indices), dtype=np.float32), codes[known.indices], known.indptr),
        (len(known.labels), len(real.concepts)),
    )
    return shows[has_class], labels[known.labels][has_class], numbers[has_class]


def _learn(
    x: "sparse.csr_matrix",
    y: IntArray,
    times: FloatArray,
    tested: "sparse.csr_matrix",
    n_classes: int,
) -> FloatArray:
    """Probabilities of the classes for the images that are tested: (n_tested, n_classes).

    `x` has a row an image to learn from, `y` its class and `times` its weight.
    """
    from threadpoolctl import threadpool_limits

    # Every class weighs the same.
    sizes = np.bincount(y, times, n_classes)
    weights = times * (times.sum() / max(np.count_nonzero(sizes), 1) / np.maximum(sizes, 1e-9))[y]

    shape = x.shape[1] + 1, n_classes
    rows, transposed = np.arange(len(y)), x.T.tocsr()

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        # The last row of theta has the intercepts, which are not penalised.
        theta = flat.reshape(shape)
        logs = special.log_softmax(x @ theta[:-1] + theta[-1], axis=1)
        residual = np.exp(logs)
        residual[rows, y] -= 1
        residual *= weights[:, None]

        gradient = np.vstack([transposed @ residual + theta[:-1], residual.sum(axis=0)])
        penalty = 0.5 * float((theta[:-1] ** 2).sum())
        return penalty - float(weights @ logs[rows, y]), gradient.ravel()

    start = np.zeros(shape[0] * shape[1])
    # The products are small: threads cost more than they give.
    with threadpool_limits(1, "blas"):
        solution = optimize.minimize(
            loss,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _ITERATIONS, "ftol": _TOLERANCE},
        )

    theta = solution.x.reshape(shape)
    logs = tested @ theta[:-1] + theta[-1]
    logs[:, sizes == 0] = -np.inf
    return np.exp(special.log_softmax(logs, axis=1))
