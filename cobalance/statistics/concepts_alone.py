"""Classification by concepts alone, on images that are held out."""

import numpy as np

from cobalance.base import FloatArray, IntArray, optimize, sparse, special
from cobalance.counting import Incidence, sets_matrix

MOST_IMAGES = 20_000
FOLDS = 5
_ITERATIONS = 60
# The solver stops at a step that gains a smaller share.
_TOLERANCE = 1e-6


def concepts_alone(
    images: Incidence, members: IntArray | None = None, added: IntArray | None = None
) -> tuple[float, float]:
    """Measure how well a logistic regression that sees concepts alone tells the class.

    Parameters
    ----------
    images : Incidence
        Real images. Each of five folds is told by what is learned from the others; of more than
        20,000 images a seeded sample. Of fewer than five, or of one class, nothing can be told.
    members : int array, shape (n_sets, any width), optional
        Concept sets of further images to learn from, in the codes of `images`; -1 behind the last.
    added : int array, shape (n_sets, n_classes), optional
        How many images of each class show exactly each set.

    Returns
    -------
    accuracy : float
        Balanced: the mean over classes of the share of their images that are told right. Where
        nothing is told it is one over the number of classes.
    bits : float
        Of the class of an image, all classes being as likely: 0 where nothing is told, below 0
        where what was learned misleads. A lean that shrinks to a tenth keeps its accuracy, and
        loses nearly all of its bits.

    Notes
    -----
    Multinomial, every class weighing the same, with an L2 penalty of 1 as scikit-learn's default
    has it. Further images weigh as much less as there are fewer real ones to learn from, so that
    they even out what these show, no more.

    Examples
    --------
    >>> shows = np.arange(40) % 2
    >>> images = Incidence(np.append(0, np.cumsum(shows)), np.zeros(20, dtype=np.int32),
    ...                    shows.astype(np.int32), ("sea",), ("gull", "owl"))
    >>> concepts_alone(images)[0]
    1.0
    """
    sample = np.random.default_rng(0).permutation(len(images.labels))[:MOST_IMAGES]
    n_with_images = int(np.count_nonzero(images.class_sizes()))
    if len(sample) < FOLDS or n_with_images < 2:
        return 1 / max(n_with_images, 1), 0.0

    real = images.take(np.sort(sample))
    shows, labels = real.matrix(), real.labels.astype(np.int64)
    n_classes = len(images.classes)
    fold = np.random.default_rng(1).permutation(len(labels)) % FOLDS

    # Further images weigh as much less as there are fewer real ones to learn from.
    if members is None or added is None or not len(members):
        members, added = np.full((0, 1), -1), np.zeros((0, n_classes), dtype=np.int64)
    sets, codes = np.nonzero(added)
    further = sets_matrix(members[sets], len(images.concepts))
    share = len(labels) / max(len(images.labels), 1) * (FOLDS - 1) / FOLDS
    further_weights = added[sets, codes].astype(np.float64) * share

    chances = np.empty((len(labels), n_classes))
    for number in range(FOLDS):
        train = fold != number
        chances[~train] = _learn(
            shows[train], labels[train], further, codes, further_weights, shows[~train], n_classes
        )

    # Both measures are means over classes, whatever the number of their images.
    is_right = chances.argmax(axis=1) == labels
    bits = np.log2(np.maximum(chances[np.arange(len(labels)), labels], 1e-9))
    classes = np.unique(labels).tolist()
    by_class = [(is_right[labels == code].mean(), bits[labels == code].mean()) for code in classes]
    accuracy, mean_bits = np.mean(by_class, axis=0)
    return float(accuracy), float(np.log2(len(classes)) + mean_bits)


def _learn(
    shows: "sparse.csr_matrix",
    labels: IntArray,
    further: "sparse.csr_matrix",
    codes: IntArray,
    further_weights: FloatArray,
    tested: "sparse.csr_matrix",
    n_classes: int,
) -> FloatArray:
    """Probabilities of the classes for the images that are tested: (n_tested, n_classes)."""
    from threadpoolctl import threadpool_limits

    x = sparse.vstack([shows, further], format="csr", dtype=np.float64)
    y = np.concatenate([labels, codes])
    times = np.concatenate([np.ones(len(labels)), further_weights])
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
